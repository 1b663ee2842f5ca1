"""Means over samples with their intervals, and how two columns go together. No matplotlib here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_DISTINCT = 12
"""Columns of at most so many different numbers (age in weeks) are taken value by value."""

_BINS, _LEAST = 20, 20
"""Most bins of other columns, and the least samples for each."""


def interval_of_mean(values: Floats) -> tuple[float, float]:
    """Mean, and half the width of its 95 % interval by Student's t, samples taken as independent; NaN below two."""
    from scipy.special import stdtrit

    n = values.size
    if n < 2:
        return float(values.mean()) if n else np.nan, np.nan
    return float(values.mean()), float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n))


@dataclass(frozen=True, eq=False)
class Running:
    """Means of y along x, K bins: all (K,) float64; half is NaN for a bin of one sample."""

    x: Floats
    mean: Floats
    half: Floats


def running_means(x: Floats, y: Floats) -> Running:
    """Take means of y over bins of x that hold about as many samples each; equal x are never parted.

    Parameters
    ----------
    x, y : (n,) float64

    Returns
    -------
    Running
        A bin for each value of x where there are at most 12; else up to 20 bins of 20 samples or more, ties apart.
    """
    distinct, codes = np.unique(x, return_inverse=True)
    if distinct.size > _DISTINCT:
        n_bins = min(_BINS, max(1, x.size // _LEAST))
        below = np.searchsorted(np.sort(x), x, side="left")  # how many are less
        codes = np.unique(below * n_bins // x.size, return_inverse=True)[1]
    found = [interval_of_mean(y[codes == k]) for k in range(int(codes.max(initial=-1)) + 1)]
    middle = np.array([x[codes == k].mean() for k in range(len(found))])
    return Running(middle, np.array([m for m, _ in found]), np.array([h for _, h in found]))


def correlation(x: Floats, y: Floats) -> float | None:
    """Pearson's r; None where a column does not vary."""
    scaled = []
    for values in (x, y):
        largest = float(np.abs(values).max(initial=0.0))
        if not largest:
            return None
        centred = values / largest - np.mean(values / largest)
        length = float(np.sqrt(centred @ centred))
        if length <= 1e-14 * np.sqrt(values.size):
            return None
        scaled.append(centred / length)
    return float(np.clip(scaled[0] @ scaled[1], -1, 1))
