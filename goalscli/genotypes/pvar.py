"""PLINK 2's text files: .pvar (variants) and .psam (samples), with a header line or laid out as .bim and .fam."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from goalscli.errors import InputError
from goalscli.genotypes.common import lines, make_samples, objects, position, split
from goalscli.genotypes.source import Samples, Variants

_BIM = ("CHROM", "ID", "CM", "POS", "ALT", "REF")
_FAM = ("FID", "IID", "PAT", "MAT", "SEX", "PHENO1")


def read_pvar(path: Path) -> Variants:
    """Read a .pvar, or a .bim in its place; a1 is ALT and a2 REF.

    Raises
    ------
    InputError
        A column is missing, a line too short, a position not a whole number, several ALT alleles (with the line), or
        no variants.
    """
    chroms, ids, positions, refs, alts = [], [], [], [], []
    columns: dict[str, int] = {}
    last = width = 0
    for number, text in lines(path):
        if not columns:
            if text.startswith("##"):
                continue
            columns = _columns(path, number, text, ("CHROM", "POS", "ID", "REF", "ALT"), _BIM)
            last = max(columns.values())
            width = len(split(text))
            if _is_header(text):
                continue
        fields = split(text)
        # INFO, further right, may hold spaces.
        if len(fields) < width or (len(fields) > width and last == width - 1):
            raise _wrong_width(path, number, fields, width)
        alt = fields[columns["ALT"]]
        if "," in alt:
            raise InputError(
                f"variant {fields[columns['ID']]} has {alt.count(',') + 1} ALT alleles ({alt}); only one is read",
                where=f"{path}:{number}",
                remedy="leave such variants out (plink2 --max-alleles 2) or split them (bcftools norm -m -any)",
            )
        positions.append(position(fields[columns["POS"]], f"{path}:{number}", "write 0 where unknown"))
        chroms.append(sys.intern(fields[columns["CHROM"]]))
        ids.append(fields[columns["ID"]])
        refs.append(sys.intern(fields[columns["REF"]]))
        alts.append(sys.intern(alt))
    if not ids:
        raise InputError("no variants", where=path, remedy="check that the .pvar is not empty")
    pos_array = np.array(positions, dtype=np.int64)
    return Variants(objects(chroms), objects(ids), pos_array, objects(alts), objects(refs))


def read_psam(path: Path) -> Samples:
    """Read a .psam, or a .fam in its place; without a FID column it is "0", no family.

    Raises
    ------
    InputError
        A column is missing, a line too short (with the line), no samples, or a sample listed twice.
    """
    columns: dict[str, int] = {}
    rows: list[list[str]] = []
    width = 0
    for number, text in lines(path):
        if not columns:
            if text.startswith("#") and not _is_header(text):
                continue
            columns = _columns(path, number, text, ("IID",), _FAM)
            width = len(split(text))
            if _is_header(text):
                continue
        fields = split(text)
        if len(fields) != width:
            raise _wrong_width(path, number, fields, width)
        rows.append(fields)

    def column(name: str) -> list[str] | None:
        return [fields[columns[name]] for fields in rows] if name in columns else None

    iid = column("IID") or []
    return make_samples(column("FID") or ["0"] * len(iid), iid, path, column("SEX"), column("PHENO1"))


def _columns(
    path: Path, number: int, text: str, needed: Sequence[str], without_header: Sequence[str]
) -> dict[str, int]:
    """Map column names to places, by the header line, or by the order of a .bim or .fam."""
    fields = split(text)
    if text.startswith("#") or _is_header(text):
        names = [name.upper() for name in [fields[0].removeprefix("#"), *fields[1:]]]
        twice = [name for name in needed if names.count(name) > 1]
        if twice:
            raise InputError(f"two columns {twice[0]}", where=f"{path}:{number}", remedy="keep one of them")
        found = {name: k for k, name in enumerate(names)}
        known = {name: k for name, k in found.items() if name in (*needed, *_FAM)}
        missing = [name for name in needed if name not in known]
        if missing:
            raise InputError(
                f"no column {missing[0]} in the header",
                where=f"{path}:{number}",
                remedy=f"a {path.suffix} has the columns {', '.join(needed)}",
            )
        return known
    if len(fields) < len(without_header) - 1:
        raise InputError(
            f"{len(fields)} columns and no header line",
            where=f"{path}:{number}",
            remedy=f"begin with a header line, or give the columns {' '.join(without_header)}",
        )
    order = list(without_header)
    if len(fields) < len(order):
        # The two columns that may be left out: centimorgans in a .bim, the phenotype in a .fam.
        order.remove("CM" if "CM" in order else "PHENO1")
    return {name: k for k, name in enumerate(order)}


def _is_header(text: str) -> bool:
    """Tell a header line, also one that lacks its #, which no first sample or chromosome is called."""
    first, *others = (name.upper() for name in split(text))
    return first.removeprefix("#") in ("CHROM", "FID", "IID") and (first != "CHROM" or "POS" in others)


def _wrong_width(path: Path, number: int, fields: Sequence[str], width: int) -> InputError:
    return InputError(
        f"{len(fields)} columns, expected {width}, as in the first line",
        where=f"{path}:{number}",
        remedy="give every line as many columns; an ID holds no space",
    )
