"""Observed against expected -log10 p."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.style import (
    BLUE,
    GREY,
    LARGE,
    SKY,
    SMALL,
    VERMILION,
    add_caption,
    arrange,
    caption_height,
    drawable,
    new_figure,
    plural,
    renderer,
    shortened,
    styled,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_STYLES = (
    (BLUE, "o"), (VERMILION, "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v"), (SKY, "P"), (GREY, "X"),
)  # fmt: skip
"""Okabe and Ito's colours, and shapes beside them."""

TAIL = 1000
"""So many of the greatest values are drawn whatever pixels they fall on."""


@dataclass(frozen=True, eq=False)
class QQSeries:
    """One scan.

    Attributes
    ----------
    name : str
        For the legend.
    neg_log10_p : (J,) float64
        In any order; what is not finite is not drawn but counted in the caption.
    """

    name: str
    neg_log10_p: Floats


def expected_band(ranks: NDArray[np.int64], n: int, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """-log10 p expected of the r-th smallest of n independent uniform p, with a pointwise band.

    The r-th smallest is Beta(r, n + 1 - r): its mean is r / (n + 1), and the band holds it with probability ``level``
    at each r alone, not at all at once.

    Parameters
    ----------
    ranks : (k,) int64
        1 is the smallest p.
    n : int
    level : float

    Returns
    -------
    expected, low, high : (k,) float64
        In -log10 p.
    """
    from scipy.special import betaincinv

    ranks = np.asarray(ranks, dtype=np.float64)
    tail = (1 - level) / 2
    low, high = (-np.log10(betaincinv(ranks, n + 1 - ranks, q)) for q in (1 - tail, tail))
    return -np.log10(ranks / (n + 1)), low, high


def qq(series: Sequence[QQSeries], *, y_label: str, title: str | None = None, caption: str | None = None) -> Figure:
    """Draw observed against expected -log10 p, with the diagonal and the 95 % band of independent variants.

    Points that fall on the same pixel as a neighbour are drawn once, save the 1,000 greatest of each scan, which are
    all drawn: the picture is that of all points. Each number of variants has its band, save those within a tenth of the
    least, which share that of the least, the widest.

    Parameters
    ----------
    series : sequence of QQSeries
    y_label : str
    title, caption : str, optional

    Returns
    -------
    Figure
        5.2 inches wide, a little higher.

    Raises
    ------
    SettingsError
        No scan, more than 7, or one without a finite value.
    """
    if not 1 <= len(series) <= len(_STYLES):
        raise SettingsError(f"{len(series)} scans", remedy=f"draw 1 to {len(_STYLES)} in one picture")
    notes, kept = [caption or ""], []
    for one in series:
        value = np.asarray(one.neg_log10_p, dtype=np.float64)
        shown, missing = drawable(value)
        if not shown.any():
            raise SettingsError("no variants to draw", where=one.name, remedy="check the filters of the scan")
        notes += [f"{one.name}: {note}" if len(series) > 1 else note for note in missing]
        kept.append(np.sort(value[shown])[::-1])
    with styled():
        text = " ".join(notes).strip()
        figure = new_figure(5.2, 5.0)
        below = caption_height(figure, text)
        figure.set_figheight(5.0 + below)
        axes = figure.add_subplot()
        _draw_bands(axes, [len(value) for value in kept])
        _set_limits(axes, kept)
        axes.set_xlabel("expected −log10 p")
        axes.set_ylabel(y_label)
        if title:
            axes.set_title(wrapped(figure, title, LARGE, 4.3 * figure.dpi), loc="left")
        add_caption(figure, text)
        arrange(figure, below / (5.0 + below))
        names = shortened([one.name for one in series], 40)
        for name, value, (colour, marker) in zip(names, kept, _STYLES, strict=False):
            x, y = _distinct(axes, value)
            axes.plot(x, y, marker, color=colour, markersize=3.2, markeredgewidth=0, zorder=3, label=name,
                      rasterized=True, gid="points")  # fmt: skip
        _draw_legend(figure, axes)
    return figure


def _draw_bands(axes: Axes, sizes: Sequence[int]) -> None:
    """Draw the band of the fewest variants; those of the others too, where they are a tenth more or beyond."""
    distinct = [min(sizes), *sorted({n for n in sizes if n > 1.1 * min(sizes)})]
    for k, n in enumerate(distinct):
        ranks = np.unique(np.rint(np.geomspace(1, n, 400))).astype(np.int64)
        expected, low, high = expected_band(ranks, n)
        label = "95 % if independent" if k == 0 else None
        axes.fill_between(expected, low, high, color="#808080", alpha=0.3, linewidth=2.0 if n == 1 else 0, zorder=1,
                          gid="band", label=label)  # fmt: skip
    top = float(np.log10(max(sizes) + 1))
    axes.plot([0, top], [0, top], color="#404040", linewidth=0.8, zorder=3.5, gid="diagonal")


def _set_limits(axes: Axes, kept: Sequence[Floats]) -> None:
    right = max(np.log10(len(value) + 1) for value in kept)
    top = max(right, *(float(value[0]) for value in kept))
    bottom = min(0.0, *(float(value[-1]) for value in kept))
    axes.set_xlim(-0.02 * right, 1.03 * right)
    axes.set_ylim(bottom - 0.02 * (top - bottom), top + 0.04 * (top - bottom))


def _distinct(axes: Axes, value: Floats) -> tuple[Floats, Floats]:
    """Expected and observed values of a falling series, without those on the pixel of the one before."""
    n = len(value)
    expected = -np.log10(np.arange(1, n + 1) / (n + 1))
    pixel = np.floor(axes.transData.transform(np.column_stack([expected, value])))
    kept = np.append(True, (np.diff(pixel, axis=0) != 0).any(axis=1))
    kept[:TAIL] = True
    return expected[kept], value[kept]


def _draw_legend(figure: Figure, axes: Axes) -> None:
    """Name the scans in the upper left corner, above the points if they reach there."""
    legend = axes.legend(loc="upper left", frameon=False, fontsize=SMALL, handletextpad=0.5, borderaxespad=0.3)
    legend.set_zorder(4)
    box = legend.get_window_extent(renderer(figure))
    points = np.concatenate([line.get_xydata() for line in axes.lines if line.get_gid() == "points"])
    pixels = axes.transData.transform(points)
    under = pixels[pixels[:, 0] <= box.x1 + 4, 1].max(initial=-np.inf)
    frame = axes.get_window_extent(renderer(figure))
    if under > box.y0 - 4:
        low, high = axes.get_ylim()
        room = frame.height - box.height - 10
        if room > 0:
            axes.set_ylim(low, max(high, low + (high - low) * (under - frame.y0) / room))


def count_of(series: Sequence[QQSeries]) -> str:
    """Say how many variants: "10,329 variants", or a range."""
    counts = sorted({len(one.neg_log10_p) for one in series})
    return plural(counts[0], "variant") if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,} variants"
