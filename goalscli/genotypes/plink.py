"""PLINK 1 filesets: .bim and .fam parsed here, the .bed matrix through bed-reader, counting A1."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bed_reader import open_bed, to_bed
from numpy.typing import NDArray

from goalscli.errors import LISTED, InputError, Problems
from goalscli.genotypes.common import existing, lines, make_samples, objects, position, split
from goalscli.genotypes.source import Samples, Variants

_FOURTH = "the fourth .bim column is the base-pair position (0 where unknown)"
_LOOKED_AT = 1024
"""Variants of a .bed whose last byte is checked."""


class PlinkSource:
    """An opened bed/bim/fam fileset (see :class:`goalscli.genotypes.source.GenotypeSource`)."""

    def __init__(self, bed: Path, bim: Path, fam: Path) -> None:
        self.bed, self.bim, self.fam = bed, bim, fam
        problems = Problems()
        samples, variants = problems.attempt(lambda: read_fam(fam)), problems.attempt(lambda: read_bim(bim))
        problems.raise_any()
        assert samples is not None
        assert variants is not None
        self.samples, self.variants = samples, variants
        _check_bed(bed, len(self.samples), len(self.variants), bim, fam)
        # bed-reader would read .fam and .bim by itself; with the counts given it opens the .bed alone.
        self._bed = open_bed(bed, iid_count=len(self.samples), sid_count=len(self.variants), count_A1=True)

    @property
    def files(self) -> tuple[Path, ...]:
        """The .bed, .bim and .fam."""
        return (self.bed, self.bim, self.fam)

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """Copies of A1, (samples, variants) float32 in Fortran order, NaN where missing."""
        block: NDArray[np.float32] = self._bed.read(
            index=(samples, variants), dtype="float32", order="F", num_threads=1
        )
        return block

    def describe(self) -> dict[str, Any]:
        """Format and absolute paths."""
        paths = {"bed": self.bed, "bim": self.bim, "fam": self.fam}
        return {"format": "plink", **{k: str(p.resolve()) for k, p in paths.items()}}


def open_plink(
    prefix: str | Path | None = None,
    *,
    bed: str | Path | None = None,
    bim: str | Path | None = None,
    fam: str | Path | None = None,
) -> PlinkSource:
    """Open PREFIX.bed, PREFIX.bim and PREFIX.fam, or the three files named singly.

    Raises
    ------
    InputError
        A file is missing, malformed (``file:line`` is named), or the .bed's size does not fit the others.
    """
    paths, problems = {}, Problems()
    for suffix, given in (("bed", bed), ("bim", bim), ("fam", fam)):
        if given is None and prefix is None:
            remedy = f"give --bfile PREFIX or --{suffix} FILE"
            problems.add([InputError(f"no .{suffix} file given", remedy=remedy)])
            continue
        # PREFIX may itself hold dots, so the suffix is added, never put in place of one.
        path = Path(given) if given is not None else Path(f"{prefix}.{suffix}")
        option = f"--{suffix} {given}" if given is not None else f"--bfile {prefix}"
        with problems.catching():
            paths[suffix] = existing(path, option, "check the path; --bfile takes the name without .bed")
    problems.raise_any()
    return PlinkSource(paths["bed"], paths["bim"], paths["fam"])


def _rows(path: Path, n_columns: int, columns: str, bad: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, fields) of a headerless table with any run of spaces and tabs between fields."""
    width = 0
    for number, text in lines(path):
        fields = split(text)
        n = len(fields)
        if n > n_columns and len([cell for cell in text.split("\t") if cell.strip()]) == n_columns:
            problem = f"a field holds a space: {n_columns} fields by tabs, {n} by spaces and tabs"
            remedy = "spaces and tabs separate in PLINK files: write _ for a space inside an ID"
        elif n < n_columns:
            problem = f"{n} columns, expected {n_columns} ({columns})"
            remedy = f"write the missing columns (0 or NA where unknown) in this {path.suffix} line"
        elif width and n != width:
            # More columns than needed (GEMMA's further traits) are left aside; a line that differs has lost its order.
            problem = f"{n} columns, but {width} in the lines before ({columns})"
            remedy = "give every line as many columns; an ID holds no space"
        else:
            width = n
            yield number, fields
            continue
        bad.add([InputError(problem, where=f"{path}:{number}", remedy=remedy)])


def read_fam(path: Path) -> Samples:
    """Read a .fam file.

    Raises
    ------
    InputError
        Fewer than six columns, not as many as the first line, or a header (with the line); no samples; a sample listed
        twice.
    """
    rows: list[list[str]] = []
    bad = Problems(LISTED)
    for number, fields in _rows(path, 6, "FID IID father mother sex phenotype", bad):
        if not rows and [name.upper().lstrip("#") for name in fields[:2]] == ["FID", "IID"]:
            problem = "a header line, which a .fam has not"
            bad.add([InputError(problem, where=f"{path}:{number}", remedy="take the line out")])
            continue
        rows.append(fields)
    bad.raise_any(path)
    fid, iid, sex, phenotype = ([row[k] for row in rows] for k in (0, 1, 4, 5))
    return make_samples(fid, iid, path, sex, phenotype)


def read_bim(path: Path) -> Variants:
    """Read a .bim file; chromosome names are kept as written.

    Raises
    ------
    InputError
        Fewer than six columns, not as many as the first line, or a position that is not a whole number (with the line);
        no variants.
    """
    chrom, ids, pos, a1, a2 = [], [], [], [], []
    bad = Problems(LISTED)
    for number, fields in _rows(path, 6, "chromosome ID cM position A1 A2", bad):
        try:
            pos.append(position(fields[3], f"{path}:{number}", _FOURTH))
        except InputError as error:
            bad.add([error])
            continue
        chrom.append(sys.intern(fields[0]))
        ids.append(fields[1])
        a1.append(sys.intern(fields[4]))
        a2.append(sys.intern(fields[5]))
    bad.raise_any(path)
    if not ids:
        raise InputError("no variants", where=path, remedy="check that the .bim is not empty")
    return Variants(objects(chrom), objects(ids), np.array(pos, dtype=np.int64), objects(a1), objects(a2))


def _check_bed(bed: Path, n: int, j: int, bim: Path, fam: Path) -> None:
    found = bed.stat().st_size
    with open(bed, "rb") as handle:
        magic = handle.read(3)
    if len(magic) == 3 and magic[:2] == b"\x6c\x1b" and magic[2] == 0:
        raise InputError("sample-major .bed", where=bed, remedy="rewrite it variant-major: plink --make-bed")
    if found >= 3 and magic != b"\x6c\x1b\x01":
        raise InputError(
            f"not a PLINK 1 .bed file (it starts with bytes {magic.hex(' ')}, expected 6c 1b 01)",
            where=bed,
            remedy="give a file made by plink --make-bed",
        )
    expected = 3 + j * ((n + 3) // 4)
    if found != expected:
        suspect = "the .bed is cut short" if found < expected else "the .bed is too long"
        raise InputError(
            f"{found} bytes found, {expected} expected for {n} samples ({fam.name}) and {j} variants ({bim.name})",
            where=bed,
            remedy=f"{suspect}, or the .bim or .fam belongs to another .bed; copy the three files again",
        )
    _check_padding(bed, n, j, fam)


def _check_padding(bed: Path, n: int, j: int, fam: Path) -> None:
    """Refuse genotypes beyond the last sample: up to three lines lost from a .fam leave the .bed's size as expected."""
    if n % 4 == 0:
        return
    last = np.memmap(bed, dtype=np.uint8, mode="r", offset=3, shape=(j, (n + 3) // 4))[:: -(-j // _LOOKED_AT), -1]
    filled = int(np.count_nonzero(last >> 2 * (n % 4)))
    if filled:
        raise InputError(
            f"{filled} of {len(last)} variants looked at hold genotypes of more than the {n} samples of {fam.name}",
            where=bed,
            remedy="the .fam lacks samples or belongs to another .bed; if it is right, rewrite the .bed: "
            "plink --make-bed",
        )


def write_plink(prefix: str | Path, dosages: NDArray[np.int8], samples: Samples, variants: Variants) -> None:
    """Write PREFIX.bed, PREFIX.bim and PREFIX.fam; each appears under its name only when all are whole.

    Parameters
    ----------
    prefix : str or Path
    dosages : (n, J) int8
        Copies of a1 (0, 1, 2), -127 where missing.
    samples : Samples
    variants : Variants
    """
    suffixes = ("bed", "bim", "fam")
    partial = {s: f"{prefix}.{s}.partial" for s in suffixes}
    n, j = dosages.shape
    try:
        to_bed(
            partial["bed"],
            np.asfortranarray(dosages),
            properties={
                "fid": samples.fid.astype(str),
                "iid": samples.iid.astype(str),
                "father": np.full(n, "0"),
                "mother": np.full(n, "0"),
                "sex": samples.sex.astype(np.int32),
                "pheno": samples.phenotype.astype(str),
                "chromosome": variants.chrom.astype(str),
                "sid": variants.id.astype(str),
                "cm_position": np.zeros(j),
                "bp_position": variants.pos.astype(np.int32),
                "allele_1": variants.a1.astype(str),
                "allele_2": variants.a2.astype(str),
            },
            count_A1=True,
            fam_filepath=partial["fam"],
            bim_filepath=partial["bim"],
            num_threads=1,
        )
        for suffix in suffixes:
            os.replace(partial[suffix], f"{prefix}.{suffix}")
    finally:
        for path in partial.values():
            Path(path).unlink(missing_ok=True)
