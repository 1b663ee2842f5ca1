"""Local effects of a variant by group of samples: cages, families, environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.effects import add_percent_axis
from goalscli.plots.style import (
    BLUE,
    HUGE,
    LARGE,
    NORMAL,
    SMALL,
    VERMILION,
    add_caption,
    add_heading,
    arrange,
    caption_height,
    drawable,
    name_y_axis,
    new_figure,
    shortened,
    styled,
    text_width,
    value_limits,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_ROW_HEIGHT = 3.8
"""Height in inches of a panel with all its texts, unless they need more."""

_LEAST_HEIGHT = 2.3
"""Least height in inches of the axes of one panel."""

_GOLDEN = 0.6180339887498949
_HALF = 0.31
"""Half the width of a box; the places of two groups are 1 apart."""

_BETWEEN = 1.2
"""Empty places between the block of least and that of greatest means."""


@dataclass(frozen=True, eq=False)
class GroupBox:
    """One group: its label and the local effects of its samples, (n,) float64."""

    label: str
    values: Floats


@dataclass(frozen=True, eq=False)
class LocalPanel:
    """One variant.

    Attributes
    ----------
    title : str
        ID, position and alleles.
    groups : tuple of GroupBox
        From left to right.
    n_lowest : int
        The first so many groups are those with the least means, the rest those with the greatest.
    overall_mean : float
        Mean over all samples, shown or not.
    caption : str
        Written below the panel.
    y_label : str
        What the values are, with their unit.
    complete : bool
        These are all the groups there are: they are not told apart as least and greatest.
    """

    title: str
    groups: tuple[GroupBox, ...]
    n_lowest: int
    overall_mean: float
    caption: str = ""
    y_label: str = "local effect of one more a1 (trait sd)"
    complete: bool = False

    @property
    def blocks(self) -> tuple[tuple[slice, str, str], ...]:
        """Groups that stand together, the words above them, and their colour."""
        if self.complete:
            return ((slice(None), "all groups, by mean", BLUE),)
        parts = (
            (slice(None, self.n_lowest), "least mean", BLUE),
            (slice(self.n_lowest, None), "greatest mean", VERMILION),
        )
        return tuple(part for part in parts if self.groups[part[0]])


def local(panels: Sequence[LocalPanel], *, title: str | None = None, caption: str | None = None) -> Figure:
    """Draw local effects by group, a panel per variant.

    Each group has a box (median, quartiles, whiskers to the last value within 1.5 interquartile ranges), a
    point per sample, and its size below its label. Values that are not finite are counted in the panel's
    caption.

    Parameters
    ----------
    panels : sequence of LocalPanel
        One above the other; in two columns when there are more than three and they are narrow.
    title, caption : str, optional

    Returns
    -------
    Figure

    Raises
    ------
    SettingsError
        When there is no panel, a panel has no group, `n_lowest` is not a count of its groups, or its overall
        mean is not finite.
    """
    _check(panels)
    widest = max(len(panel.groups) for panel in panels)
    n_columns = 2 if len(panels) > 3 and widest <= 24 else 1
    n_rows = -(-len(panels) // n_columns)
    with styled():
        width = 10.0 if n_columns == 1 else 13.0
        figure = new_figure(width, _ROW_HEIGHT * n_rows)
        if title:
            add_heading(figure, title)
        grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for axes in grid[len(panels) :]:
            axes.remove()
        grid = grid[: len(panels)]
        for axes, panel in zip(grid, panels, strict=True):
            _draw_panel(figure, axes, panel)
        arrange(figure, 0)
        for axes, panel in zip(grid, panels, strict=True):
            _write_texts(figure, axes, panel)
        height = _height(figure, grid.tolist(), n_rows)
        below = caption_height(figure, caption or "")
        figure.set_size_inches(width, height + below)
        add_caption(figure, caption or "")
        arrange(figure, below / (height + below))
    return figure


def _check(panels: Sequence[LocalPanel]) -> None:
    if not panels:
        raise SettingsError("no variants to draw", remedy="name variants that have local scores")
    for panel in panels:
        if not panel.groups:
            raise SettingsError("no groups to draw", where=panel.title, remedy="lower the least group size")
        if not 0 <= panel.n_lowest <= len(panel.groups):
            raise SettingsError(f"{panel.n_lowest} lowest of {len(panel.groups)} groups", where=panel.title)
        if not abs(panel.overall_mean) <= HUGE:
            raise SettingsError("the overall mean is not finite", where=panel.title)


def _height(figure: Figure, grid: list[Axes], n_rows: int) -> float:
    """Height in inches at which long labels and captions do not eat the boxes."""
    texts = [text for axes in grid for text in (*axes.get_xticklabels(), axes.xaxis.label)]
    roomy = n_rows * (_ROW_HEIGHT + 2 * max(text.get_window_extent().height for text in texts) / figure.dpi)
    figure.set_figheight(roomy)
    arrange(figure, 0)
    around = roomy / n_rows - min(axes.get_window_extent().height for axes in grid) / figure.dpi
    return n_rows * max(_ROW_HEIGHT, around + _LEAST_HEIGHT)


def _places(panel: LocalPanel) -> Floats:
    """Horizontal place of each group, with the gap between the two blocks."""
    place = np.arange(len(panel.groups), dtype=np.float64)
    if panel.n_lowest > 0 and not panel.complete:
        place[panel.n_lowest :] += _BETWEEN
    return place


def _jitter(n: int) -> Floats:
    """Horizontal shifts, evenly spread and the same each time: multiples of the golden ratio modulo one."""
    return np.asarray(((np.arange(1, n + 1) * _GOLDEN) % 1.0 - 0.5) * 0.5, dtype=np.float64)


def _draw_boxes(axes: Axes, place: Floats, groups: list[Floats], colour: str) -> None:
    """Draw a box per group; by hand, because ``Axes.bxp`` imports pyplot on its way."""
    from matplotlib.cbook import boxplot_stats

    filled = [i for i, values in enumerate(groups) if values.size]
    if not filled:
        return
    stats = boxplot_stats([groups[i] for i in filled], whis=1.5)
    names = ("whislo", "q1", "med", "q3", "whishi")
    low, q1, median, q3, high = (np.array([box[name] for box in stats]) for name in names)
    x = place[filled]
    axes.bar(x, q3 - q1, 2 * _HALF, q1, facecolor=colour + "26", edgecolor=colour, linewidth=0.9, zorder=2)
    axes.vlines(np.tile(x, 2), np.append(low, q3), np.append(q1, high), colour, linewidth=0.9, zorder=2)
    caps = np.append(low, high)
    axes.hlines(caps, np.tile(x - _HALF / 2, 2), np.tile(x + _HALF / 2, 2), colour, linewidth=0.9, zorder=2)
    axes.hlines(median, x - _HALF, x + _HALF, colour, linewidth=2.0, zorder=2.1)


def _draw_panel(figure: Figure, axes: Axes, panel: LocalPanel) -> None:
    """Draw boxes, points and lines, and set the limits."""
    place = _places(panel)
    kept = [values[drawable(values)[0]] for values in (np.asarray(box.values, float) for box in panel.groups)]
    n_all = sum(values.size for values in kept)
    for block, _, colour in panel.blocks:
        _draw_boxes(axes, place[block], kept[block], colour)
        for middle, values in zip(place[block], kept[block], strict=True):
            across = middle + _jitter(values.size)[np.argsort(np.argsort(values, kind="stable"))]
            axes.plot(across, values, "o", color=colour, markersize=2.6, markeredgewidth=0, alpha=0.6,
                      zorder=3, rasterized=n_all > 5000, gid="points")  # fmt: skip
    low, high = value_limits(np.concatenate(kept), [panel.overall_mean])
    span = high - low
    axes.set_ylim(low - 0.05 * span, high + 0.14 * span)  # the headings stand in the upper tenth
    middle = (place[0] + place[-1]) / 2
    half = max((place[-1] - place[0]) / 2 + 0.7, 3.0)  # few boxes stay slim
    axes.set_xlim(middle - half, middle + half)
    axes.axhline(panel.overall_mean, color="#303030", linewidth=0.9, dashes=(5, 3), zorder=1.5, gid="mean")
    if axes.get_ylim()[0] < 0 < axes.get_ylim()[1]:
        axes.axhline(0, color="#A0A0A0", linewidth=0.6, zorder=1.2, gid="zero")
    within = axes.get_ylim()[0] <= 0 <= axes.get_ylim()[1]
    name_y_axis(figure, axes, panel.y_label if within else f"{panel.y_label}\n(axis without 0)", _LEAST_HEIGHT)
    add_percent_axis(axes, panel.overall_mean)
    axes.tick_params(axis="x", length=0)
    axes.set_title(panel.title, loc="left")


def _write_texts(figure: Figure, axes: Axes, panel: LocalPanel) -> None:
    """Write what depends on the width of the axes: group labels, headings, title and caption."""
    place = _places(panel)
    frame = axes.get_window_extent()
    step = frame.width / float(np.diff(axes.get_xlim())[0])
    labels = [box.label for box in panel.groups]
    sizes = [f"n={len(box.values):,}" for box in panel.groups]
    room = step - 0.6 * SMALL * figure.dpi / 72
    words = [word for text in [*labels, *sizes] for word in text.split()]
    longest = max(text_width(figure, word, SMALL) for word in words)
    lines = [wrapped(figure, label, SMALL, room) for label in labels]
    if longest <= room and max(text.count("\n") for text in lines) < 3:
        names = [f"{text}\n{n}" for text, n in zip(lines, sizes, strict=True)]
        axes.set_xticks(place.tolist(), names, linespacing=1.25)
    else:
        names = [f"{text} ({n})" for text, n in zip(shortened(labels, 24), sizes, strict=True)]
        axes.set_xticks(place.tolist(), names, rotation=90)
    for block, heading, colour in panel.blocks:
        axes.text(float(place[block].mean()), 0.99, heading, size=NORMAL, color=colour, ha="center",
                  va="top", transform=axes.get_xaxis_transform(), gid="heading")  # fmt: skip
    axes.set_title(wrapped(figure, panel.title, LARGE, frame.width), loc="left")
    bad = drawable(np.concatenate([np.asarray(box.values, float) for box in panel.groups]))[1]
    mean = f"Dashed: mean of all samples, {panel.overall_mean:.3g}.".replace("-", "−")
    text = " ".join(filter(None, [panel.caption, mean, *bad]))
    axes.set_xlabel(wrapped(figure, text, SMALL, frame.width), loc="left", size=SMALL, color="#303030")
