"""Local effects of a variant in all samples, from the least to the greatest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.effects import add_percent_axis, check_effects, dosage_colours, plain_ticks
from goalscli.plots.style import (
    BLUE,
    LARGE,
    SMALL,
    add_caption,
    add_heading,
    arrange,
    caption_height,
    name_y_axis,
    new_figure,
    styled,
    value_limits,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_WIDTH, _ROW_HEIGHT = 8.5, 3.6


@dataclass(frozen=True, eq=False)
class OrderedPanel:
    """One variant.

    Attributes
    ----------
    title : str
        ID, place and alleles.
    effects : (N,) float64
        In any order.
    dosage : (N,) float64, optional
        Copies of A1, for the colours and the strip below; all panels have them or none.
    note : str
        Written below the panel.
    """

    title: str
    effects: Floats
    dosage: Floats | None = None
    note: str = ""


def ordered(
    panels: Sequence[OrderedPanel],
    *,
    y_label: str,
    title: str | None = None,
    caption: str | None = None,
    zoom: bool = False,
) -> Figure:
    """Draw every sample's local effect, from the least to the greatest, a panel a variant.

    The left axis has 0 on it; the right one is the difference from the mean, in per cent of the mean.

    Parameters
    ----------
    panels : sequence of OrderedPanel
    y_label : str
    title, caption : str, optional
    zoom : bool
        Fit the axis to the effects, 0 or not; it is then named so.

    Returns
    -------
    Figure

    Raises
    ------
    SettingsError
        No panels, no samples, effects that are not finite, or dosages of other samples.
    """
    effects = _check(panels)
    with styled():
        around = 0.35 * bool(title)
        below = caption_height(new_figure(_WIDTH, 3), caption or "")
        height = _ROW_HEIGHT * len(panels) + around + below
        figure = new_figure(_WIDTH, height)
        if title:
            add_heading(figure, title)
        with_genotypes = panels[0].dosage is not None
        ratios = ([1.0, 0.2] if with_genotypes else [1.0]) * len(panels)
        grid = figure.subplots(len(ratios), 1, squeeze=False, height_ratios=ratios)[:, 0].tolist()
        step = 1 + with_genotypes
        for k, (panel, values) in enumerate(zip(panels, effects, strict=True)):
            axes = grid[k * step]
            _draw_panel(figure, axes, panel, values, zoom, y_label)
            lowest = grid[(k + 1) * step - 1]
            if panel.dosage is not None:
                _draw_genotypes(lowest, panel.dosage[np.argsort(values, kind="stable")], axes)
            note = wrapped(figure, panel.note, SMALL, 6 * figure.dpi)
            lowest.set_xlabel("samples, by local effect" + (f"\n{note}" if note else ""))
        figure.align_ylabels(grid)
        arrange(figure, below / height)
        add_caption(figure, caption or "")
    return figure


def _check(panels: Sequence[OrderedPanel]) -> list[Floats]:
    if not panels:
        raise SettingsError("no variants to draw", remedy="name variants that have local scores")
    for panel in panels:
        if (panel.dosage is None) != (panels[0].dosage is None):
            raise SettingsError("dosages of some variants only", where=panel.title)
        if panel.dosage is not None and np.shape(panel.dosage) != np.shape(panel.effects):
            n, m = np.size(panel.effects), np.size(panel.dosage)
            raise SettingsError(f"{n} effects but {m} dosages", where=panel.title)
    return [check_effects(panel.effects, panel.title) for panel in panels]


def _draw_genotypes(axes: Axes, dosage: Floats, above: Axes) -> None:
    """Draw the genotypes below the effects, each below its sample: points of a curve hide each other."""
    n = dosage.size
    axes.scatter(np.arange(1, n + 1), dosage, c=dosage, cmap=dosage_colours(), vmin=0, vmax=2, marker="|", s=22,
                 linewidths=1.5 if n < 100 else 0.6, rasterized=n > 5000, gid="genotypes")  # fmt: skip
    axes.set_xlim(above.get_xlim())
    axes.set_xticks(above.get_xticks())
    axes.set_xlim(above.get_xlim())
    axes.set_ylim(-0.6, 2.6)
    axes.set_yticks([0, 1, 2])
    axes.set_ylabel("copies\nof A1", size=SMALL)
    above.tick_params(axis="x", labelbottom=False)


def _draw_panel(figure: Figure, axes: Axes, panel: OrderedPanel, values: Floats, zoom: bool, y_label: str) -> None:
    order = np.argsort(values, kind="stable")
    n = values.size
    rank, mean = np.arange(1, n + 1), float(values.mean())
    size = float(np.interp(np.log10(n), [1.0, 3.0], [4.5, 2.4]))
    marks: dict[str, Any] = {"s": size**2, "linewidths": 0, "rasterized": n > 5000, "zorder": 2, "gid": "points"}
    if panel.dosage is None:
        axes.scatter(rank, values[order], color=BLUE, **marks)
    else:
        axes.scatter(rank, values[order], c=panel.dosage[order], cmap=dosage_colours(), vmin=0, vmax=2, **marks)
    low, high = value_limits(values, [] if zoom else [0.0])
    span = high - low
    axes.set_ylim(low - 0.05 * span, high + 0.05 * span)
    margin = max(0.012 * n, 0.5)
    axes.set_xlim(1 - margin, n + margin)
    if n < 8:
        axes.set_xticks(rank.tolist())
    if axes.get_ylim()[0] <= 0 <= axes.get_ylim()[1]:
        axes.axhline(0, color="#404040", linewidth=0.8, zorder=1, gid="zero")
    axes.axhline(mean, color="#303030", linewidth=0.9, dashes=(5, 3), zorder=2.5, gid="mean")
    plain_ticks(axes, "y")
    cut = "\n(axis without 0)" if axes.get_ylim()[0] > 0 or axes.get_ylim()[1] < 0 else ""
    name_y_axis(figure, axes, y_label + cut, 2.2)
    axes.set_title(wrapped(figure, panel.title, LARGE, 6 * figure.dpi), loc="left")
    add_percent_axis(axes, mean)
