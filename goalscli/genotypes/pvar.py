"""PLINK 2's text files: .pvar (variants) and .psam (samples), with a header line or laid out as .bim and .fam."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from goalscli.errors import InputError
from goalscli.genotypes.common import lines, make_samples, objects
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
    last = 0
    for number, text in lines(path):
        if not columns:
            if text.startswith("##"):
                continue
            columns = _columns(path, number, text, ("CHROM", "POS", "ID", "REF", "ALT"), _BIM)
            last = max(columns.values())
            if text.startswith("#"):
                continue
        # INFO, further right, may be long: it is not split.
        fields = text.split(None, last + 1)
        _check_width(path, number, fields, last)
        alt, pos = fields[columns["ALT"]], fields[columns["POS"]]
        if "," in alt:
            raise InputError(
                f"variant {fields[columns['ID']]} has {alt.count(',') + 1} ALT alleles ({alt}); only one is read",
                where=f"{path}:{number}",
                remedy="leave such variants out (plink2 --max-alleles 2) or split them (bcftools norm -m -any)",
            )
        try:
            positions.append(int(pos))
        except ValueError:
            raise InputError(
                f"position {pos!r} is not a whole number", where=f"{path}:{number}", remedy="write 0 where unknown"
            ) from None
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
    for number, text in lines(path):
        if not columns:
            if text.startswith("#") and text.split()[0] not in ("#FID", "#IID"):
                continue
            columns = _columns(path, number, text, ("IID",), _FAM)
            if text.startswith("#"):
                continue
        fields = text.split()
        _check_width(path, number, fields, max(columns.values()))
        rows.append(fields)

    def column(name: str) -> list[str] | None:
        return [fields[columns[name]] for fields in rows] if name in columns else None

    iid = column("IID") or []
    return make_samples(column("FID") or ["0"] * len(iid), iid, path, column("SEX"), column("PHENO1"))


def _columns(
    path: Path, number: int, text: str, needed: Sequence[str], without_header: Sequence[str]
) -> dict[str, int]:
    """Map column names to places, by the header line, or by the order of a .bim or .fam."""
    fields = text.split()
    if text.startswith("#"):
        found = {name: k for k, name in enumerate([fields[0][1:], *fields[1:]])}
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
    names = list(without_header)
    if len(fields) < len(names):
        # The two columns that may be left out: centimorgans in a .bim, the phenotype in a .fam.
        names.remove("CM" if "CM" in names else "PHENO1")
    return {name: k for k, name in enumerate(names)}


def _check_width(path: Path, number: int, fields: Sequence[str], last: int) -> None:
    if len(fields) <= last:
        raise InputError(
            f"{len(fields)} columns, expected at least {last + 1}",
            where=f"{path}:{number}",
            remedy="write the missing columns of this line",
        )
