"""Gene annotations: three formats, one reader, and what is none of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from goalscli.errors import InputError
from goalscli.jobs.plot.genes import read_genes
from goalscli.jobs.plot.genome import gene_label

GTF = """#!genome-build x
chr1\tt\tgene\t1000\t2000\t.\t+\t.\tgene_id "E1"; gene_version "4"; gene_name "Abc1"; level 2;
chr1\tt\ttranscript\t1000\t1900\t.\t+\t.\tgene_id "E1"; transcript_id "T1"; gene_name "Abc1";
chr1\tt\texon\t1000\t1100\t.\t+\t.\tgene_id "E1"; gene_name "Abc1";
chr1\tt\tgene\t5000\t5400\t.\t-\t.\tgene_id "E2";
chrX\tt\tgene\t100\t900\t.\t.\t.\tgene_id "E3"; gene_name "Odd;name";
"""
GFF3 = """##gff-version 3
chr1\tt\tchromosome\t1\t9000\t.\t.\t.\tID=chromosome:1
chr1\tt\tgene\t1000\t2000\t.\t+\t.\tID=gene:E1;Name=Abc1;biotype=protein_coding
chr1\tt\tmRNA\t1000\t2000\t.\t+\t.\tID=transcript:T1;Parent=gene:E1;Name=Abc1-201
chr1\tt\tncRNA_gene\t5000\t5400\t.\t-\t.\tID=gene:E2;biotype=lncRNA
chrX\tt\tpseudogene\t100\t900\t.\t?\t.\tID=gene:E3;Name=Odd%3Bname
##FASTA
>chr1
ACGT gene\t
"""
BED = """track name=genes
browser position chr1:1-9
# a comment
chr1\t999\t2000\tAbc1\t0\t+
chr1\t4999\t5400\tE2\t0\t-
chrX\t99\t900\tOdd;name
"""
TEXTS = {"gtf": GTF, "gff3": GFF3, "bed": BED}
ROWS = [("chr1", 1000, 2000, "Abc1", "+"), ("chr1", 5000, 5400, "E2", "-"), ("chrX", 100, 900, "Odd;name", ".")]


def rows(path: Path) -> list[tuple[str, int, int, str, str]]:
    genes = read_genes(path)
    chrom = [genes.chrom.names[code] for code in genes.chrom.codes]
    columns = (chrom, genes.start.tolist(), genes.stop.tolist(), genes.name, genes.strand)
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("how", ["plain", "crlf", "gz", "no suffix", "blank lines", "no last newline"])
def test_three_formats_say_the_same(kind: str, how: str, tmp_path: Path) -> None:
    text = TEXTS[kind]
    if how == "crlf":
        text = text.replace("\n", "\r\n")
    if how == "blank lines":
        text = "\n" + text.replace("\n", "\n\n")
    data = text.rstrip("\n").encode() if how == "no last newline" else text.encode()
    path = tmp_path / ("genes" if how == "no suffix" else f"genes.{kind}" + ".gz" * (how == "gz"))
    path.write_bytes(gzip.compress(data) if how == "gz" else data)
    assert rows(path) == ROWS


def test_transcripts_are_gathered_where_there_is_no_gene_line(tmp_path: Path) -> None:
    path = tmp_path / "t.gtf"
    lines = [
        ("1", "transcript", 50, 90, "+", 'gene_id "E1"; transcript_id "T1"; gene_name "Abc1";'),
        ("1", "transcript", 20, 60, "+", 'gene_id "E1"; transcript_id "T2"; gene_name "Abc1";'),
        ("2", "transcript", 5, 6, "-", 'gene_id "E1"; transcript_id "T3"; gene_name "Abc1";'),
        ("1", "exon", 1, 999, "+", 'gene_id "E9"; transcript_id "T9";'),
    ]
    path.write_text("".join(f"{c}\tx\t{k}\t{a}\t{b}\t.\t{s}\t.\t{told}\n" for c, k, a, b, s, told in lines))
    assert rows(path) == [("1", 20, 90, "Abc1", "+"), ("2", 5, 6, "Abc1", "-")]
    path.write_text("".join(f"{c}\tx\texon\t{a}\t{b}\t.\t{s}\t.\t{told}\n" for c, _, a, b, s, told in lines[:3]))
    assert rows(path) == [("1", 20, 90, "Abc1", "+"), ("2", 5, 6, "Abc1", "-")]
    told = "ID=transcript:T{};Parent=gene:E1;Name=Abc1-20{}"
    path.write_text("".join(f"1\tx\tmRNA\t{k}\t{k + 9}\t.\t-\t.\t{told.format(k, k)}\n" for k in (1, 2)))
    assert [row[:3] for row in rows(path)] == [("1", 1, 11)]


BAD = {
    "pheno": ("FID\tIID\tweight\na\tb\t3\n", "genes:1: is not a line of a GTF, GFF3 or BED file"),
    "prose": ("once upon a time\n", "genes:1: is not a line"),
    "binary": (b"\x89HDF\r\n\x1a\n\x00\x00", "is not a line"),
    "empty": ("", "is empty"),
    "comments": ("# a\n\n##b\n", "is empty"),
    "reversed": (GTF.replace("1000\t2000", "2000\t1000"), "genes:2: '2000' to '1000' is not a stretch"),
    "word": (GTF.replace("5000\t5400", "5000\tfive"), "genes:5: '5000' to 'five' is not a stretch"),
    "zero": (GTF.replace("chrX\tt\tgene\t100", "chrX\tt\tgene\t0"), "genes:6: '0' to '900'"),
    "short line": (GTF + "chr1\tt\tgene\t\n", "genes:7: has 4 columns, not 9"),
    "bed negative": (BED.replace("\t99\t", "\t-4\t"), "genes:6: '-4' to '900'"),
    "bed nameless": (BED.replace("\tE2\t", "\t\t"), "genes:5: has no name in its fourth column"),
    "bed of three": ("1\t5\t9\n", "genes:1: has no name in its fourth column"),
    "no genes": (GTF.replace("gene\t", "CpG\t").replace("transcript\t", "CpG\t").replace("exon\t", "CpG\t"),
                 "has no genes, transcripts or exons"),
    "cut": (gzip.compress(GTF.encode() * 400)[:-60], "is cut short or damaged"),
    "damaged": (gzip.compress(GTF.encode())[:12] + b"\x07" * 90, "is cut short or damaged"),
}  # fmt: skip


def test_a_repeat_is_not_one_giant_gene(tmp_path: Path) -> None:
    """Copies of a gene with one name: apart where 1 Mb lies between, or where the strands differ."""
    line = 'chr1\tt\texon\t{}\t{}\t.\t{}\t.\tgene_id "SNOR";\n'
    spans = [
        (100, 200, "+"),
        (150, 300, "+"),
        (90_000_100, 90_000_200, "+"),
        (1_000_200, 1_000_250, "+"),
        (180, 220, "-"),
    ]
    path = tmp_path / "a.gtf"
    path.write_text("".join(line.format(*span) for span in spans))
    genes = read_genes(path)
    found = sorted(zip(genes.start.tolist(), genes.stop.tolist(), genes.strand.tolist(), strict=True))
    assert found == [(100, 1_000_250, "+"), (180, 220, "-"), (90_000_100, 90_000_200, "+")]


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ('ID=gene:G1;Name=AB;description=see Name "zz"; kinase [Source:x]', "AB"),
        ('ID=gene:G1;Name=A"B;biotype=x', 'A"B'),
        ("ID=gene:G1 ; Name = CD", "CD"),
        ('gene_id "G1"; note "a=b"; gene_name "EF";', "EF"),
    ],
)
def test_attributes_of_gff3_and_of_gtf(attributes: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.gff"
    path.write_text(f"chr1\tt\tgene\t5\t9\t.\t+\t.\t{attributes}\n")
    assert read_genes(path).name.tolist() == [name]


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_annotation(case: str, tmp_path: Path) -> None:
    data, message = BAD[case]
    path = tmp_path / "genes"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(InputError) as caught:
        read_genes(path)
    assert message in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_genes(tmp_path / "none.gtf")
    with pytest.raises(InputError, match="is a folder"):
        read_genes(tmp_path)


def test_nearest_against_a_plain_loop(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    starts = rng.integers(1, 3_000_000, 60)
    stops = starts + rng.integers(0, 90_000, 60)
    chrom = rng.choice(["chr1", "2", "chrM"], 60)
    path = tmp_path / "g.bed"
    listed = list(zip(chrom, starts, stops, strict=True))
    path.write_text("".join(f"{c}\t{a - 1}\t{b}\tg{k}\n" for k, (c, a, b) in enumerate(listed)))
    genes = read_genes(path)
    for name, same in (("1", "chr1"), ("Chr2", "2"), ("MT", "chrM"), ("chrM", "chrM")):
        for pos in rng.integers(1, 4_500_000, 60).tolist():
            best = None
            for k, (c, a, b) in enumerate(listed):
                if c == same:
                    distance = a - pos if pos < a else pos - b if pos > b else 0
                    if distance <= 1_000_000 and (best is None or (distance, b - a) < best[:2]):
                        best = distance, b - a, f"g{k}", -distance if pos < a else distance
            assert genes.nearest(name, pos) == (None if best is None else (best[2], best[3]))
    assert genes.nearest("3", 5) is None
    assert genes.nearest("1", 0) is None
    genes.check(["7", "1"])
    with pytest.raises(InputError, match=r"chr1, .* are none of those of the scan \(7, 8\)"):
        genes.check(["7", "8", "0"])


@pytest.mark.parametrize(
    ("distance", "label"),
    [(0, "Abc1"), (12_000, "Abc1 +12 kb"), (-1, "Abc1 −1 bp"), (999, "Abc1 +999 bp"), (1000, "Abc1 +1.0 kb"),
     (-9949, "Abc1 −9.9 kb"), (9951, "Abc1 +10 kb"), (999_499, "Abc1 +999 kb"), (1_000_000, "Abc1 +1 Mb")],
)  # fmt: skip
def test_labels_of_genes(distance: int, label: str) -> None:
    assert gene_label("Abc1", distance) == label
