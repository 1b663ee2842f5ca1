"""Local effects of one variant against a genotype, a category or a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.effects import add_percent_axis, check_effects, dosage_colours, plain_ticks
from goalscli.plots.local import GroupBox
from goalscli.plots.means import interval_of_mean, running_means
from goalscli.plots.style import (
    BLUE,
    HUGE,
    LARGE,
    SMALL,
    VERMILION,
    add_caption,
    arrange,
    caption_height,
    name_y_axis,
    new_figure,
    shortened,
    styled,
    text_width,
    value_limits,
    wrapped,
)
from goalscli.plots.swarm import stacked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_WIDTH, _HEIGHT = 7.5, 4.6

_STRIP = 0.5
"""Greatest width of a strip, in distances of two strips."""

_GAP = 6.0
"""Points between a strip and its mean."""


@dataclass(frozen=True)
class Words:
    """Texts of a picture: names of the axes, title and caption."""

    x_label: str
    y_label: str
    title: str = ""
    caption: str = ""


def strips(groups: Sequence[GroupBox], words: Words, *, mean: float, dosages: Sequence[float] | None = None) -> Figure:
    """Draw a strip of points a category, with its mean and a 95 % interval of the mean.

    Parameters
    ----------
    groups : sequence of GroupBox
        From left to right; their sizes are written below them.
    words : Words
    mean : float
        Over all samples, shown or not.
    dosages : sequence of float, optional
        Copies of A1 that the categories stand for, for their colours.

    Returns
    -------
    Figure

    Raises
    ------
    SettingsError
        No category, an empty one, or effects that are not finite.
    """
    if not groups:
        raise SettingsError("no categories to draw", remedy="give a column with values")
    values = [check_effects(group.values, group.label) for group in groups]
    pooled = np.concatenate(values)
    check_effects(np.array([mean]), "the overall mean")
    means = np.array([interval_of_mean(inside) for inside in values], dtype=np.float64)
    with styled():
        figure, axes = _empty(pooled, means[:, 0], means[:, 1], mean, words, max(_WIDTH, 0.45 * len(groups) + 2))
        margin = max(0.5, 1.5 - len(groups) / 2)  # few strips stay slim
        axes.set_xlim(-margin, len(groups) - 1 + margin + 0.2)
        axes.tick_params(axis="x", length=0)
        _arrange(figure, axes, words, mean)
        _name_categories(figure, axes, groups)
        _fit(figure, words)
        size = _size(pooled.size)
        frame = axes.get_window_extent()
        pixels = size * figure.dpi / 72
        column = frame.width / float(np.diff(axes.get_xlim())[0])
        diameter = pixels * float(np.diff(axes.get_ylim())[0]) / frame.height
        room = (_STRIP * column - pixels) / pixels
        shifts = [stacked(inside, diameter, room) * pixels / column for inside in values]
        widest = max(float(shift.max()) for shift in shifts)
        for place, (inside, shift) in enumerate(zip(values, shifts, strict=True)):
            colour = BLUE if dosages is None else dosage_colours()(dosages[place] / 2)
            axes.plot(place + shift, inside, "o", color=colour, markersize=size, markeredgewidth=0, zorder=2,
                      rasterized=pooled.size > 5000, gid="points")  # fmt: skip
        # On the points a mean would hide the few of a small category.
        beside = np.arange(len(values)) + widest + _GAP * figure.dpi / 72 / column
        _draw_means(axes, np.asarray(beside, dtype=np.float64), means[:, 0], means[:, 1], "black", "none")
    return figure


def trend(x: Floats, effects: Floats, words: Words) -> Figure:
    """Draw effects against a number, with means over bins of as many samples each.

    Parameters
    ----------
    x, effects : (n,) float64
    words : Words

    Returns
    -------
    Figure

    Raises
    ------
    SettingsError
        No samples, other lengths, or what cannot be drawn.
    """
    effects = check_effects(effects, words.title)
    x = np.asarray(x, dtype=np.float64)
    if x.shape != effects.shape or not (np.abs(x) <= HUGE).all():
        raise SettingsError(f"{effects.size} effects need as many finite numbers", where=words.x_label)
    with styled():
        found = running_means(x, effects)
        figure, axes = _empty(effects, found.mean, found.half, float(effects.mean()), words)
        low, high = value_limits(x)
        axes.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
        plain_ticks(axes, "x")
        _arrange(figure, axes, words, float(effects.mean()))
        _fit(figure, words)
        axes.plot(x, effects, "o", color=BLUE, markersize=_size(x.size), markeredgewidth=0, alpha=0.45, zorder=2,
                  rasterized=x.size > 5000, gid="points")  # fmt: skip
        _draw_means(axes, found.x, found.mean, found.half, VERMILION, "-")
    return figure


def _size(n: int) -> float:
    return float(np.interp(np.log10(n), [1.5, 3.5], [4.5, 2.0]))


def _empty(
    effects: Floats, means: Floats, half: Floats, mean: float, words: Words, width: float = _WIDTH
) -> tuple[Figure, Axes]:
    """Return a figure with the limits of the effects and the intervals of means, and their axis named."""
    below = caption_height(new_figure(width, 3), words.caption)
    figure = new_figure(width, _HEIGHT + below)
    axes = figure.add_subplot()
    known = np.isfinite(half)
    low, high = value_limits(effects, [mean, *(means - half)[known], *(means + half)[known]])
    span = high - low
    axes.set_ylim(low - 0.04 * span, high + 0.04 * span)
    plain_ticks(axes, "y")
    inside = axes.get_ylim()[0] <= 0 <= axes.get_ylim()[1]
    if inside:
        axes.axhline(0, color="#404040", linewidth=0.8, zorder=1, gid="zero")
    axes.axhline(mean, color="#303030", linewidth=0.9, dashes=(5, 3), zorder=1.5, gid="mean")
    name_y_axis(figure, axes, words.y_label + ("" if inside else "\n(axis without 0)"), 3.2)
    return figure, axes


def _arrange(figure: Figure, axes: Axes, words: Words, mean: float) -> None:
    """Write title and name of the axis, and the scale in per cent; a first layout."""
    axes.set_xlabel(wrapped(figure, words.x_label, SMALL + 1, 5.5 * figure.dpi))
    add_percent_axis(axes, mean)
    add_caption(figure, words.caption)
    _fit(figure, words)
    if words.title:
        axes.set_title(wrapped(figure, words.title, LARGE, axes.get_window_extent().width), loc="left")
        _fit(figure, words)


def _fit(figure: Figure, words: Words) -> None:
    arrange(figure, caption_height(figure, words.caption) / figure.get_figheight())


def _name_categories(figure: Figure, axes: Axes, groups: Sequence[GroupBox]) -> None:
    """Write names and sizes below the strips: side by side where they fit, else upright."""
    room = axes.get_window_extent().width / float(np.diff(axes.get_xlim())[0]) - 0.6 * SMALL * figure.dpi / 72
    labels = shortened([group.label for group in groups], 24)
    sizes = [f"n={group.values.size:,}" for group in groups]
    if max(text_width(figure, text, SMALL) for text in [*labels, *sizes]) <= room:
        axes.set_xticks(range(len(groups)), [f"{a}\n{n}" for a, n in zip(labels, sizes, strict=True)])
    else:
        names = [f"{a} ({n})" for a, n in zip(labels, sizes, strict=True)]
        axes.set_xticks(range(len(groups)), names, rotation=90)


def _draw_means(axes: Axes, x: Floats, mean: Floats, half: Floats, colour: str, line: str) -> None:
    """Draw diamonds and intervals, on white so that they stand out from the points; none for a single sample."""
    known = np.isfinite(half)
    x, mean, half = x[known], mean[known], half[known]
    ends = mean - half, mean + half
    axes.vlines(x, *ends, color="white", linewidth=3.2, zorder=3)
    axes.vlines(x, *ends, color=colour, linewidth=1.4, zorder=3.1, gid="interval")
    axes.plot(x, mean, marker="D", linestyle=line, color=colour, linewidth=1.4, markersize=5.5, markerfacecolor="white",
              markeredgecolor=colour, markeredgewidth=1.2, zorder=3.2, gid="means")  # fmt: skip
