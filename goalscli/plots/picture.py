"""Fit the texts of a genome-wide picture: names of lanes and thresholds, labels of hits, caption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.plots.genome import Lane, bare_name
from goalscli.plots.labels import Crowd, place, spread
from goalscli.plots.style import (
    SMALL,
    add_caption,
    arrange,
    caption_height,
    plural,
    renderer,
    shortened,
    text_width,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Floats = NDArray[np.float64]

_HEADROOM = (0.06, 0.25, 0.5)
"""Room above the values as a share of their range, tried until all labels fit."""

_LEAST_LEADER = 18.0
"""A label nearer to its point than this, in pixels, needs no line to it."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Axes with values along the genome, whose texts are not yet in place.

    Attributes
    ----------
    lanes : tuple of Lane
        To be named below the axis; empty where the axis has positions instead, or where another panel names them.
    thresholds : tuple of (float, Text)
        Height of each line and its name in the right margin.
    labels : tuple of Text
    targets : (K, 2) float64
        The labelled points, in data coordinates.
    points : (n, 2) float64
        All points drawn.
    signed : bool
        Labels of values below zero go below their point.
    low, high : float
        Range of the values to show.
    """

    axes: Axes
    lanes: tuple[Lane, ...]
    thresholds: tuple[tuple[float, Text], ...]
    labels: tuple[Text, ...]
    targets: Floats
    points: Floats
    signed: bool
    low: float
    high: float

    def set_limits(self, headroom: float) -> None:
        """Show the range of values and this share of it above, for labels."""
        span = self.high - self.low
        below = headroom if self._down().any() else 0.06 if self.signed else 0.02
        self.axes.set_ylim(self.low - below * span, self.high + headroom * span)

    def name_lanes(self, figure: Figure) -> None:
        """Name the lanes in one row, those that find no room in a second row, the rest not at all."""
        if not self.lanes:
            return
        names = lane_names([lane.name for lane in self.lanes])
        middle = np.array([(lane.start + lane.stop) / 2 for lane in self.lanes])
        pixels = self.axes.transData.transform(np.column_stack([middle, np.zeros_like(middle)]))[:, 0]
        widths = np.array([text_width(figure, name, SMALL) for name in names])
        upright = float(np.sum(widths)) > 2 * (pixels[-1] - pixels[0]) and len(names) > 1
        size = SMALL * figure.dpi / 72
        taken = np.full(len(names), size) if upright else widths
        row = rows_of_names(pixels, taken, 0.45 * size, 1 if upright else 2)
        for lower in (False, True):
            at = np.flatnonzero(row == int(lower))
            shown = [names[i] for i in at]
            self.axes.set_xticks(middle[at].tolist(), minor=lower)
            self.axes.set_xticklabels(shown, minor=lower, rotation=90 if upright else 0,
                                      va="top" if upright else "baseline")  # fmt: skip
        pad = 4.0 if upright else 4.0 + SMALL
        self.axes.tick_params(axis="x", which="major", length=0, pad=pad)
        self.axes.tick_params(axis="x", which="minor", length=0, pad=pad + 1.2 * SMALL, labelsize=SMALL)

    def spread_thresholds(self, agg: RendererAgg) -> None:
        """Push the names of close thresholds apart, within the height of the axes."""
        if not self.thresholds:
            return
        frame = self.axes.get_window_extent(agg)
        heights = np.array([text.get_window_extent(agg).height for _, text in self.thresholds])
        wanted = np.array([self._pixel_height(height) for height, _ in self.thresholds])
        centres = spread(wanted, heights + 2, frame.y0, frame.y1)
        inverse = self.axes.transAxes.inverted()
        for (_, text), centre in zip(self.thresholds, centres, strict=True):
            text.set_transform(self.axes.transAxes)
            text.set_y(float(inverse.transform((0, centre))[1]))

    def _pixel_height(self, value: float) -> float:
        return float(self.axes.transData.transform((0, value))[1])

    def _down(self) -> NDArray[np.bool_]:
        return self.signed & (self.targets[:, 1] < 0)

    def boxes(self, agg: RendererAgg, crossing: bool) -> Floats:
        """Boxes in pixels for all labels, NaN where there is no room."""
        frame = self.axes.get_window_extent(agg)
        extents = [text.get_window_extent(agg) for text in self.labels]
        sizes = np.array([(box.width, box.height) for box in extents]).reshape(-1, 2)
        bounds = (frame.x0 + 2, frame.y0 + 2, frame.x1 - 2, frame.y1 - 2)
        if not len(sizes):
            return np.empty((0, 4))
        drawn = [self.axes.transData.transform(self.points)]
        for height, _ in self.thresholds:  # keep off the lines as well
            across = np.arange(frame.x0, frame.x1, 4.0)
            drawn.append(np.column_stack([across, np.full(across.size, self._pixel_height(height))]))
        crowd = Crowd.of(np.concatenate(drawn), bounds)
        targets = self.axes.transData.transform(self.targets)
        return place(targets, sizes, self._down(), bounds, crowd, crossing=crossing)

    def put(self, boxes: Floats) -> None:
        """Move the labels to their boxes and draw thin lines to those that are not beside their point."""
        inverse = self.axes.transAxes.inverted()
        at = self.axes.transData.transform(self.targets)
        for text, box, point in zip(self.labels, boxes, at, strict=True):
            if np.isnan(box[0]):
                text.remove()
                continue
            text.set_position(tuple(inverse.transform(box[:2])))
            end = np.clip(point, box[:2], box[2:])
            if np.hypot(*(end - point)) > _LEAST_LEADER:
                xy = inverse.transform(np.stack([point, end]))
                self.axes.plot(*xy.T, color="#707070", linewidth=0.5, zorder=3, transform=self.axes.transAxes)
        placed = self.targets[~np.isnan(boxes[:, 0])]
        self.axes.plot(*placed.T, "o", markersize=4.5, markerfacecolor="none", markeredgecolor="black",
                       markeredgewidth=0.7, zorder=3.5, gid="labelled")  # fmt: skip


def compose(figure: Figure, panels: Sequence[Panel], caption: str) -> None:
    """Fit everything; labels without room are hidden and counted in the caption.

    Parameters
    ----------
    figure : Figure
    panels : sequence of Panel
        From top to bottom.
    caption : str
    """
    agg = renderer(figure)
    tried = [0] * len(panels)
    while True:
        _fit(figure, panels, tried, caption)
        boxes = _boxes(panels, agg, tried)
        more = [np.isnan(box).any() and k + 1 < len(_HEADROOM) for box, k in zip(boxes, tried, strict=True)]
        if not any(more):
            break
        tried = [k + bool(again) for k, again in zip(tried, more, strict=True)]
    if any(np.isnan(box).any() for box in boxes):
        # make room for the sentence, then write it with the count that is left in that room
        _fit(figure, panels, tried, f"{caption} {_apology(boxes)}".strip())
        boxes = _boxes(panels, agg, tried)
        _write_caption(figure, f"{caption} {_apology(boxes)}".strip())
    for panel, box in zip(panels, boxes, strict=True):
        panel.put(box)


def _boxes(panels: Sequence[Panel], agg: RendererAgg, tried: Sequence[int]) -> list[Floats]:
    last = len(_HEADROOM) - 1
    return [panel.boxes(agg, crossing=k == last) for panel, k in zip(panels, tried, strict=True)]


def _write_caption(figure: Figure, caption: str) -> None:
    for text in [text for text in figure.texts if text.get_gid() == "caption"]:
        text.remove()
    add_caption(figure, caption)


def _fit(figure: Figure, panels: Sequence[Panel], tried: Sequence[int], caption: str) -> None:
    """Set the limits, write the caption, and fit the axes and the names beside them."""
    for panel, k in zip(panels, tried, strict=True):
        panel.set_limits(_HEADROOM[k])
    _write_caption(figure, caption)
    bottom = caption_height(figure, caption) / figure.get_figheight()
    for _ in range(2):  # names change the width of the axes, and the width decides which names fit
        for panel in panels:
            panel.name_lanes(figure)
        arrange(figure, bottom)
    for panel in panels:
        panel.spread_thresholds(renderer(figure))


def _apology(boxes: Sequence[Floats]) -> str:
    n = sum(int(np.isnan(box[:, 0]).sum()) for box in boxes)
    return f"{plural(n, 'label')} left out for want of room." if n else ""


def lane_names(names: list[str]) -> list[str]:
    """Names to print: without "chr" unless two names would become the same, long ones shortened."""
    bare = [bare_name(name) for name in names]
    chosen = bare if len(set(bare)) == len(bare) else names
    return shortened(chosen, 18)


def rows_of_names(middle: Floats, width: Floats, space: float, n_rows: int) -> NDArray[np.intp]:
    """Row of each name, from left to right the first row in which it fits, -1 where it fits in none.

    Parameters
    ----------
    middle, width : (L,) float64
        In pixels; middles increase.
    space : float
        Least distance between two names.
    n_rows : int
    """
    row = np.full(middle.size, -1, dtype=np.intp)
    # the last name ("unplaced", if any) is spoken of in the caption: if need be it is given its place first
    for order in (np.arange(middle.size), np.roll(np.arange(middle.size), 1)):
        row[:] = -1
        for i in order:
            near = np.abs(middle - middle[i]) < (width + width[i]) / 2 + space
            free = np.setdiff1d(np.arange(n_rows), row[near])
            if free.size:
                row[i] = free[0]
        if row[-1] >= 0:
            break
    return row
