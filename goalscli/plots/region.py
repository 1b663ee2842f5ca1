"""Scores in a stretch of a chromosome, coloured by linkage disequilibrium with one variant, and genes below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.gene_track import MOST_ROWS, Gene, Track, arrange_genes, draw_genes
from goalscli.plots.genome import bare_name
from goalscli.plots.genome_axes import base_of, draw_thresholds, name_powers_of_ten
from goalscli.plots.style import (
    LARGE,
    SMALL,
    VERMILION,
    add_caption,
    arrange,
    caption_height,
    drawable,
    name_y_axis,
    new_figure,
    plural,
    renderer,
    shortened,
    styled,
    value_limits,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

R2_COLOURS = ("#D5DAE1", "#9CC3DE", "#5A9BD0", "#2B65AB", "#0C2C63")
"""From pale to dark: told apart by their lightness alone, so also without colour vision or in print."""

_ROW = 0.27
"""Height of a row of genes in inches."""


@dataclass(frozen=True, eq=False)
class RegionPicture:
    """What to draw of a region.

    Attributes
    ----------
    chrom : str
    limits : (int, int)
        First and last base pair shown.
    pos : (C,) int64
        Of the variants shown, in base pairs.
    value : (C,) float64
        What is not finite is not drawn but counted in the caption.
    r2 : (C,) float64
        Squared correlation of each variant's genotypes with the lead's, 0 to 1.
    lead : int
        Row of the lead variant; its value is finite.
    lead_name : str
    y_label : str
    thresholds : sequence of (height, text)
        Drawn where they are near the values: at most twice as high as the greatest.
    genes : sequence of Gene, optional
        Those that reach into the limits; None draws no track.
    title, caption : str, optional
    signed : bool
        Draws a line at zero.
    """

    chrom: str
    limits: tuple[int, int]
    pos: NDArray[np.int64]
    value: Floats
    r2: Floats
    lead: int
    lead_name: str
    y_label: str
    thresholds: Sequence[tuple[float, str]] = ()
    genes: Sequence[Gene] | None = None
    title: str | None = None
    caption: str | None = None
    signed: bool = False


def region(picture: RegionPicture) -> Figure:
    """Draw a region, 8 inches wide.

    Raises
    ------
    SettingsError
        Lengths differ, the lead's value is not finite, or the limits hold no base pair.
    """
    _check(picture)
    shown, missing = drawable(picture.value)
    notes = [picture.caption or "", *missing]
    low, high = picture.limits
    unit, unit_name = (1e6, "Mb") if high - low >= 100_000 else (1e3, "kb")
    margin = max(0.012 * (high - low), 50.0)  # marks at the ends are whole
    x_limits = (low - margin) / unit, (high + margin) / unit
    with styled():
        figure = new_figure(8, 4)
        track = None
        if picture.genes is not None:
            # how wide the axes will be is known well enough before they are fitted
            centre = float(picture.pos[picture.lead]) / unit
            track = arrange_genes(figure, picture.genes, x_limits, 6.1 * figure.dpi, centre, unit)
            if track.n_left_out:
                notes.append(f"{plural(track.n_left_out, 'gene')} left out for want of room.")
            if not track.genes:
                notes.append("No gene in this stretch.")
        text = " ".join(notes).strip()
        axes, below = _axes(figure, track, text)
        axes.set_xlim(*x_limits)
        _draw_values(figure, axes, picture, shown, unit)
        lowest = figure.axes[-1]
        lowest.ticklabel_format(axis="x", style="plain", useOffset=False)
        name = bare_name(picture.chrom)
        lowest.set_xlabel(f"position on {'chromosome ' * (len(name) < 4)}{shortened([name], 24)[0]} ({unit_name})")
        if track is not None and track.genes:
            lowest.set_xlim(*x_limits)
            draw_genes(lowest, track, unit)
        add_caption(figure, text)
        arrange(figure, below / figure.get_figheight())
        _name_lead(figure, axes, picture, unit)
    return figure


def _check(picture: RegionPicture) -> None:
    n = len(picture.pos)
    if not n == len(picture.value) == len(picture.r2):
        raise SettingsError(f"{n} positions, {len(picture.value)} values and {len(picture.r2)} r² do not match")
    if not 0 <= picture.lead < n or not drawable(picture.value[[picture.lead]])[0].all():
        raise SettingsError("the lead variant has no value", where=picture.lead_name, remedy="choose another")
    if not picture.limits[0] <= picture.limits[1]:
        raise SettingsError(f"{picture.limits[0]} to {picture.limits[1]} holds no base pair")


def _axes(figure: Figure, track: Track | None, caption: str) -> tuple[Axes, float]:
    """Axes of the values and, below, of the genes, if any; and the height of the caption in inches."""
    below = caption_height(figure, caption)
    rows = track.n_rows if track is not None else 0
    genes = _ROW * rows + 0.1
    figure.set_figheight(4.0 + (genes + 0.1) * bool(rows) + below)
    if not rows:
        return figure.add_subplot(), below
    upper, lower = figure.subplots(2, 1, height_ratios=[3.0, genes])
    upper.tick_params(axis="x", labelbottom=False)
    lower.set_gid("genes")
    return upper, below


def _bins(r2: Floats) -> NDArray[np.intp]:
    """0 for r² below 0.2, … 4 from 0.8 on."""
    return np.asarray(np.clip(np.floor(np.asarray(r2) * 5 + 1e-9), 0, 4), dtype=np.intp)


def _draw_values(figure: Figure, axes: Axes, picture: RegionPicture, shown: NDArray[np.bool_], unit: float) -> None:
    x, value, kind = picture.pos / unit, np.asarray(picture.value, dtype=np.float64), _bins(picture.r2)
    shown = shown.copy()
    shown[picture.lead] = False  # a mark of its own
    dense = int(shown.sum()) > 5000
    size = 5.5 if not dense else 3.6
    for k, colour in enumerate(R2_COLOURS):  # the more alike, the further in front
        at = shown & (kind == k)
        label = f"r² {k / 5:.1f}–{(k + 1) / 5:.1f}"
        axes.plot(x[at], value[at], "o", color=colour, markersize=size, markeredgecolor="#33415580",
                  markeredgewidth=0.4, rasterized=dense, zorder=2 + k / 10, label=label, gid="points")  # fmt: skip
    axes.plot(x[[picture.lead]], value[[picture.lead]], "D", color=VERMILION, markersize=7.0, markeredgecolor="black",
              markeredgewidth=0.7, zorder=3.5, label="lead", gid="lead")  # fmt: skip
    top = float(value[shown].max(initial=float(value[picture.lead])))
    lines = [line for line in picture.thresholds if abs(line[0]) <= 2 * abs(top)]
    seen = np.append(value[shown], value[picture.lead])
    heights = [height for height, _ in lines]
    low, high = value_limits(seen, heights + base_of(np.append(seen, heights), picture.signed))
    span = high - low
    axes.set_ylim(low - (0.16 if picture.signed else 0.04) * span, high + 0.16 * span)
    draw_thresholds(figure, axes, lines)
    if picture.signed:
        axes.axhline(0, color="#404040", linewidth=0.7, zorder=1.5, gid="zero")
    name_y_axis(figure, axes, name_powers_of_ten(axes, picture.y_label, low, high), 2.6)
    legend = axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=6, frameon=False, fontsize=SMALL,
                         borderaxespad=0.2, borderpad=0.1, handletextpad=0.1, columnspacing=1.2)  # fmt: skip
    legend.set_in_layout(True)
    if picture.title:
        axes.set_title(wrapped(figure, picture.title, LARGE, 6.4 * figure.dpi), loc="left", pad=20)


def _name_lead(figure: Figure, axes: Axes, picture: RegionPicture, unit: float) -> None:
    """Write the lead's name beside its mark: above, or below where its value is negative."""
    down = picture.signed and picture.value[picture.lead] < 0
    x, y = float(picture.pos[picture.lead]) / unit, float(picture.value[picture.lead])
    name = shortened([picture.lead_name], 40)[0]
    text = axes.annotate(
        name, (x, y), xytext=(0, -7 if down else 7), textcoords="offset points", size=SMALL, ha="center",
        va="top" if down else "bottom", zorder=4, gid="label",
    )  # fmt: skip
    box, frame = text.get_window_extent(renderer(figure)), axes.get_window_extent(renderer(figure))
    shift = max(frame.x0 + 2 - box.x0, 0.0) + min(frame.x1 - 2 - box.x1, 0.0)
    text.set_position((shift * 72 / figure.dpi, -7 if down else 7))


__all__ = ["MOST_ROWS", "R2_COLOURS", "Gene", "RegionPicture", "region"]
