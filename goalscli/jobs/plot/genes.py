"""Genes of an annotation file (GTF, GFF3 or BED, also gzipped), and the one nearest to a variant."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, told
from goalscli.plots.coding import Coded
from goalscli.plots.genome import bare_name, is_unplaced

NEAR = 1_000_000
"""A gene farther away than this, in base pairs, is not the gene of a locus."""

_NAMES = ("gene_name", "gene_symbol", "Name", "gene", "gene_id", "locus_tag", "Parent", "ID")
"""Attributes that name a gene, the best first."""

_GROUPS = ("gene_id", "Parent", "gene", "gene_name", "Name", "ID")
"""Attributes that say which gene a transcript or exon belongs to."""

_GTF_ATTRIBUTE = re.compile(r"([\w.-]+)\s+(?:\"([^\"]*)\"|([^;\"]*))\s*(?:;|$)")
_GFF3_ATTRIBUTES = re.compile(r"\s*[\w.-]+=")
_TRANSCRIPT = re.compile(rb"\t(?:[A-Za-z_]*RNA|transcript|primary_transcript|pseudogenic_transcript)\t")
_EXON = re.compile(rb"\t(?:exon|CDS)\t")


@dataclass(frozen=True, eq=False)
class Genes:
    """Genes in the order of the file.

    Attributes
    ----------
    path : Path
    chrom : Coded
        Names as written in the file.
    start, stop : (n,) int64
        First and last base pair, counted from 1.
    name : (n,) object of str
    strand : (n,) object of str
        "+", "-" or "." where it is not known.
    """

    path: Path
    chrom: Coded
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    name: NDArray[np.object_]
    strand: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.start)

    def on(self, chromosome: str) -> NDArray[np.intp]:
        """Rows of the genes on a chromosome; a "chr" prefix, case, and M for MT make no difference."""
        wanted = _key(chromosome)
        codes = [code for code, name in enumerate(self.chrom.names) if _key(name) == wanted]
        return np.flatnonzero(np.isin(self.chrom.codes, codes))

    def check(self, chromosomes: Iterable[str]) -> None:
        """Refuse an annotation that has none of these chromosomes.

        Raises
        ------
        InputError
        """
        wanted = [name for name in chromosomes if not is_unplaced(name)]
        if not {_key(name) for name in wanted} & {_key(name) for name in self.chrom.names}:
            raise InputError(
                f"its chromosomes ({_some(self.chrom.names)}) are none of those of the scan ({_some(wanted)})",
                where=self.path,
                remedy="give the annotation of the same genome, with the scan's chromosome names",
            )

    def nearest(self, chromosome: str, pos: int, within: int = NEAR) -> tuple[str, int] | None:
        """Name of the gene nearest to a position, and how far the position lies beyond it.

        Parameters
        ----------
        chromosome : str
        pos : int
            Base pairs, counted from 1.
        within : int
            Base pairs beyond which no gene counts as near.

        Returns
        -------
        (str, int) or None
            The distance is 0 inside the gene, negative before its first and positive after its last base pair. Of
            several at one distance, the shortest gene.
        """
        rows = self.on(chromosome)
        before, after = self.start[rows] - pos, pos - self.stop[rows]
        distance = np.maximum(np.maximum(before, after), 0)
        if pos <= 0 or not len(rows) or distance.min() > within:
            return None
        best = int(np.lexsort((self.stop[rows] - self.start[rows], distance))[0])
        return str(self.name[rows[best]]), int(distance[best] if after[best] > 0 else -distance[best])


def _key(name: str) -> str:
    short = bare_name(name).upper()
    return "MT" if short == "M" else short


def _some(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return ", ".join(distinct[:5]) + (", …" if len(distinct) > 5 else "")


def read_genes(path: str | Path) -> Genes:
    """Read genes from GTF, GFF3 or BED, plain or gzipped, whatever the file's name.

    From GTF and GFF3, lines whose type is gene (also pseudogene, ncRNA_gene); where there are none, transcripts
    (mRNA), or else exons, are gathered gene by gene. A gene's name is its gene_name, Name, gene_id or ID, whichever
    comes first. From BED, every line, named by its fourth column.

    Raises
    ------
    InputError
        Missing, cut short, empty, of another format, or with coordinates that are none.
    """
    path = Path(path)
    if path.is_dir() or not path.exists():
        problem = "is a folder" if path.is_dir() else "no such file"
        raise InputError(problem, where=path, remedy="give a GTF, GFF3 or BED file")
    kind = _kind(path)
    rows = list(_bed(path)) if kind == "bed" else _annotated(path)
    if not rows:
        raise InputError("has no genes, transcripts or exons", where=path, remedy="give an annotation with genes")
    chrom, start, stop, name, strand = zip(*rows, strict=True)
    number: dict[str, int] = {}
    codes = np.array([number.setdefault(c, len(number)) for c in chrom], dtype=np.intp)
    return Genes(
        path=path,
        chrom=Coded(codes, tuple(number)),
        start=np.array(start, dtype=np.int64),
        stop=np.array(stop, dtype=np.int64),
        name=_objects(name),
        strand=_objects(strand),
    )


def _objects(values: Iterable[str]) -> NDArray[np.object_]:
    return np.array(list(values), dtype=object)


_Row = tuple[str, int, int, str, str]


def _lines(path: Path, wanted: Callable[[bytes], object]) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of the wanted lines; comments, blank lines and what follows ##FASTA are none."""
    with open(path, "rb") as handle:
        zipped = handle.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path, "rb") if zipped else open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.startswith(b"##FASTA"):
                    return
                if wanted(line) and not line.startswith((b"#", b"track", b"browser")) and line.strip():
                    text = line.decode("utf-8", "replace").rstrip("\r\n")
                    yield number, text.split("\t") if "\t" in text else text.split()
    except (EOFError, zlib.error, OSError) as error:
        cut = isinstance(error, EOFError | zlib.error | gzip.BadGzipFile)
        problem = "is cut short or damaged (gzip)" if cut else f"cannot be read ({told(error)})"
        raise InputError(problem, where=path, remedy="copy or download it again" if cut else None) from error


def _kind(path: Path) -> str:
    """Tell the format by the first line that is no comment."""
    for number, fields in _lines(path, lambda line: True):
        # The fourth and fifth column of GTF and GFF3, the second and third of BED, are coordinates.
        if len(fields) >= 9 and fields[6] in ("+", "-", ".", "?") and _is_number(fields[3]) and _is_number(fields[4]):
            return "gff"
        if len(fields) >= 3 and _is_number(fields[1]) and _is_number(fields[2]):
            return "bed"
        raise InputError(
            "is not a line of a GTF, GFF3 or BED file",
            where=f"{path}:{number}",
            remedy="give an annotation with tab-separated columns",
        )
    raise InputError("is empty", where=path, remedy="give a GTF, GFF3 or BED file")


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+", text.strip()))


def _span(path: Path, number: int, start: str, stop: str, first: int) -> tuple[int, int]:
    """Coordinates as numbers, ``first`` being the least start there is."""
    if not (_is_number(start) and _is_number(stop) and first <= int(start) <= int(stop) < 2**62):
        raise InputError(
            f"{start!r} to {stop!r} is not a stretch of a chromosome",
            where=f"{path}:{number}",
            remedy="mend or remove the line",
        )
    return int(start), int(stop)


def _bed(path: Path) -> Iterator[_Row]:
    for number, fields in _lines(path, lambda line: True):
        if len(fields) < 4 or not fields[3].strip():
            raise InputError("has no name in its fourth column", where=f"{path}:{number}", remedy="give BED with names")
        start, stop = _span(path, number, fields[1], fields[2], 0)
        strand = fields[5] if len(fields) > 5 and fields[5] in ("+", "-") else "."
        # BED counts from 0 and leaves the last one out.
        yield fields[0], min(start + 1, stop) if stop else 1, max(stop, 1), fields[3].strip(), strand


def _attributes(text: str) -> dict[str, str]:
    """Read GFF3's key=value or GTF's key "value"; a quote in GFF3 is a letter like any other."""
    if _GFF3_ATTRIBUTES.match(text):
        pairs = (piece.partition("=") for piece in text.split(";"))
        return {key.strip(): value.strip().strip('"') for key, _, value in pairs}
    return {key: quoted or plain.strip() for key, quoted, plain in _GTF_ATTRIBUTE.findall(text)}


def _annotated(path: Path) -> list[_Row]:
    rows = [row for _, row in _features(path, lambda line: b"gene\t" in line, lambda kind: kind.endswith("gene"))]
    if rows:
        return rows
    for pattern in (_TRANSCRIPT, _EXON):
        pieces: dict[tuple[str, str, str], list[_Row]] = {}
        for group, row in _features(path, pattern.search, lambda kind: True):
            pieces.setdefault((row[0], group, row[4]), []).append(row)
        if pieces:
            return [gene for rows in pieces.values() for gene in _gathered(rows)]
    return []


def _gathered(pieces: list[_Row]) -> Iterator[_Row]:
    """Join the pieces of a gene; those beyond a gap of NEAR are another copy of it (of a repeat, say)."""
    pieces = sorted(pieces, key=lambda row: row[1:3])
    chrom, start, stop, name, strand = pieces[0]
    for _, first, last, *_ in pieces[1:]:
        if first - stop > NEAR:
            yield chrom, start, stop, name, strand
            start = first
        stop = max(stop, last)
    yield chrom, start, stop, name, strand


def _features(
    path: Path, wanted: Callable[[bytes], object], is_type: Callable[[str], bool]
) -> Iterator[tuple[str, _Row]]:
    """Yield (gene it belongs to, row) of the features of a type."""
    for number, fields in _lines(path, wanted):
        if len(fields) < 9:
            raise InputError(
                f"has {len(fields)} columns, not 9", where=f"{path}:{number}", remedy="mend or remove the line"
            )
        if not is_type(fields[2]):
            continue
        start, stop = _span(path, number, fields[3], fields[4], 1)
        told = _attributes(fields[8])
        name = next((told[key] for key in _NAMES if told.get(key)), f"{fields[0]}:{start}")
        group = next((told[key] for key in _GROUPS if told.get(key)), f"{fields[0]}:{start}")
        strand = fields[6] if fields[6] in ("+", "-") else "."
        yield group, (fields[0], start, stop, unquote(re.sub(r"^(gene|transcript):", "", name)), strand)
