"""Sample and variant filters against plink2 with the same flags, an enumeration, and counts by hand."""

from __future__ import annotations

import gzip
import logging
import shutil
import subprocess
from fractions import Fraction
from math import factorial
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from helpers import Here, write
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from goalscli import Selection, qc
from goalscli.dataset import Columns, Treatment, assemble
from goalscli.dataset.trait import normal_scores
from goalscli.errors import GoalsError, InputError, Problems, SettingsError
from goalscli.genotypes.memory import from_array
from goalscli.genotypes.plink import write_plink
from goalscli.genotypes.source import Samples, Variants
from goalscli.jobs.selection import select
from goalscli.provenance import file_digest
from goalscli.store import read_attributes

N, J = 120, 400
NEUTRAL = {"--mind": "1", "--geno": "1", "--maf": "0"}


def objects(values) -> np.ndarray:
    return np.array(list(values), dtype=object)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """d.bed and lists; chromosomes 1, 2, 3, 7, chr9; some variants far from Hardy–Weinberg, samples with gaps."""
    folder = tmp_path_factory.mktemp("cohort")
    rng = np.random.default_rng(11)
    freq = rng.uniform(0.01, 0.5, J)
    alleles = rng.random((N, J, 2)) < freq[:, None]
    inbred = np.arange(J) % 7 == 0
    alleles[:, inbred, 1] = np.where(rng.random((N, inbred.sum())) < 0.4, alleles[:, inbred, 0], alleles[:, inbred, 1])
    x = alleles.sum(axis=2).astype(np.int8)
    gaps = rng.uniform(0, 0.12, (N, 1)) * rng.uniform(0, 2, J)
    x[rng.random((N, J)) < gaps] = -127
    x[:, 3], x[:, 4] = 0, 2
    chrom = objects(np.repeat(["1", "2", "3", "7", "chr9"], J // 5))
    pos = np.tile(1000 + 500 * np.arange(J // 5), 5).astype(np.int64)
    variants = Variants(
        chrom, objects(f"rs{j}" for j in range(J)), pos, np.full(J, "A", object), np.full(J, "G", object)
    )
    fid, iid = objects(f"F{i // 4}" for i in range(N)), objects(f"M#{i:03d}" for i in range(N))
    samples = Samples(fid, iid, np.tile(np.array([1, 2], np.int8), N // 2), np.full(N, "-9", dtype=object))
    write_plink(folder / "d", x, samples, variants)
    write(pd.DataFrame({"FID": fid, "IID": iid, "Y": rng.normal(size=N)}), folder / "pheno.tsv")
    some = rng.permutation(N)
    (folder / "k.txt").write_text("".join(f"{fid[i]} {iid[i]}\n" for i in [*some[:80], some[0]]))
    (folder / "r.txt").write_text("#FID\tIID\tSEX\n" + "".join(f"{fid[i]}\t{iid[i]}\t1\n" for i in some[60:75]))
    (folder / "e.txt").write_text("".join(f"rs{j}\n" for j in [*rng.permutation(J)[:250], 999999]))
    (folder / "x.txt").write_text("".join(f"rs{j}\n" for j in rng.permutation(J)[:90]))
    return folder


FLAGS = {
    "nothing": "",
    "keep": "--keep k.txt",
    "remove": "--remove r.txt",
    "extract": "--extract e.txt",
    "exclude": "--exclude x.txt",
    "chr-range": "--chr 1-3",
    "chr-list": "--chr 2,7",
    "chr-prefix": "--chr chr7,9",
    "range": "--chr 2 --from-bp 5000 --to-bp 20000",
    "from": "--chr 3 --from-bp 20500",
    "to": "--chr 3 --to-bp 20500",
    "mind": "--mind 0.06",
    "geno": "--geno 0.05",
    "maf": "--maf 0.2",
    "mac-20": "--mac 20",
    "mac-117": "--mac 117",
    "hwe-weak": "--hwe 0.2",
    "hwe": "--hwe 0.001",
    "hwe-strict": "--hwe 1e-6",
    "mind-after-extract": "--extract e.txt --chr 1 --mind 0.07",
    "geno-after-mind": "--mind 0.08 --geno 0.05",
    "hwe-after-keep": "--keep k.txt --hwe 0.05 --mac 12",
    "all": "--keep k.txt --remove r.txt --extract e.txt --exclude x.txt --chr 1-3 --mind 0.08 --geno 0.08 --maf 0.03 "
    "--mac 6 --hwe 0.01",
}


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS.keys())
def test_plink2_keeps_the_same_samples_and_variants(flags: str, cohort: Path, tmp_path: Path, monkeypatch, capsys):
    if shutil.which("plink2") is None:
        pytest.skip("plink2 is not here")
    words = flags.split()
    # plink2 has no filter for what is monomorphic; --mac 1 is one.
    least = [] if "--mac" in words else ["--mac", "1"]
    subprocess.run(
        ["plink2", "--bfile", "d", *words, *least, "--write-samples", "--write-snplist", "--out", str(tmp_path / "p")],
        cwd=cohort, check=True, capture_output=True,
    )  # fmt: skip
    theirs = pd.read_csv(tmp_path / "p.id", sep="\t", dtype=str)["IID"].tolist()
    listed = (tmp_path / "p.snplist").read_text().split()
    neutral = [word for option, value in NEUTRAL.items() if option not in words for word in (option, value)]
    here = Here(monkeypatch, capsys, cohort)
    out = str(tmp_path / "m")
    here.well("fit", "--bfile", "d", "--pheno", "pheno.tsv", "--threads", "1", *words, *neutral, "--out", out)
    with h5py.File(f"{out}.model.h5") as file:
        assert file["samples/iid"].asstr()[:].tolist() == theirs
        assert file["variants/id"].asstr()[:].tolist() == listed
    last = (tmp_path / "m.qc.tsv").read_text().splitlines()[-1].split("\t")
    assert (int(last[2]), int(last[4])) == (len(theirs), len(listed))
    if words:
        assert (len(theirs), len(listed)) != (N, J - 2)


def test_hardy_weinberg_of_plink2(cohort: Path, tmp_path: Path):
    if shutil.which("plink2") is None:
        pytest.skip("plink2 is not here")
    command = ["plink2", "--bfile", "d", "--hardy", "--out", str(tmp_path / "p")]
    subprocess.run(command, cwd=cohort, check=True, capture_output=True)
    table = pd.read_csv(tmp_path / "p.hardy", sep="\t")
    assert len(table) == J
    assert table["P"].min() < 1e-4
    found = qc.hardy_weinberg(*(table[name] for name in ("HOM_A1_CT", "HET_A1_CT", "TWO_AX_CT")))
    np.testing.assert_allclose(found, table["P"], rtol=1e-5)


def test_the_selection_is_in_the_model_and_resume_sees_it(cohort: Path, tmp_path: Path, monkeypatch, capsys):
    here = Here(monkeypatch, capsys, cohort)
    out = str(tmp_path / "m")
    run = (
        "run",
        "--bfile",
        "d",
        "--pheno",
        "pheno.tsv",
        "--threads",
        "1",
        "--out",
        out,
        "--keep",
        "k.txt",
        "--chr",
        "1",
    )
    here.well(*run, "--rank-int", "--mac", "5")
    with h5py.File(f"{out}.model.h5") as file:
        told = read_attributes(file)
    assert told["settings"]["selection"] | {"keep": "k.txt", "chr": "1"} == told["settings"]["selection"]
    assert told["settings"]["filters"]["mac"] == 5
    assert told["treatment"]["rank_int"] is True
    assert told["provenance"]["inputs"]["k.txt"] == file_digest(cohort / "k.txt")
    here.well(*run, "--rank-int", "--mac", "5", "--resume")
    for other in (("--mac", "5"), ("--rank-int", "--mac", "5", "--remove", "r.txt"), ("--rank-int", "--mac", "6")):
        refused = here(*run, *other, "--resume")
        assert refused.code == 2
        assert "belongs to a run with other settings" in refused.err


def enumerated(one: int, het: int, two: int) -> float:
    """Exact fractions over all numbers of heterozygotes."""
    n, rare = one + het + two, 2 * min(one, two) + het
    chance = {
        h: Fraction(2**h, factorial((rare - h) // 2) * factorial(h) * factorial(n - h - (rare - h) // 2))
        for h in range(rare % 2, rare + 1, 2)
    }
    return float(sum(c for c in chance.values() if c <= chance[het]) / sum(chance.values()))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=1, max_size=6))
def test_hardy_weinberg_by_enumeration(counts):
    found = qc.hardy_weinberg(*zip(*counts, strict=True))
    np.testing.assert_allclose(found, [enumerated(*c) for c in counts], rtol=1e-11)


def test_hardy_weinberg_at_the_ends(monkeypatch: pytest.MonkeyPatch):
    # Nobody called; one allele only; the paper's classic of 100; a million, all homozygous.
    found = qc.hardy_weinberg([0, 50, 77, 500_000], [0, 0, 21, 0], [0, 0, 2, 500_000])
    assert found[:2].tolist() == [1, 1]
    assert found[2] == pytest.approx(enumerated(77, 21, 2), rel=1e-12)
    assert found[3] == 0
    many = np.random.default_rng(1).integers(0, 30, (3, 500))
    whole = qc.hardy_weinberg(*many)
    monkeypatch.setattr("goalscli.qc.hardy._CELLS", 100)
    np.testing.assert_allclose(qc.hardy_weinberg(*many), whole, rtol=1e-13)


@pytest.mark.parametrize(
    ("names", "untested"),
    [
        ("1 22 X Y MT XY PAR1", "X Y MT"),
        ("chr1 chrX Chry chrM chrMT", "chrX Chry chrM chrMT"),
        ("1 23 24 25 26 0", "23 24 26"),
        ("1 23 24 26 29", ""),  # cattle
        ("1 19 23 x", "x"),
    ],
)
def test_what_hardy_weinberg_is_not_tested_on(names: str, untested: str):
    chrom = objects(names.split())
    assert [c for c, two in zip(chrom, qc.diploid(chrom), strict=True) if not two] == untested.split()


def assembled(x, *, y=None, fid=None, filters=None, treatment=None, chrom=None, selected=None, source=None, id=None):
    source = from_array(x, fid=fid, chrom=chrom, id=id) if source is None else source
    n = len(source.samples)
    y = np.random.default_rng(4).normal(size=n) if y is None else y
    columns = Columns(y, [], source.samples.fid, np.full(n, "", dtype=object), "trait")
    filters = qc.Filters(mind=1, geno=1, maf=0) if filters is None else filters
    return assemble(source, columns, filters, treatment or Treatment(scale="none"), selected=selected)


def test_the_x_chromosome_is_counted_twice_and_not_tested(caplog: pytest.LogCaptureFixture):
    x = np.zeros((40, 3))
    x[:20, 0] = 2  # hom 0 and 2 alone: p is tiny
    x[:20, 1] = 2
    x[:5, 2] = 2  # 10 copies
    with caplog.at_level(logging.INFO, "goalscli"):
        data = assembled(x, chrom=["1", "X", "X"], filters=qc.Filters(mind=1, geno=1, maf=0, hwe=1e-4, mac=10))
    assert data.variants.id.tolist() == ["v1", "v2"]
    assert "2 variants of chromosome X not tested" in caplog.text
    more = assembled(x, chrom=["1", "X", "X"], filters=qc.Filters(mind=1, geno=1, maf=0, mac=11))
    assert more.variants.id.tolist() == ["v0", "v1"]


def test_hardy_weinberg_and_counts_are_of_the_analysed_samples():
    x = np.ones((60, 3))
    x[:10, 0], x[10:20, 0] = 0, 2  # in equilibrium among the first 40 only
    x[:20, 1], x[20:40, 1] = 0, 2  # far from it among the first 40, less so among all
    x[:40, 2] = 0
    x[0, 2] = 1  # one copy among the first 40
    y = np.random.default_rng(5).normal(size=60)
    y[40:] = np.nan
    p = [enumerated(10, 20, 10), enumerated(20, 0, 20)]
    assert p[0] == pytest.approx(1)
    assert enumerated(10, 40, 10) < 0.02
    assert enumerated(20, 20, 20) > 0.01 > p[1]
    kept = assembled(x, y=y, filters=qc.Filters(mind=1, geno=1, maf=0, hwe=0.02))
    assert kept.variants.id.tolist() == ["v0", "v2"]
    assert assembled(x, y=y, filters=qc.Filters(mind=1, geno=1, maf=0, mac=2)).variants.id.tolist() == ["v0", "v1"]


def test_dosages_are_rounded_for_hardy_weinberg():
    rng = np.random.default_rng(8)
    hard = rng.binomial(2, 0.4, (60, 30)).astype(float)
    soft = np.clip(hard + rng.uniform(-0.45, 0.45, hard.shape), 0, 2)
    filters = qc.Filters(mind=1, geno=1, maf=0, hwe=0.3)
    kept = assembled(hard, filters=filters).variants.id.tolist()
    assert 0 < len(kept) < 30
    assert assembled(soft, filters=filters).variants.id.tolist() == kept


def lists(folder: Path, **texts: str) -> dict[str, str]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return {name: str(folder / f"{name}.txt") for name in texts}


class Spy:
    """A source that remembers which rows were read."""

    def __init__(self, source) -> None:
        self.source, self.rows, self.widest = source, (set(), set()), 0

    def __getattr__(self, name):
        return getattr(self.source, name)

    def read(self, samples, variants):
        self.rows[0].update(samples.tolist())
        self.rows[1].update(variants.tolist())
        self.widest = max(self.widest, len(variants))
        return self.source.read(samples, variants)


def test_order_account_and_what_is_read(tmp_path: Path):
    rng = np.random.default_rng(3)
    x = rng.binomial(2, 0.4, (30, 3000)).astype(float)
    x[4, 10:20] = np.nan  # a third of what is extracted of chromosome 1
    x[5, 1500:2500] = np.nan  # nothing of it
    x[6:12, 21] = np.nan
    x[:, 22] = 0
    x[7, 22] = 1  # rare
    x[:15, 23], x[15:, 23] = 0, 2  # far from equilibrium
    chrom = np.repeat(["1", "2"], 1500)
    y = rng.normal(size=30)
    y[[2, 9]] = np.nan
    files = lists(
        tmp_path,
        keep="".join(f"s{i}\n" for i in range(25)),
        remove="s0\ns29\n",
        extract="".join(f"v{j}\n" for j in [*range(41), 2000]),
        exclude="v40\nv7\n",
    )
    selection = Selection(**files, chr="1", from_bp=10, to_bp=39)
    source, problems = Spy(from_array(x, chrom=chrom)), Problems()
    selected = select(source, selection, problems)
    assert problems.found == []
    filters = qc.Filters(mind=0.3, geno=0.1, maf=0.05, mac=3, hwe=1e-3)
    data = assembled(None, source=source, y=y, filters=filters, selected=selected)
    rows = data.accounting.rows
    assert rows[:10] == [
        ("input", 0, 30, 0, 3000),
        ("keep", 5, 25, 0, 3000),
        ("remove", 1, 24, 0, 3000),
        ("extract", 0, 24, 2958, 42),
        ("exclude", 0, 24, 2, 40),
        ("chr 1", 0, 24, 1, 39),
        ("from-bp 10", 0, 24, 8, 31),  # positions are 1 + row, row 7 is out already
        ("to-bp 39", 0, 24, 1, 30),
        ("mind 0.3", 1, 23, 0, 30),
        ("trait or covariate missing", 2, 21, 0, 30),
    ]
    assert [row[0] for row in rows[10:]] == ["geno 0.1", "maf 0.05", "mac 3", "hwe 0.001", "monomorphic"]
    assert rows[10] == ("geno 0.1", 0, 21, 1, 29)
    assert rows[11] == ("maf 0.05", 0, 21, 1, 28)
    assert rows[13] == ("hwe 0.001", 0, 21, 1, 27)
    left = [j for j in range(9, 39) if j not in (21, 22, 23)]
    assert data.variants.file_index.tolist() == left
    assert data.samples.iid.tolist() == [f"s{i}" for i in range(1, 25) if i not in (2, 4, 9)]
    np.testing.assert_array_equal(
        data.variants.a1_freq, x[1:25][[i for i in range(24) if i + 1 not in (2, 4, 9)]][:, left].mean(0) / 2
    )
    assert source.rows == (set(range(1, 25)), set(range(9, 39)))
    assert source.widest <= qc.READ_VARIANTS


def test_family_means_are_of_kept_samples_with_or_without_the_trait(tmp_path: Path):
    x = np.array([[np.nan, 1], [2, 0], [1, 0], [0, 2], [1, 1]], dtype=float)
    y = np.array([1.0, np.nan, 2.0, 0.5, 3.0])
    fid = ["a", "a", "a", "b", "b"]
    source = from_array(x, fid=fid)
    assert assembled(None, source=source, y=y).values(np.arange(1))[0, 0] == 1.5
    for text, mean in (("a s1\n", 1.0), ("a s2\n", 2.0), ("a s1\na s2\n", 0.5)):
        selected = select(source, Selection(**lists(tmp_path, remove=text)), Problems())
        assert assembled(None, source=source, y=y, selected=selected).values(np.arange(1))[0, 0] == mean, text


SAMPLES = {
    "fid-iid": b"f0 s#1\nf1\t001\n",
    "header": b"FID IID\nf0 s#1\nf1 001\n",
    "hash-header": b"#FID\tIID\tSEX\nf0\ts#1\t1\nf1\t001\t2\n",
    "iid-header": b"#IID\ns#1\n001\n",
    "plain-iid-header": b"IID\ns#1\n001\n",
    "iid-alone": b"s#1\n001\n",
    "comma": b"f0,s#1\nf1,001\n",
    "crlf": b"f0 s#1\r\nf1 001\r\n",
    "bom": b"\xef\xbb\xbff0 s#1\nf1 001\n",
    "bom-iid": b"\xef\xbb\xbfs#1\r\n001",
    "twice": b"f0 s#1\nf1 001\nf0 s#1\n\n",
    "gzip": gzip.compress(b"f1 001\nf0 s#1\n"),
    "fam": b"f1 001 0 0 1 -9\nf0 s#1 0 0 2\n",
    "comment": b"##made by hand\nf0 s#1\nf1 001\n",
}


@pytest.fixture(scope="module")
def few():
    x = np.random.default_rng(2).binomial(2, 0.5, (4, 3)).astype(float)
    return from_array(x, fid=["f0", "f0", "f1", "f1"], iid=["s#1", "s2", "001", "1"], id=["rs1", "rs2", "rs2"])


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
def test_sample_lists_as_people_write_them(text: bytes, few, tmp_path: Path):
    (tmp_path / "list").write_bytes(text)
    problems = Problems()
    assert select(few, Selection(keep=str(tmp_path / "list")), problems).samples.tolist() == [0, 2]
    assert select(few, Selection(remove=str(tmp_path / "list")), problems).samples.tolist() == [1, 3]
    assert problems.found == []


VARIANTS = {
    "plain": b"rs1\nrs3\n",
    "crlf-bom": b"\xef\xbb\xbfrs1\r\n\r\nrs3\r\n",
    "gzip": gzip.compress(b"rs1\nrs3"),
    "twice": b"rs1\nrs3\nrs1\n",
    "more-words": b"rs1\tA\trs2\nrs3 x\n",
}


@pytest.mark.parametrize("text", VARIANTS.values(), ids=VARIANTS.keys())
def test_variant_lists_as_people_write_them(text: bytes, tmp_path: Path):
    source = from_array(np.zeros((2, 3)), id=["rs1", "rs2", "rs3"])
    (tmp_path / "list").write_bytes(text)
    problems = Problems()
    assert select(source, Selection(extract=str(tmp_path / "list")), problems).variants.tolist() == [0, 2]
    assert select(source, Selection(exclude=str(tmp_path / "list")), problems).variants.tolist() == [1]
    assert problems.found == []


def test_what_a_list_does_not_find_is_counted(few, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    files = lists(tmp_path, keep="f0 s2\nf9 a\nf9 b\nf9 c\nf9 d\n", extract="rs2\nrs7\nrs8\n")
    with caplog.at_level(logging.WARNING, "goalscli"):
        selected = select(few, Selection(**files), Problems())
    assert (selected.samples.tolist(), selected.variants.tolist()) == ([1], [1, 2])
    assert selected.steps == (("keep", 3, 0), ("extract", 0, 1))
    told = [record.getMessage() for record in caplog.records]
    assert told[0].endswith("4 samples are not in the genotypes: f9 a, f9 b, f9 c, ...")
    assert told[1].endswith("2 variants are not in the genotypes: rs7, rs8")
    assert "1 of its names are borne by several variants each, 2 in all" in told[2]
    assert len(told) == 3


def test_variants_without_an_id_are_named_by_their_place(tmp_path: Path):
    source = from_array(np.zeros((2, 5)), id=[".", ".", "rs3", ".", "."], chrom=list("11111"), pos=[10, 20, 30, 20, 40])
    (tmp_path / "list").write_text("1:20\n1:30\n1:40:A2:A1\n1:10:A1:T\nrs9\n")
    # 1:30 has an ID, which is its name; 1:10 has other alleles.
    assert select(source, Selection(extract=str(tmp_path / "list")), Problems()).variants.tolist() == [1, 3, 4]


def on(chrom: list[str], text: str) -> list[str]:
    source, problems = from_array(np.zeros((2, len(chrom))), chrom=chrom), Problems()
    found = select(source, Selection(chr=text), problems)
    problems.raise_any()
    return objects(chrom)[found.variants].tolist()


def test_chromosomes():
    names = ["1", "2", "chr3", "Chr4", "10", "X", "chrX", "scaffold_1-2", "0"]
    assert on(names, "1-4,X") == ["1", "2", "chr3", "Chr4", "X", "chrX"]
    assert on(names, "chr1, CHR3") == ["1", "chr3"]
    assert on(names, "chr2-chr3") == ["2", "chr3"]
    assert on(names, "scaffold_1-2,0") == ["scaffold_1-2", "0"]
    assert on(names, "1-22") == ["1", "2", "chr3", "Chr4", "10"]
    with pytest.raises(InputError, match=r"--chr 5,Y,1: no chromosome 5, Y .*they have: 1, 2, chr3"):
        on(names, "5,Y,1")
    with pytest.raises(InputError, match="no chromosome 5-9"):
        on(names, "5-9")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"from_bp": 5}, "--from-bp: needs one chromosome, and there is no --chr"),
        ({"to_bp": 5, "chr": "1,2"}, "--to-bp: needs one chromosome, and --chr 1,2"),
        ({"to_bp": 5, "chr": "1-2"}, "--to-bp: needs one chromosome"),
        ({"from_bp": 9, "to_bp": 5, "chr": "1"}, "9 lies behind --to-bp 5"),
        ({"from_bp": -9, "chr": "1"}, "-9 is negative"),
        ({"chr": "4-1"}, "--chr: the range 4-1 runs backwards; write 1-4"),
        ({"chr": "1,,2"}, "empty name"),
    ],
)
def test_selections_that_are_none(given: dict, words: str):
    with pytest.raises(SettingsError, match=words):
        Selection(**given)
    assert Selection(from_bp=1, to_bp=1, chr="3-3").from_bp == 1


def test_every_faulty_list_is_told(few, tmp_path: Path):
    files = lists(tmp_path, keep="nobody\n", remove="f0 s2\nf0\n", extract="rs7\nrs8\n")
    problems = Problems()
    select(few, Selection(**files, exclude=str(tmp_path / "gone")), problems)
    assert all(isinstance(error, GoalsError) for error in problems.found)
    keep, remove, extract, exclude = map(str, problems.found)
    assert "no sample in common: 4 genotyped, 1 in the table" in keep
    assert "nobody" in keep
    assert "s#1, s2, 001, ..." in keep
    assert "remove.txt:2: 1 field(s) found, 2 expected" in remove
    assert "none of its 2 variants is in the genotypes: rs7, rs8; theirs: rs1, rs2, rs2" in extract
    assert "gone: no such file" in exclude


@pytest.mark.parametrize(
    ("bad", "words"), [({"mac": -1}, "--mac"), ({"hwe": 1.5}, "--hwe"), ({"hwe": float("nan")}, "hwe")]
)
def test_thresholds_outside_their_range(bad: dict, words: str):
    with pytest.raises(SettingsError, match=words):
        qc.Filters(**bad)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-2.0, 0.0, 0.5, 1e9, 3.25, 7.0]) | st.floats(-10, 10), min_size=2, max_size=40))
def test_normal_scores(values):
    wanted = scipy_stats.norm.ppf((scipy_stats.rankdata(values) - 0.375) / (len(values) + 0.25))
    np.testing.assert_allclose(normal_scores(np.array(values)), wanted, rtol=1e-12, atol=1e-14)


def test_rank_int_is_of_the_analysed_samples(caplog: pytest.LogCaptureFixture):
    rng = np.random.default_rng(6)
    x, y = rng.binomial(2, 0.4, (50, 4)).astype(float), np.exp(rng.normal(size=50) * 3)
    y[7] = np.nan
    with caplog.at_level(logging.INFO, "goalscli"):
        data = assembled(x, y=y, treatment=Treatment(rank_int=True))
    scores = normal_scores(np.delete(y, 7))
    np.testing.assert_allclose(data.phenotype, scores / scores.std(ddof=1), atol=1e-14)
    np.testing.assert_allclose(data.phenotype * data.trait_sd + data.trait_mean, scores, atol=1e-14)
    assert "transform (Blom) of 49 values, 49 different" in caplog.text
    assert "warning" not in caplog.text
    y[:20] = 0
    with caplog.at_level(logging.WARNING, "goalscli"):
        assembled(x, y=y, treatment=Treatment(rank_int=True))
    assert "20 of 50 samples have the value 0" in caplog.text
    with pytest.raises(InputError, match="constant"):
        assembled(x, y=np.full(50, 3.0), treatment=Treatment(rank_int=True))
