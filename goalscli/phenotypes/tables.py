"""Text tables with one row a sample, as people really write them."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError

Strings = NDArray[np.object_]
"""One Python ``str`` an entry."""

HEADERS = "FID IID, #FID IID, #IID or IID"
"""How a header line may begin, for messages."""

_BLOCK = 2000  # rows split at a time: the lists of one block are freed before the next
_SEPARATORS = {"\t": "tab", ",": "comma", None: "space"}
_BLANKS = {"\t": re.compile(r"[^\S\t]"), ",": re.compile(r"\s")}
_TOKEN = re.compile(r'"[^"]*"(?!\S)|\S+')


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


def read_table(path: str | Path, *, option: str) -> Table:
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

    Returns
    -------
    Table

    Raises
    ------
    InputError
        The file cannot be read as UTF-8 text or has no rows; a row has more or fewer fields than the header
        (its line is named); a column name or a sample occurs twice; an ID is empty.
    """
    given = f"{option} {path if str(path) and str(path) == str(path).strip() else repr(str(path))}"
    path = Path(path)
    lines = _text(path, given).split("\n")
    numbers = [i for i, line in enumerate(lines, 1) if line.strip().strip(", \t")]
    while numbers and lines[numbers[0] - 1].startswith("##"):
        del numbers[0]
    if not numbers:
        raise InputError("the file is empty", where=given, remedy="give a header and one row a sample")
    first = lines[numbers[0] - 1]
    delimiter = _sniff(first)
    where = f"{path}:{numbers[0]}"
    fields = _fields(first, delimiter, path, numbers[0])
    if _is_header(fields, where):
        names = [fields[0].removeprefix("#"), *fields[1:]]
        del numbers[0]
    else:
        names = ["FID", "IID", *(f"V{i}" for i in range(1, len(fields) - 1))]
    fid_at, iid_at = _id_positions(names, where)
    if not numbers:
        raise InputError("the file has a header but no rows", where=given, remedy="give one row a sample")
    cells = _cells(path, lines, numbers, len(names), delimiter)
    table = Table(
        path=path,
        fid=None if fid_at is None else cells[fid_at],
        iid=cells[iid_at],
        columns={name: cells[k] for k, name in enumerate(names) if k not in (fid_at, iid_at)},
        lines=np.array(numbers, dtype=np.int64),
    )
    _check_ids(table)
    return table


def _text(path: Path, given: str) -> str:
    """Read the whole file as text with \\n line ends, whatever it was written with."""
    if path.is_dir():
        raise InputError("is a folder, not a file", where=given, remedy="give the file's own path")
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except FileNotFoundError:
        remedy = "check the path"
        if str(path) != str(path).strip() and Path(str(path).strip()).is_file():
            remedy = f"take the spaces off the path: {str(path).strip()} exists"
        raise InputError("no such file", where=given, remedy=remedy) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        remedy = "compress or copy the file again"
        raise InputError(f"damaged gzip file ({error})", where=given, remedy=remedy) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        remedy = "check its path and permissions"
        raise InputError(f"cannot be read: {reason}", where=given, remedy=remedy) from None
    if b"\0" in data:
        remedy = "give a text table in UTF-8, plain or gzipped; from a spreadsheet, save as CSV"
        raise InputError("not a text file (it has NUL bytes)", where=given, remedy=remedy)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        remedy = "save the file as UTF-8"
        raise InputError(f"line {line} is not UTF-8 text", where=given, remedy=remedy) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _sniff(line: str) -> str | None:
    for delimiter in ("\t", ","):
        # IDs hold no spaces, so a space within the first field means that spaces separate here too.
        if delimiter in line and len(line.split(delimiter)[0].split()) <= 1:
            return delimiter
    return None


def _fields(line: str, delimiter: str | None, path: Path, number: int) -> list[str]:
    if '"' not in line:
        if delimiter is None:
            return line.split()
        fields = line.split(delimiter)
    elif delimiter is None:
        fields = [_unquoted(token) for token in _TOKEN.findall(line)]
        if any('"' in (field[:1], field[-1:]) for field in fields):
            raise _wrong_quote(path, number)
        return fields
    else:
        try:
            fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
        except csv.Error:
            raise _wrong_quote(path, number) from None
        # A quote that closes what none has opened; doubled inside a quoted field it is part of the text.
        if line.count('"') % 2:
            raise _wrong_quote(path, number)
    # Blanks of any kind: no-break spaces of copied web pages, tabs beside commas.
    return [field.strip() for field in fields] if _BLANKS[delimiter].search(line) else fields


def _wrong_quote(path: Path, number: int) -> InputError:
    return InputError(
        "a double quote is misplaced or not closed",
        where=f"{path}:{number}",
        remedy="close every double quote on its own line, or take the quotes out",
    )


def _unquoted(token: str) -> str:
    return token[1:-1] if len(token) > 1 and token[0] == token[-1] == '"' else token


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


def _cells(path: Path, lines: Sequence[str], numbers: Sequence[int], width: int, delimiter: str | None) -> Strings:
    """Split the rows at the given lines; (width, rows)."""
    cells = np.empty((width, len(numbers)), dtype=object)
    for start in range(0, len(numbers), _BLOCK):
        rows = []
        for number in numbers[start : start + _BLOCK]:
            fields = _fields(lines[number - 1], delimiter, path, number)
            if len(fields) != width:
                separated = f"{_SEPARATORS[delimiter]}-separated like the first line"
                raise InputError(
                    f"{len(fields)} field(s) found, {width} expected ({separated})",
                    where=f"{path}:{number}",
                    remedy="give every row one field a column, NA where a value is missing",
                )
            rows.append(fields)
        cells[:, start : start + len(rows)] = np.array(rows, dtype=object).T
    return cells


def _check_ids(table: Table) -> None:
    columns = (table.iid,) if table.fid is None else (table.fid, table.iid)
    empty = np.flatnonzero(np.any([ids == "" for ids in columns], axis=0))
    if len(empty):
        where = f"{table.path}:{table.lines[empty[0]]}"
        remedy = "give every row its IDs; the FID is 0 where there is no family"
        raise InputError(f"empty ID ({len(empty)} such row(s))", where=where, remedy=remedy)
    keys: list[tuple[str, ...]] = list(zip(*columns, strict=True))
    if len(set(keys)) == len(keys):
        return
    lines: dict[tuple[str, ...], list[str]] = {}
    for key, line in zip(keys, table.lines, strict=True):
        lines.setdefault(key, []).append(str(line))
    twice = [(" ".join(key), at) for key, at in lines.items() if len(at) > 1]
    named = listed([f"{sample} (lines {listed(at, 5)})" for sample, at in twice], 5)
    problem = f"{len(twice)} sample(s) listed more than once: {named}"
    raise InputError(problem, where=table.path, remedy="keep one row a sample")
