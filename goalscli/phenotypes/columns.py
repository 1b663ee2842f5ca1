"""Columns of a table as numbers or categories, and which columns a list of names means."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import LISTED, InputError, Problems, SettingsError
from goalscli.phenotypes.tables import HEADERS, Strings, Table, listed

_MISSING = frozenset({"na", "nan", ".", ""})
_RANGE = re.compile(r"(.*?)([0-9]+)-(.*?)([0-9]+)")


@dataclass(frozen=True)
class Missing:
    """What is read as missing beside NA, NaN (in any case), "." and empty.

    Attributes
    ----------
    code : str, optional
        A number, compared as a number (-9 is also -9.0); None where there is no such code.

    Raises
    ------
    SettingsError
        The code is not a number.
    """

    code: str | None = "-9"

    def __post_init__(self) -> None:
        # A code such as NA is missing anyway.
        if self.code is not None and self.code.casefold() not in _MISSING and math.isnan(self.value):
            problem = f"{self.code!r} is not a number"
            raise SettingsError(problem, where="--missing-code", remedy="give a number, or none")

    @property
    def value(self) -> float:
        """The code as a number; NaN without one."""
        return math.nan if self.code is None else _number(self.code)


@dataclass(frozen=True)
class NumericColumn:
    """A column as numbers.

    Attributes
    ----------
    values : (n,) float64
        NaN where missing.
    n_code : int
        How many of them are missing by the extra code.
    """

    values: NDArray[np.float64]
    n_code: int


def numeric(table: Table, name: str, missing: Missing) -> NumericColumn:
    """Read a column as numbers.

    Raises
    ------
    InputError
        No such column, or a cell that is neither missing nor a finite number (its line is named).
    """
    cells = _column(table, name)
    present = np.flatnonzero(_present(cells))
    numbers = np.fromiter(map(_number, cells[present]), dtype=np.float64, count=len(present))
    bad = present[np.isnan(numbers)]
    problems = Problems(LISTED)
    # Where no cell is a number the column is of words: once is enough.
    for k in bad if len(bad) < len(present) else bad[:1]:
        more = f" ({len(bad)} such cells in the column)" if len(bad) > 1 else ""
        remedy = "write a finite number with a decimal point, or NA where missing"
        if k == 0:
            remedy += f"; if this line is the header, begin it with {HEADERS}"
        problem = f"{cells[k]!r} in column {name} is not a number{more}"
        problems.add([InputError(problem, where=f"{table.path}:{table.lines[k]}", remedy=remedy)])
    problems.raise_any(table.path)
    coded = numbers == missing.value
    values = np.full(len(cells), np.nan)
    values[present] = np.where(coded, np.nan, numbers)
    return NumericColumn(values, int(np.count_nonzero(coded)))


def categorical(table: Table, name: str, missing: Missing) -> Strings:
    """Read a column as categories.

    Returns
    -------
    (n,) object
        Cells as written, None where missing.

    Raises
    ------
    InputError
        No such column.
    """
    cells = _column(table, name)
    levels = np.array([None if _number(cell) == missing.value else cell for cell in cells], dtype=object)
    levels[~_present(cells)] = None
    return levels


def has_numbers(table: Table, name: str, missing: Missing) -> bool:
    """Whether a column has a number beside the missing code, or nothing at all; one of words has words alone.

    Raises
    ------
    InputError
        No such column.
    """
    cells = _column(table, name)
    numbers = [number for number in map(_number, cells[_present(cells)]) if number != missing.value]
    return not numbers or not all(map(math.isnan, numbers))


def select_columns(table: Table, spec: str) -> list[str]:
    """Names of the columns that a list such as "age,PC1-PC10,SEX" means.

    A column that has exactly the name written wins; otherwise ``PC1-PC10`` stands for PC1, PC2, ... PC10.

    Returns
    -------
    list of str
        In the order of the list, each name once.

    Raises
    ------
    InputError
        A name that the table does not have, or an empty one.
    """
    names = [name for item in spec.split(",") for name in _expand(table, item.strip())]
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise _no_column(table, unknown)
    return list(dict.fromkeys(names))


def _expand(table: Table, item: str) -> list[str]:
    match = _RANGE.fullmatch(item)
    if item in table.columns or match is None or match[1] != match[3]:
        return [item]
    prefix, first, last = match[1], match[2], match[4]
    if int(first) > int(last):
        remedy = f"write {prefix}{last}-{prefix}{first}"
        raise InputError(f"the range {item} runs backwards", where=table.path, remedy=remedy)
    # PC01-PC10 keeps its zeros. A range longer than the table has an unknown name among those looked at.
    numbers = islice(range(int(first), int(last) + 1), len(table.columns) + 1)
    return [f"{prefix}{number:0{len(first)}d}" for number in numbers]


def _column(table: Table, name: str) -> Strings:
    if name not in table.columns:
        raise _no_column(table, [name])
    return table.columns[name]


def _no_column(table: Table, unknown: list[str]) -> InputError:
    have = list(table.columns)
    remedy = f"its columns are: {listed(have, 20) or 'none beside the IDs'}"
    if have == [f"V{i}" for i in range(1, len(have) + 1)]:
        remedy += f" (no header was found; one begins with {HEADERS})"
    problem = f"no column {listed([repr(name) for name in unknown], 5)}"
    return InputError(problem, where=table.path, remedy=remedy)


def _present(cells: Strings) -> NDArray[np.bool_]:
    return np.fromiter((cell.casefold() not in _MISSING for cell in cells), dtype=np.bool_, count=len(cells))


def _number(text: str) -> float:
    """NaN unless the text is a finite number; unlike ``float``, 1_000 and digits of other scripts are none."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) and "_" not in text and text.isascii() else math.nan
