"""Points of equal value beside each other: places across an axis, the same each time. No matplotlib here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def stacked(values: Floats, diameter: float, room: float) -> Floats:
    """Stack points whose values fall into one bin, symmetrically about the middle.

    Parameters
    ----------
    values : (n,) float64
        Finite.
    diameter : float
        Of a point, in the units of the values: the width of a bin.
    room : float
        Most distance between the middles of the outermost points of a stack, in diameters. Where the greatest stack
        needs more, all are pressed together alike, and points overlap.

    Returns
    -------
    (n,) float64
        Shifts across the axis, in diameters.
    """
    if not values.size:
        return np.empty(0)
    low = values.min()
    bins = np.zeros(values.size) if diameter <= 0 else np.floor((values - low) / diameter)
    _, codes, counts = np.unique(bins, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    rank = np.empty(values.size)
    rank[order] = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    step = min(1.0, room / max(int(counts.max()) - 1, 1))
    return np.asarray((rank - (counts[codes] - 1) / 2) * step, dtype=np.float64)
