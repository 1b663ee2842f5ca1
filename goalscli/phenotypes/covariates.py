"""Covariates as a matrix of full column rank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.phenotypes.tables import Strings

Array = NDArray[np.float64]

INTERCEPT = "intercept"
"""Name of the column of ones."""

_TOLERANCE = 1e-8  # of a column's own length: a smaller residual means that earlier columns determine it
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class Covariate:
    """One covariate of n samples.

    Attributes
    ----------
    name : str
    values : (n,) float64, or (n,) object of str where categorical
        NaN or None where missing.
    categorical : bool
    """

    name: str
    values: Array | Strings
    categorical: bool

    @property
    def present(self) -> NDArray[np.bool_]:
        """(n,) True where not missing."""
        if self.categorical:
            return np.array([value is not None for value in self.values], dtype=np.bool_)
        return ~np.isnan(self.values.astype(np.float64))

    def take(self, rows: NDArray[np.intp]) -> Covariate:
        """Return the covariate of the given samples."""
        return Covariate(self.name, self.values[rows], self.categorical)


@dataclass(frozen=True)
class Covariates:
    """The fixed part of a model.

    Attributes
    ----------
    matrix : (n, q) float64
        Linearly independent columns.
    names : tuple of str
        Of the q columns; ``NAME=LEVEL`` for a level of a categorical covariate.
    dropped : tuple of str
        Columns left out because earlier ones determine them, constant covariates among them.
    """

    matrix: Array
    names: tuple[str, ...]
    dropped: tuple[str, ...]


def covariate_matrix(columns: Sequence[Covariate], intercept: bool, *, n: int | None = None) -> Covariates:
    """Build the matrix of covariates.

    A categorical covariate gives one 0/1 column for each level but the first, in natural order (2 before 10).
    With an intercept, numeric columns are centred and scaled to unit sd (divisor n - 1), which leaves the
    column space as it is; without one they stay as they are. A column that earlier ones determine, intercept
    first, is dropped.

    Parameters
    ----------
    columns : sequence of Covariate
        Of the analysed samples, nothing missing.
    intercept : bool
        Begin with a column of ones.
    n : int, optional
        Number of samples; needed where ``columns`` is empty.

    Returns
    -------
    Covariates

    Raises
    ------
    InputError
        A covariate has missing or infinite values, or there are as many independent columns as samples.
    ValueError
        The number of samples is unknown, or covariates differ in length.
    """
    lengths = {len(c.values) for c in columns} | (set() if n is None else {n})
    if len(lengths) != 1:
        raise ValueError(f"number of samples is unclear: {sorted(lengths) or 'no covariates and no n'}")
    n = lengths.pop()
    wanted = _wanted(columns, intercept, n)
    basis = np.empty((n, min(n, len(wanted))), order="F")
    kept: list[tuple[str, Array]] = []
    dropped: list[str] = []
    for name, column, tolerance in wanted:
        direction = _residual(column, basis[:, : len(kept)], tolerance)
        if direction is None:
            dropped.append(name)
            continue
        if len(kept) + 1 >= n:
            raise _too_many(f"{len(wanted) - intercept} covariate column(s)", intercept, n)
        basis[:, len(kept)] = direction
        kept.append((name, column))
    matrix = np.column_stack([column for _, column in kept]) if kept else np.empty((n, 0))
    return Covariates(matrix, tuple(name for name, _ in kept), tuple(dropped))


def _wanted(columns: Sequence[Covariate], intercept: bool, n: int) -> list[tuple[str, Array, float]]:
    """Name, values and tolerance of each column asked for, in order."""
    wanted = [(INTERCEPT, np.ones(n), _TOLERANCE)] if intercept else []
    for covariate in columns:
        where = f"covariate {covariate.name}"
        if not covariate.present.all():
            remedy = "leave out the samples that lack it"
            raise InputError("missing values among the analysed samples", where=where, remedy=remedy)
        if covariate.categorical:
            wanted += _indicators(covariate, intercept)
            continue
        values = covariate.values.astype(np.float64)
        if not np.isfinite(values).all():
            raise InputError("infinite values", where=where, remedy="give finite numbers")
        wanted.append((covariate.name, *(_scaled(values) if intercept else (values, _TOLERANCE))))
    return wanted


def _indicators(covariate: Covariate, intercept: bool) -> list[tuple[str, Array, float]]:
    n = len(covariate.values)
    levels = sorted(set(covariate.values), key=_natural)
    if len(levels) - 1 + intercept >= n > 0:
        raise _too_many(f"covariate {covariate.name} with {len(levels)} level(s)", intercept, n)
    if len(levels) < 2:
        return [(covariate.name, np.zeros(n), _TOLERANCE)]  # constant: dropped by its name
    return [
        (f"{covariate.name}={level}", np.asarray(covariate.values == level, dtype=np.float64), _TOLERANCE)
        for level in levels[1:]
    ]


def _scaled(values: Array) -> tuple[Array, float]:
    """Centre and scale to unit sd; with it the tolerance, wider where rounding of the raw values shows."""
    largest = np.abs(values).max(initial=0.0)
    if largest == 0:
        return values, _TOLERANCE
    values = values / largest  # squares can no longer overflow
    values -= values.mean()
    sd = float(np.sqrt(values @ values / max(len(values) - 1, 1)))
    if sd == 0:
        return values, _TOLERANCE
    return values / sd, max(_TOLERANCE, 4 * float(np.finfo(np.float64).eps) / sd)


def _residual(column: Array, basis: Array, tolerance: float) -> Array | None:
    """Unit vector of what the orthonormal basis leaves of a column; None where that is nothing."""
    largest = np.abs(column).max(initial=0.0)
    if largest == 0:
        return None
    residual = column / largest
    residual /= np.linalg.norm(residual)
    for _ in range(2):  # once is not orthogonal to rounding where little is left
        residual = residual - basis @ (basis.T @ residual)
    length = float(np.linalg.norm(residual))
    return residual / length if length > tolerance else None


def _natural(level: str) -> tuple[list[tuple[int, int, str]], str]:
    """Sort key that puts 2 before 10, numbers before words; the text itself decides between 1 and 01."""
    parts = [part for part in _DIGITS.split(level) if part]
    return [(0, int(part), "") if _DIGITS.fullmatch(part) else (1, 0, part) for part in parts], level


def _too_many(what: str, intercept: bool, n: int) -> InputError:
    return InputError(
        f"{what}{' and the intercept' if intercept else ''} for {n} samples leave nothing to explain",
        where="--covar",
        remedy="use fewer covariates than samples",
    )
