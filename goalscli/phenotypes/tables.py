"""Text tables with one row a sample, as people really write them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import LISTED, InputError, Problems
from goalscli.phenotypes.rows import Strings, separator, split, split_rows, text_lines

__all__ = ["HEADERS", "Strings", "Table", "listed", "read_sample_list", "read_table"]

HEADERS = "FID IID, #FID IID, #IID or IID"
"""How a header line may begin, for messages."""


@dataclass(frozen=True)
class Table:
    """A table of n samples.

    Attributes
    ----------
    path : Path
    fid : (n,) object of str, or None
        None where the file has individual IDs only.
    iid : (n,) object of str
        IDs are never converted to numbers: 001 and 1 differ.
    columns : mapping of str to (n,) object of str
        All other columns in file order, cells as written.
    lines : (n,) int64
        Line of each row in the file, from 1.
    """

    path: Path
    fid: Strings | None
    iid: Strings
    columns: Mapping[str, Strings]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.iid)


def listed(items: Sequence[str], limit: int) -> str:
    """``A, B, C and 7 more``."""
    return ", ".join(items[:limit]) + (f" and {len(items) - limit} more" if len(items) > limit else "")


def read_table(path: str | Path, *, option: str, problems: Problems | None = None) -> Table:
    """Read a table separated by tabs, commas or spaces, plain or gzipped.

    The first line that is neither blank nor begins with ``##`` decides: a tab in it means tab-separated, else
    a comma means comma-separated, else any run of spaces and tabs separates. (Its first field cannot hold a
    space; where it would, spaces and tabs separate.) If that line begins with FID IID, #FID IID, #IID or IID,
    in any case, it is the header; otherwise it is data, and the columns are FID, IID, V1, V2 and so on.
    Spaces and double quotes around a field are removed. Blank lines, and lines of separators only, are
    skipped.

    Parameters
    ----------
    path : str or Path
    option : str
        The option that gave the path ("--pheno"), for messages.
    problems : Problems, optional
        Takes what is wrong with single rows, which are then left out; without it the first is raised.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        The file cannot be read as UTF-8 text or has no rows; a row has more or fewer fields than the header
        (its line is named); a column name or a sample occurs twice; an ID is empty.
    """
    path, given, lines, numbers = text_lines(path, option, "give a header and one row a sample")
    first = lines[numbers[0] - 1]
    delimiter = separator(first)
    where = f"{path}:{numbers[0]}"
    fields = split(first, delimiter, path, numbers[0])
    if _is_header(fields, where):
        names = [fields[0].removeprefix("#"), *fields[1:]]
        del numbers[0]
    else:
        names = ["FID", "IID", *(f"V{i}" for i in range(1, len(fields) - 1))]
    fid_at, iid_at = _id_positions(names, where)
    if not numbers:
        raise InputError("the file has a header but no rows", where=given, remedy="give one row a sample")
    bad = Problems(LISTED)
    cells, good = split_rows(path, lines, numbers, (len(names), len(names)), delimiter, bad)
    table = Table(
        path=path,
        fid=None if fid_at is None else cells[fid_at],
        iid=cells[iid_at],
        columns={name: cells[k] for k, name in enumerate(names) if k not in (fid_at, iid_at)},
        lines=good,
    )
    found = Problems() if problems is None else problems
    with found.catching():
        bad.raise_any(path)
    _check_ids(table, found)
    if problems is None:
        found.raise_any()
    return table


def read_sample_list(path: str | Path, *, option: str) -> Table:
    """Read a list of samples: FID and IID, or IID alone, one a line, with or without a header.

    Parameters
    ----------
    path : str or Path
        Plain or gzipped text; the first line decides as in :func:`read_table`, and columns after the IDs do not matter.
    option : str
        The option that gave the path ("--keep"), for messages.

    Returns
    -------
    Table
        Without columns; each sample once, however often it is listed.

    Raises
    ------
    InputError
        The file cannot be read as UTF-8 text or lists nobody; a line has fewer IDs than the first one, or an empty one.
    """
    path, given, lines, numbers = text_lines(path, option, "list one sample a line")
    first = lines[numbers[0] - 1]
    delimiter = separator(first)
    where = f"{path}:{numbers[0]}"
    fields = split(first, delimiter, path, numbers[0])
    # One field is no header without a name of the header; _is_header would miss a second column.
    alone = len(fields) == 1 and fields[0].removeprefix("#").casefold() not in ("fid", "iid")
    if alone or not _is_header(fields, where):
        fid_at, iid_at = (None, 0) if alone else (0, 1)
    else:
        fid_at, iid_at = _id_positions([fields[0].removeprefix("#"), *fields[1:2]], where)
        del numbers[0]
    if not numbers:
        raise InputError("the list has a header but no samples", where=given, remedy="list one sample a line")
    bad = Problems(LISTED)
    # After a line with a single ID each must hold a single one too: two would be FID and IID.
    least, most = iid_at + 1 if fid_at is None else 2, 1 if len(fields) == 1 else sys.maxsize
    remedy = "list FID and IID on every line, or IID alone on every line"
    cells, good = split_rows(path, lines, numbers, (least, most), delimiter, bad, remedy)
    table = Table(path, None if fid_at is None else cells[fid_at], cells[iid_at], {}, good)
    with bad.catching():
        _refuse_empty(table)
    bad.raise_any(path)
    first_at: dict[tuple[str, ...], int] = {}
    for k, key in enumerate(_keys(table)):
        first_at.setdefault(key, k)
    once = list(first_at.values())
    return Table(path, None if table.fid is None else table.fid[once], table.iid[once], {}, table.lines[once])


def _is_header(fields: Sequence[str], where: str) -> bool:
    first = fields[0].removeprefix("#").casefold()
    if first in ("fid", "iid"):
        return True
    if fields[0].startswith("#"):
        problem = f"the header begins with {fields[0]!r}"
        raise InputError(problem, where=where, remedy=f"begin it with {HEADERS}")
    if any(field.removeprefix("#").casefold() == "iid" for field in fields):
        problem = f"the header has IID but begins with {fields[0]!r}"
        raise InputError(problem, where=where, remedy=f"begin it with {HEADERS} (row names left out)")
    if len(fields) < 2:
        remedy = f"begin the file with a header ({HEADERS}) and separate columns by tab, comma or space"
        raise InputError(f"one column only ({fields[0][:40]!r}) and no header", where=where, remedy=remedy)
    return False


def _id_positions(names: Sequence[str], where: str) -> tuple[int | None, int]:
    """Find FID (None without) and IID among the names, which must all differ."""
    keys = [name.upper() if name.casefold() in ("fid", "iid") else name for name in names]
    unnamed = [str(k) for k, name in enumerate(names, 1) if not name]
    if unnamed:
        remedy = "name every column, or take trailing separators out"
        problem = f"{len(unnamed)} column(s) of the header without a name: number {listed(unnamed, 5)}"
        raise InputError(problem, where=where, remedy=remedy)
    twice = [key for key, count in Counter(keys).items() if count > 1]
    if twice:
        problem = f"{len(twice)} column name(s) used more than once: {listed(twice, 20)}"
        raise InputError(problem, where=where, remedy="give every column its own name")
    if "IID" not in keys:
        raise InputError("the header has FID but no IID", where=where, remedy=f"begin it with {HEADERS}")
    return keys.index("FID") if "FID" in keys else None, keys.index("IID")


def _check_ids(table: Table, problems: Problems) -> None:
    with problems.catching():
        _refuse_empty(table)
    keys = _keys(table)
    if len(set(keys)) == len(keys):
        return
    lines: dict[tuple[str, ...], list[str]] = {}
    for key, line in zip(keys, table.lines, strict=True):
        lines.setdefault(key, []).append(str(line))
    twice = [(" ".join(key), at) for key, at in lines.items() if len(at) > 1]
    named = listed([f"{sample} (lines {listed(at, 5)})" for sample, at in twice], 5)
    problem = f"{len(twice)} sample(s) listed more than once: {named}"
    problems.add([InputError(problem, where=table.path, remedy="keep one row a sample")])


def _keys(table: Table) -> list[tuple[str, ...]]:
    return list(zip(*((table.iid,) if table.fid is None else (table.fid, table.iid)), strict=True))


def _refuse_empty(table: Table) -> None:
    empty = [line for key, line in zip(_keys(table), table.lines, strict=True) if "" in key]
    bad = Problems(LISTED)
    remedy = "give every row its IDs; the FID is 0 where there is no family"
    for line in empty:
        problem = f"empty ID ({len(empty)} such row(s))"
        bad.add([InputError(problem, where=f"{table.path}:{line}", remedy=remedy)])
    bad.raise_any(table.path)
