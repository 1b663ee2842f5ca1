"""Local effects of several variants, a row a variant, every sample a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.effects import add_dosage_bar, check_effects, dosage_colours, plain_ticks
from goalscli.plots.style import (
    BLUE,
    LARGE,
    add_caption,
    arrange,
    caption_height,
    new_figure,
    shortened,
    styled,
    value_limits,
    wrapped,
)
from goalscli.plots.swarm import stacked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_ROW = 0.5
"""Height in inches of a row."""

_FILLED = 0.8
"""Share of a row that points may take."""


@dataclass(frozen=True, eq=False)
class SwarmRow:
    """One variant.

    Attributes
    ----------
    label, place : str
        Its name, and a second line below it.
    effects : (N,) float64
    dosage : (N,) float64, optional
        Copies of A1, for the colours; all rows have them or none.
    """

    label: str
    place: str
    effects: Floats
    dosage: Floats | None = None


def beeswarm(
    rows: Sequence[SwarmRow],
    *,
    x_label: str,
    title: str | None = None,
    caption: str | None = None,
    centre: bool = False,
) -> Figure:
    """Draw the local effects of every sample, a row a variant, stacked where many are alike.

    Parameters
    ----------
    rows : sequence of SwarmRow
        From above.
    x_label : str
    title, caption : str, optional
    centre : bool
        Draw differences from each variant's mean, which is then written below its name.

    Returns
    -------
    Figure

    Raises
    ------
    SettingsError
        No rows, no samples, effects that are not finite, or dosages of other samples.
    """
    effects = _check(rows)
    if centre:
        rows = [replace(row, place=_with_mean(row.place, e)) for row, e in zip(rows, effects, strict=True)]
        effects = [values - values.mean() for values in effects]
    with styled():
        height = _ROW * len(rows) + 1.1 + 0.25 * bool(title)
        figure = new_figure(8.5, height + caption_height(new_figure(8.5, 3), caption or ""))
        axes = figure.add_subplot()
        if title:
            axes.set_title(wrapped(figure, title, LARGE, 6 * figure.dpi), loc="left")
        _set_axes(axes, rows, effects, x_label)
        if rows[0].dosage is not None:
            add_dosage_bar(figure, [axes])
        below = caption_height(figure, caption or "")
        arrange(figure, below / figure.get_figheight())
        _draw_points(figure, axes, rows, effects)
        if not centre:
            for values, place in zip(effects, range(len(rows)), strict=True):
                # Above and below the points, not on them.
                ends = [place - 0.49, place + 0.41], [place - 0.41, place + 0.49]
                axes.vlines([float(values.mean())] * 2, *ends, color="black", linewidth=1.6, zorder=3, gid="mean")
        add_caption(figure, caption or "")
    return figure


def _with_mean(place: str, effects: Floats) -> str:
    return f"{place}, mean {effects.mean():.3g}".replace("-", "−")


def _check(rows: Sequence[SwarmRow]) -> list[Floats]:
    if not rows:
        raise SettingsError("no variants to draw", remedy="name variants that have local scores")
    for row in rows:
        if (row.dosage is None) != (rows[0].dosage is None):
            raise SettingsError("dosages of some variants only", where=row.label)
        if row.dosage is not None and np.shape(row.dosage) != np.shape(row.effects):
            raise SettingsError(f"{np.size(row.effects)} effects but {np.size(row.dosage)} dosages", where=row.label)
    return [check_effects(row.effects, row.label) for row in rows]


def _set_axes(axes: Axes, rows: Sequence[SwarmRow], effects: Sequence[Floats], x_label: str) -> None:
    low, high = value_limits(np.concatenate(effects), [0.0])
    axes.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    names = shortened([row.label for row in rows], 28)
    axes.set_yticks(range(len(rows)), [f"{name}\n{row.place}" for name, row in zip(names, rows, strict=True)])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(x_label)
    plain_ticks(axes, "x")
    axes.axvline(0, color="#404040", linewidth=0.8, zorder=1, gid="zero")
    for place in range(len(rows) - 1):
        axes.axhline(place + 0.5, color="#E4E4E4", linewidth=0.6, zorder=0.5)


def _draw_points(figure: Figure, axes: Axes, rows: Sequence[SwarmRow], effects: Sequence[Floats]) -> None:
    """Draw the points; their places depend on the size of the axes."""
    frame, n = axes.get_window_extent(), effects[0].size
    size = float(np.interp(np.log10(n), [1.5, 3.5], [4.5, 2.0]))  # points
    pixels = size * figure.dpi / 72
    diameter = pixels * float(np.diff(axes.get_xlim())[0]) / frame.width
    row_height = frame.height / len(rows)
    for place, (row, values) in enumerate(zip(rows, effects, strict=True)):
        shift = stacked(values, diameter, (_FILLED * row_height - pixels) / pixels) * pixels / row_height
        colour: dict[str, Any] = {"color": BLUE} if row.dosage is None else {"c": row.dosage, "cmap": dosage_colours()}
        axes.scatter(values, place + shift, s=size**2, linewidths=0, vmin=None if row.dosage is None else 0,
                     vmax=None if row.dosage is None else 2, rasterized=n * len(rows) > 5000, zorder=2,
                     gid="points", **colour)  # fmt: skip
