"""Which peaks along the genome are worth a label. No matplotlib here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from goalscli.plots.coding import Coded, Labels, coded
from goalscli.plots.genome import top_loci

Floats = NDArray[np.float64]

WINDOW = 10_000_000
"""Base pairs around a peak within which a lesser one is taken for its shadow."""

_BINS = 5
"""Stretches of a window in which a valley is looked for: 2 Mb each."""


def distinct_loci(
    chrom: Labels, pos: NDArray[np.int64], value: Floats, k: int, *, called: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Pick the greatest peaks, without what linkage disequilibrium carries of one peak to its surroundings.

    A lesser peak on the chromosome of a greater one is left out

    * within 10 Mb of it, or within a tenth of the longest chromosome where that is less: crosses and outbred stocks
      carry a strong signal that far, and on the axis of a whole genome two labels nearer than that name one spike;
    * farther away, where there is no valley between the two: a stretch of 2 Mb (a fifth of the distance above) whose
      greatest value is less than half way up from the median of all to the lesser peak.

    Parameters
    ----------
    chrom : (J,) object of str, or Coded
    pos : (J,) int64
        Base pairs; a variant at 0 or less has no known position and is a peak of its own.
    value : (J,) float64
        Signed or not; values that are not finite are never picked.
    k : int
        How many to pick at most.
    called : (J,) bool, optional
        Variants that may be picked; all where None.

    Returns
    -------
    (≤ k,) intp
        Indices, greatest absolute value first.
    """
    names = chrom if isinstance(chrom, Coded) else coded(np.asarray(chrom, dtype=object))
    height = np.abs(np.asarray(value, dtype=np.float64))
    height[~np.isfinite(height)] = 0.0
    window = min(WINDOW, _longest(names, pos) // 10)
    eligible = np.flatnonzero(np.isfinite(value) if called is None else np.isfinite(value) & called)
    part = Coded(names.codes[eligible], names.names)
    # not all of these will do
    candidates = eligible[top_loci(part, pos[eligible], height[eligible], 8 * k, window=window)]
    ground = float(np.median(height)) if height.size else 0.0
    picked: list[int] = []
    for i in candidates.tolist():
        if len(picked) == k:
            break
        valley = (ground + height[i]) / 2
        same = [j for j in picked if names.codes[j] == names.codes[i] and pos[j] > 0 < pos[i]]
        if same and window >= _BINS:
            on = np.flatnonzero((names.codes == names.codes[i]) & (pos > 0))
            if not all(_lowest(pos[on], height[on], int(pos[i]), int(pos[j]), window // _BINS) < valley for j in same):
                continue
        picked.append(i)
    return np.array(picked, dtype=np.intp)


def _longest(names: Coded, pos: NDArray[np.int64]) -> int:
    """Greatest distance of two variants of a chromosome."""
    placed = pos > 0
    last = np.zeros(len(names.names), dtype=np.int64)
    np.maximum.at(last, names.codes[placed], pos[placed])
    first = last.copy()
    np.minimum.at(first, names.codes[placed], pos[placed])
    return int((last - first).max(initial=0))


def _lowest(pos: NDArray[np.int64], height: Floats, a: int, b: int, step: int) -> float:
    """Least of the maxima over the stretches between two positions; stretches without variants say nothing."""
    low, high = min(a, b), max(a, b)
    inside = (pos >= low) & (pos <= high)
    stretch = (pos[inside] - low) // step
    greatest = np.full(int(stretch.max(initial=0)) + 1, -1.0)
    np.maximum.at(greatest, stretch, height[inside])
    return float(greatest[greatest >= 0].min(initial=np.inf))
