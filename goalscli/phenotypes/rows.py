"""Lines and fields of text tables, as people really write them."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, Problems

Strings = NDArray[np.object_]
"""One Python ``str`` an entry."""

_BLOCK = 2000  # rows split at a time: the lists of one block are freed before the next
_SEPARATORS = {"\t": "tab", ",": "comma", None: "space"}
_BLANKS = {"\t": re.compile(r"[^\S\t]"), ",": re.compile(r"\s")}
_TOKEN = re.compile(r'"[^"]*"(?!\S)|\S+')


def text_lines(path: str | Path, option: str, remedy: str) -> tuple[Path, str, list[str], list[int]]:
    """Read the path, how messages name it, all lines, and the numbers of those that count."""
    given = f"{option} {path if str(path) and str(path) == str(path).strip() else repr(str(path))}"
    path = Path(path)
    lines = _text(path, given).split("\n")
    numbers = [i for i, line in enumerate(lines, 1) if line.strip().strip(", \t")]
    while numbers and lines[numbers[0] - 1].startswith("##"):
        del numbers[0]
    if not numbers:
        raise InputError("the file is empty", where=given, remedy=remedy)
    return path, given, lines, numbers


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


def separator(line: str) -> str | None:
    """Tab or comma where the line has one, None where any run of spaces and tabs separates."""
    for delimiter in ("\t", ","):
        # IDs hold no spaces, so a space within the first field means that spaces separate here too.
        if delimiter in line and len(line.split(delimiter)[0].split()) <= 1:
            return delimiter
    return None


def split(line: str, delimiter: str | None, path: Path, number: int) -> list[str]:
    """Split one line into fields, without the spaces and double quotes around them.

    Raises
    ------
    InputError
        A double quote is misplaced or not closed.
    """
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


def split_rows(
    path: Path,
    lines: Sequence[str],
    numbers: Sequence[int],
    width: tuple[int, int],
    delimiter: str | None,
    bad: Problems,
    remedy: str = "give every row one field a column, NA where a value is missing",
) -> tuple[Strings, NDArray[np.int64]]:
    """Split the rows at the given lines; rows with fewer or more fields than ``width`` go to ``bad``.

    Returns
    -------
    cells : (width[0], rows) object
    lines : (rows,) int64
        Of the good rows.
    """
    least, most = width
    blocks, good = [], []
    for start in range(0, len(numbers), _BLOCK):
        rows = []
        for number in numbers[start : start + _BLOCK]:
            try:
                fields = split(lines[number - 1], delimiter, path, number)
                if not least <= len(fields) <= most:
                    separated = f"{_SEPARATORS[delimiter]}-separated like the first line"
                    problem = f"{len(fields)} field(s) found, {least} expected ({separated})"
                    raise InputError(problem, where=f"{path}:{number}", remedy=remedy)
            except InputError as error:
                bad.add([error])
            else:
                rows.append(fields[:least])
                good.append(number)
        if rows:
            blocks.append(np.array(rows, dtype=object).T)
    cells = np.concatenate(blocks, axis=1) if blocks else np.empty((least, 0), dtype=object)
    return cells, np.array(good, dtype=np.int64)
