"""Places for labels beside points so that no label covers another: boxes in pixels, no matplotlib."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PAD = 3.0
"""Least distance in pixels between two labels."""

MOST = 60
"""More labels than this are not tried: the picture could not be read."""

_SHORT_LIST = 400
_PEAK_GAP, _COLUMN_GAP, _COLUMN_FROM = 25.0, 24.0, 4
_CROWDED = 0.4
"""A label does not stay in its column where more of its box than this is covered by points."""
_SHIFTS = np.concatenate([np.linspace(-8, -2, 25)[:-1], np.linspace(-2, 2, 33), np.linspace(2, 8, 25)[1:]])


@dataclass(frozen=True, eq=False)
class Crowd:
    """Where points are drawn, on a grid of square cells, as a table of cumulative counts."""

    counts: Floats
    origin: tuple[float, float]
    cell: float

    @classmethod
    def of(cls, points: Floats, bounds: tuple[float, float, float, float], cell: float = 6.0) -> Crowd:
        """Mark the cells of `bounds` (x0, y0, x1, y1) that hold any of the points (n, 2)."""
        x0, y0, x1, y1 = bounds
        shape = max(1, int((x1 - x0) / cell)), max(1, int((y1 - y0) / cell))
        i = np.clip(((points[:, 0] - x0) / cell).astype(np.intp), 0, shape[0] - 1)
        j = np.clip(((points[:, 1] - y0) / cell).astype(np.intp), 0, shape[1] - 1)
        taken = np.zeros((shape[0] + 1, shape[1] + 1))
        taken[i + 1, j + 1] = 1.0
        return cls(taken.cumsum(axis=0).cumsum(axis=1), (x0, y0), cell)

    def covered(self, boxes: Floats) -> Floats:
        """Share of each box's (n, 4) cells that hold points."""
        n, m = self.counts.shape
        i0, i1 = (np.clip((boxes[:, k] - self.origin[0]) // self.cell + s, 0, n - 1).astype(np.intp)
                  for k, s in ((0, 0), (2, 1)))  # fmt: skip
        j0, j1 = (np.clip((boxes[:, k] - self.origin[1]) // self.cell + s, 0, m - 1).astype(np.intp)
                  for k, s in ((1, 0), (3, 1)))  # fmt: skip
        inside = self.counts[i1, j1] - self.counts[i0, j1] - self.counts[i1, j0] + self.counts[i0, j0]
        return np.asarray(inside / np.maximum((i1 - i0) * (j1 - j0), 1), dtype=np.float64)


def _overlap(boxes: Floats, others: Floats, pad: float) -> NDArray[np.bool_]:
    """Tell which boxes (n, 4) come nearer than `pad` to which of the others (m, 4)."""
    a, b = boxes[:, None, :], others[None, :, :]
    apart = (a[..., 0] >= b[..., 2] + pad) | (a[..., 2] <= b[..., 0] - pad)
    apart |= (a[..., 1] >= b[..., 3] + pad) | (a[..., 3] <= b[..., 1] - pad)
    return np.asarray(~apart)


def _near_end(boxes: Floats, point: Floats) -> Floats:
    """Point of each box (n, 4) nearest to the labelled point: where its leader ends."""
    return np.clip(point, boxes[:, :2], boxes[:, 2:])


def _candidates(point: Floats, size: Floats, down: bool, bounds: Floats) -> Floats:
    """All boxes tried for one label, (n, 4), above the point or below it, and beside it."""
    width, height = size
    gap = 7.0
    shift = _SHIFTS * max(width, 2 * height)
    left = np.unique(np.clip(point[0] - width / 2 + shift, bounds[0], bounds[2] - width))
    left = left[left >= bounds[0]]  # none where the label is wider than the picture
    rise = np.arange(-height - gap, bounds[3] - bounds[1], height / 2)
    rise = np.union1d(rise, [0.0])  # just above or below the point
    bottom = point[1] - gap - height - rise if down else point[1] + gap + rise
    bottom = bottom[(bottom >= bounds[1]) & (bottom + height <= bounds[3])]
    x, y = (grid.ravel() for grid in np.meshgrid(left, bottom, indexing="ij"))
    return np.stack([x, y, x + width, y + height], axis=1)


def spread(wanted: Floats, height: Floats, low: float, high: float) -> Floats:
    """Return centres near those wanted at which boxes of these heights do not overlap, inside the limits."""
    order = np.argsort(wanted, kind="stable")
    centre = wanted.astype(np.float64).copy()
    edge = low
    for i in order:
        centre[i] = max(centre[i], edge + height[i] / 2)
        edge = centre[i] + height[i] / 2
    edge = high
    for i in order[::-1]:
        centre[i] = min(centre[i], edge - height[i] / 2)
        edge = centre[i] - height[i] / 2
    return centre


def _columns(points: Floats, sizes: Floats, down: NDArray[np.bool_], bounds: Floats) -> Floats:
    """Boxes (K, 4) in columns left and right of each peak with four labels or more, NaN for other labels.

    In a column the labels stand in the order of their points, pushed away from zero, so that no two of their
    lines cross.
    """
    result = np.full((len(points), 4), np.nan)
    for flag, sign in ((False, 1.0), (True, -1.0)):
        chosen = np.flatnonzero(down == flag)
        chosen = chosen[np.argsort(points[chosen, 0], kind="stable")]
        peaks = np.split(chosen, np.flatnonzero(np.diff(points[chosen, 0]) > _PEAK_GAP) + 1)
        far_edge = bounds[3] if sign > 0 else -bounds[1]
        for peak in (peak for peak in peaks if len(peak) >= _COLUMN_FROM):
            peak = peak[np.argsort(-sign * points[peak, 1], kind="stable")]
            x0, x1 = points[peak, 0].min() - _COLUMN_GAP, points[peak, 0].max() + _COLUMN_GAP
            columns: tuple[list[int], list[int]] = [], []
            for i in peak:  # to the side with fewer labels, if the label fits there
                fits = x0 - sizes[i, 0] >= bounds[0], x1 + sizes[i, 0] <= bounds[2]
                if any(fits):
                    fewer = len(columns[0]) >= len(columns[1])
                    columns[int(fewer if all(fits) else fits[1])].append(int(i))
            for right, column in enumerate(columns):
                if not column:
                    continue
                width, height = sizes[column].T
                level = sign * points[column, 1]
                centre = sign * spread(level, height + PAD, float(level.min() - height.max()), far_edge)
                left = np.full(len(column), x1) if right else x0 - width
                low = centre - height / 2
                result[column] = np.stack([left, low, left + width, low + height], axis=1)
    return result


def place(
    points: Floats,
    sizes: Floats,
    down: NDArray[np.bool_],
    bounds: tuple[float, float, float, float],
    crowd: Crowd,
    *,
    crossing: bool,
) -> Floats:
    """Find a box for each label, the first ones first.

    Parameters
    ----------
    points : (K, 2) float64
        Labelled points in pixels, most important first.
    sizes : (K, 2) float64
        Widths and heights of the labels.
    down : (K,) bool
        Whether the label goes below its point.
    bounds : x0, y0, x1, y1
        No label leaves this box.
    crowd : Crowd
        Labels keep away from crowded places where they can.
    crossing : bool
        Whether the line from a label to its point may pass below another label if need be.

    Returns
    -------
    (K, 4) float64
        x0, y0, x1, y1 of each label; NaN where there is no room left, and beyond the first 60.
    """
    edge = np.asarray(bounds, dtype=np.float64)
    points, sizes = points[:MOST], sizes[:MOST]
    markers = np.concatenate([points - 4, points + 4], axis=1)
    result = np.full((len(down), 4), np.nan)
    leaders = np.full((len(points), 4), np.nan)
    for i, box in enumerate(_columns(points, sizes, down[:MOST], edge)):
        inside = bool((box[:2] >= edge[:2]).all() and (box[2:] <= edge[2:]).all())
        others = np.concatenate([result[:i][~np.isnan(leaders[:i, 0])], markers])
        if inside and crowd.covered(box[None])[0] <= _CROWDED and not _overlap(box[None], others, 1.0).any():
            result[i], leaders[i] = box, np.concatenate([points[i], _near_end(box[None], points[i])[0]])
    for i in np.flatnonzero(np.isnan(leaders[:, 0])).tolist():
        done = ~np.isnan(leaders[:, 0])
        boxes = _candidates(points[i], sizes[i], bool(down[i]), edge)
        boxes = boxes[~_overlap(boxes, result[: len(points)][done], PAD).any(axis=1)]
        boxes = boxes[~_overlap(boxes, markers, 1.0).any(axis=1)]
        best = _best(i, boxes, points, result[: len(points)][done], leaders[done], crowd, crossing)
        if best is not None:
            result[i], leaders[i] = best[0], best[1]
    return result


def _best(
    i: int, boxes: Floats, points: Floats, taken: Floats, leaders: Floats, crowd: Crowd, crossing: bool
) -> tuple[Floats, Floats] | None:
    """Choose among the free boxes (n, 4) for label i; return the box and its line, None if none will do."""
    point, height = points[i], boxes[:, 3] - boxes[:, 1]
    leader = np.concatenate([np.broadcast_to(point, (len(boxes), 2)), _near_end(boxes, point)], axis=1)
    through = _passes(leader, taken).sum(axis=1) + _passes(leaders, boxes).sum(axis=0)
    cost = np.hypot(leader[:, 2] - leader[:, 0], leader[:, 3] - leader[:, 1])
    cost += 0.15 * np.abs(boxes[:, [0, 2]].mean(axis=1) - point[0])
    cost += height * (12 * crowd.covered(boxes) + 10 * through)
    if not crossing:
        cost[through > 0] = np.inf
    near = np.argsort(cost, kind="stable")[:_SHORT_LIST]
    if not near.size or not np.isfinite(cost[near[0]]):
        return None
    other = np.delete(points, i, axis=0)
    markers = np.concatenate([other - 4, other + 4], axis=1)
    muddle = _crossings(leader[near], leaders) + _passes(leader[near], markers).sum(axis=1)
    best = near[int(np.argmin(cost[near] + 3 * height[near] * muddle))]
    return boxes[best], leader[best]


def _passes(leaders: Floats, boxes: Floats) -> NDArray[np.bool_]:
    """Tell which leaders (n, 4) run through which boxes (m, 4)."""
    start, step = leaders[:, None, :2], leaders[:, None, 2:] - leaders[:, None, :2]
    step = np.where(np.abs(step) < 1e-9, 1e-9, step)
    low, high = (boxes[None, :, :2] - 1 - start) / step, (boxes[None, :, 2:] + 1 - start) / step
    enters = np.minimum(low, high).max(axis=2)
    leaves = np.maximum(low, high).min(axis=2)
    return np.asarray((enters <= leaves) & (leaves >= 0) & (enters <= 1))


def _crossings(lines: Floats, others: Floats) -> Floats:
    """Count the other lines (m, 4) that each line (n, 4), from (x0, y0) to (x1, y1), crosses."""

    def side(of: Floats, x: Floats, y: Floats) -> Floats:
        x0, y0, x1, y1 = of
        return np.asarray(np.sign((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)), dtype=np.float64)

    a, b = lines.T[:, :, None], others.T[:, None, :]
    crossed = side(b, a[0], a[1]) * side(b, a[2], a[3]) < 0
    crossed &= side(a, b[0], b[1]) * side(a, b[2], b[3]) < 0
    return np.asarray(crossed.sum(axis=1), dtype=np.float64)
