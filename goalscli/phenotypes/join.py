"""Which row of a table belongs to which genotyped sample."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.phenotypes.tables import Strings, Table, listed

_PLACEHOLDER = re.compile(r"sample_?[0-9]+", re.IGNORECASE)

Key = tuple[str, ...]
"""(FID, IID), or (IID,)."""


@dataclass(frozen=True)
class Joined:
    """How a table lies along n genotyped samples.

    Attributes
    ----------
    rows : (n,) intp
        Row of the table for each genotyped sample, -1 where it has none.
    by : str
        "FID and IID" or "IID".
    note : str or None
        A sentence for the log where IID alone was chosen without being asked for.
    """

    rows: NDArray[np.intp]
    by: str
    note: str | None

    def lay(self, values: NDArray[np.object_]) -> NDArray[np.object_]:
        """Lay a column of the table along the genotype samples; None where the table has no row."""
        out = values[self.rows]
        out[self.rows < 0] = None
        return out


def join(genotype_fid: Strings, genotype_iid: Strings, table: Table, *, iid_only: bool = False, option: str) -> Joined:
    """Match a table to the samples of a genotype file.

    FID and IID must both be equal. IID alone counts with ``iid_only``, where the table has no FID, and where
    all FIDs of the table or of the genotype file are 0 and IIDs are unique in both.

    Parameters
    ----------
    genotype_fid, genotype_iid : (n,) object of str
    table : Table
    iid_only : bool
    option : str
        The option and path of the table ("--pheno FILE"), for messages.

    Returns
    -------
    Joined

    Raises
    ------
    InputError
        No sample in common, or IIDs that are to match and occur twice.
    """
    reason = None if iid_only else _reason_for_iid(genotype_fid, genotype_iid, table)
    by_iid = iid_only or reason is not None
    genotyped = _keys(None if by_iid else genotype_fid, genotype_iid)
    tabled = _keys(None if by_iid else table.fid, table.iid)
    lookup = dict(zip(tabled, range(len(tabled)), strict=True))
    rows = np.fromiter((lookup.get(key, -1) for key in genotyped), dtype=np.intp, count=len(genotyped))
    if not (rows >= 0).any():
        raise _nothing_in_common(genotyped, tabled, by_iid, table, option)
    if by_iid:
        common = set(genotyped) & set(tabled)
        _refuse_twice(genotyped, common, "the genotype file", option)
        _refuse_twice(tabled, common, "the table", option)
    note = None if reason is None else f"{option}: samples matched by IID alone, since {reason}"
    return Joined(rows, "IID" if by_iid else "FID and IID", note)


def _reason_for_iid(genotype_fid: Strings, genotype_iid: Strings, table: Table) -> str | None:
    if table.fid is None:
        return "the table has no FID column"
    if len(set(genotype_iid)) < len(genotype_iid) or len(set(table.iid)) < len(table.iid):
        return None
    for fid, side in ((genotype_fid, "genotype file"), (table.fid, "table")):
        if set(fid) == {"0"}:
            return f"every FID of the {side} is 0"
    return None


def _keys(fid: Strings | None, iid: Strings) -> list[Key]:
    return list(zip(iid, strict=True)) if fid is None else list(zip(fid, iid, strict=True))


def _refuse_twice(keys: Sequence[Key], common: set[Key], side: str, option: str) -> None:
    counts = Counter(key for key in keys if key in common)
    twice = [key[-1] for key, count in counts.items() if count > 1]
    if twice:
        raise InputError(
            f"{len(twice)} IID(s) to match occur more than once in {side}: {listed(twice, 5)}",
            where=option,
            remedy="give the table FID and IID, and match by both (no --iid-only)",
        )


def _nothing_in_common(
    genotyped: Sequence[Key], tabled: Sequence[Key], by_iid: bool, table: Table, option: str
) -> InputError:
    hints = []
    if all(_PLACEHOLDER.fullmatch(key[-1]) for key in genotyped):
        hints.append("the genotype IDs look like placeholders: give the true ones with --sample FILE")
    if all(_PLACEHOLDER.fullmatch(key[-1]) for key in tabled):
        hints.append("the table's IDs look like placeholders: write the IDs of the genotype file")
    # plink2 --export bgen joins the two into one ID.
    pairs = [] if table.fid is None else _keys(table.fid, table.iid)
    if {key[-1] for key in genotyped} & {"_".join(pair) for pair in pairs}:
        hints.append("the genotype IDs look like FID_IID: give FID and IID with --sample FILE")
    overlap = 0 if by_iid else len({key[-1] for key in genotyped} & {key[-1] for key in tabled})
    if overlap:
        hints.append(f"--iid-only would match {overlap}")
    return InputError(
        f"no sample in common: {len(genotyped)} genotyped, {len(tabled)} in the table, overlap 0; "
        f"genotype IDs {_examples(genotyped)}; table IDs {_examples(tabled)}",
        where=option,
        remedy="; ".join(hints) or "use the same IDs in both, letter by letter (001 is not 1)",
    )


def _examples(keys: Sequence[Key]) -> str:
    return ", ".join(" ".join(key) for key in keys[:3]) + (", ..." if len(keys) > 3 else "")
