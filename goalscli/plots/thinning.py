"""Fewer points for the same picture, where there are more than a browser can carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CELLS = (1600, 500)
"""Columns and rows of cells to begin with: about the pixels of a picture."""


@dataclass(frozen=True, eq=False)
class Thinned:
    """Which points to draw.

    Attributes
    ----------
    rows : (n,) intp
        Ascending.
    n_top : int
        Points kept for their value alone; all where none is left out.
    height : float
        Every point beyond this, by absolute value, is kept; 0 where none is left out.
    cells : (int, int)
        Columns and rows of the cells that have one point each of the others.
    """

    rows: NDArray[np.intp]
    n_top: int
    height: float
    cells: tuple[int, int]


def thin(x: Floats, value: Floats, *, beyond: float = np.inf, most: int = 80_000, n_top: int = 20_000) -> Thinned:
    """Choose at most ``most`` points: those of greatest absolute value, and of the others one a cell of the picture.

    The one kept in a cell is that of the greatest absolute value, ties in file order: the same points every time.

    Parameters
    ----------
    x, value : (J,) float64
        Finite.
    beyond : float
        All points of a greater absolute value are kept, as far as ``most`` allows with room for a quarter of others.
    most, n_top : int
        Points in all, and at least so many for their value alone.

    Returns
    -------
    Thinned
    """
    if value.size <= most:
        return Thinned(np.arange(value.size), value.size, 0.0, (0, 0))
    magnitude = np.abs(value)
    order = np.argsort(-magnitude, kind="stable")
    n_top = min(max(n_top, int((magnitude > beyond).sum())), most * 3 // 4)
    rest, shrink = order[n_top:], 1.0
    while True:
        columns, rows = (max(1, int(count / shrink)) for count in CELLS)
        cell = _index(x, columns)[rest] * rows + _index(value, rows)[rest]
        first = np.unique(cell, return_index=True)[1]
        if n_top + first.size <= most:
            break
        shrink *= 1.25
    kept = np.sort(np.concatenate([order[:n_top], rest[first]]))
    return Thinned(kept, n_top, float(magnitude[order[n_top]]), (columns, rows))


def _index(values: Floats, count: int) -> NDArray[np.int64]:
    """Cell of each value along one direction."""
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return np.zeros(values.size, dtype=np.int64)
    # Halved, since the difference of two huge values is beyond a float.
    share = (values / 2 - low / 2) / (high / 2 - low / 2)
    return np.minimum((share * count).astype(np.int64), count - 1)
