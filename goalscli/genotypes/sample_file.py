"""Oxford .sample files: one or two ID columns, with or without the two header lines."""

from __future__ import annotations

from pathlib import Path

from goalscli.errors import InputError
from goalscli.genotypes.common import lines, make_samples, split
from goalscli.genotypes.source import Samples

_TYPES = frozenset("0DCPB")
_NAMES = frozenset(("id", "id_1", "fid", "iid"))


def read_sample_file(path: Path, n_samples: int) -> Samples:
    """Read the samples of a BGEN file.

    Two headings are understood, ``ID_1 ID_2 missing ...`` (FID and IID) and ``ID ...`` (IID alone), each followed by
    a line of column types (0, D, C, P, B), which is skipped. Without a heading, the first two columns are FID and IID,
    or a single column is the IID. Where there is no FID it is "0", no family.

    Parameters
    ----------
    path : Path
    n_samples : int
        Samples in the BGEN file.

    Raises
    ------
    InputError
        Another number of samples, a line that is too short, or a sample listed twice.
    """
    rows = [(number, split(text)) for number, text in lines(path)]
    names, types = _heading([fields for _, fields in rows[:2]])
    rows = rows[bool(names) + bool(types) :]
    if names:
        two = len(names) > 1 and (names[1] in ("id_2", "iid") or (types[1:2] == ["0"] and names[1] != "missing"))
    else:
        two = bool(rows) and len(rows[0][1]) > 1
    sex = names.index("sex") if "sex" in names else None
    width = len(names) or (len(rows[0][1]) if rows else 0)
    for number, fields in rows:
        if len(fields) != width:
            raise InputError(
                f"{len(fields)} columns, expected {width}, as in the first line",
                where=f"{path}:{number}",
                remedy="give every line as many columns; an ID holds no space",
            )
    if len(rows) != n_samples:
        raise InputError(
            f"{len(rows)} samples, but the BGEN file has {n_samples}",
            where=path,
            remedy="give the .sample file that was made with the .bgen",
        )
    return make_samples(
        fid=[fields[0] if two else "0" for _, fields in rows],
        iid=[fields[1] if two else fields[0] for _, fields in rows],
        path=path,
        sex=None if sex is None else [fields[sex] for _, fields in rows],
    )


def _heading(first: list[list[str]]) -> tuple[list[str], list[str]]:
    """Return the columns' names, in lower case, and their types, as far as the first two lines give them."""
    typed = len(first) > 1 and first[1][0] == "0" and _TYPES.issuperset(first[1])
    if not first or not (typed or first[0][0].lower().lstrip("#") in _NAMES):
        return [], []
    return [name.lower().lstrip("#") for name in first[0]], first[1] if typed else []
