"""Scores of all variants along the genome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.genome import Genome, bare_name, lay_out
from goalscli.plots.picture import Picture
from goalscli.plots.style import (
    BLUE,
    GREY,
    HUGE,
    LARGE,
    PALE,
    SKY,
    SMALL,
    VERMILION,
    drawable,
    name_y_axis,
    new_figure,
    plural,
    shortened,
    styled,
    value_limits,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Floats = NDArray[np.float64]

TONES = (BLUE, SKY, GREY, PALE)
"""Colours of the chromosomes by turns, then of "other" and "unplaced"."""


def manhattan(
    chrom: NDArray[np.object_],
    pos: NDArray[np.int64],
    value: Floats,
    *,
    labels: Sequence[tuple[int, str]] = (),
    thresholds: Sequence[tuple[float, str]] = (),
    y_label: str,
    title: str | None = None,
    caption: str | None = None,
    signed: bool = False,
) -> Figure:
    """Draw one value per variant along the genome.

    Parameters
    ----------
    chrom : (J,) object of str
        As written in the file. Variants on "0", "NA", "." or "" stand last, as "unplaced". Beyond 60 names,
        those that are not chromosomes share the lane "other".
    pos : (J,) int64
        Base pairs in any order; 0 or less is unknown. A chromosome without any position is drawn in file
        order; single variants without one are drawn as unplaced.
    value : (J,) float64
        What is not finite is not drawn but counted in the caption.
    labels : sequence of (index, text)
        Variants to name, most important first. A label for which there is no room is counted in the caption.
    thresholds : sequence of (height, text)
        Dashed lines, named in the right margin.
    y_label : str
        May hold mathematics between dollar signs; no other text does.
    title, caption : str, optional
    signed : bool
        Whether the sign of the value matters: draws a line at zero.

    Returns
    -------
    Figure
        10 by 4 inches.

    Raises
    ------
    SettingsError
        When there are no variants, lengths differ, an index is not that of a variant, or a threshold is not
        finite.
    """
    chrom, pos = np.asarray(chrom, dtype=object), np.asarray(pos, dtype=np.int64)
    value = np.asarray(value, dtype=np.float64)
    check_points(chrom, pos, value, labels, thresholds)
    genome = lay_out(chrom, pos)
    shown, notes = drawable(value)
    hidden = [i for i, _ in labels if not shown[i]]
    if hidden:
        notes.append(f"{plural(len(hidden), 'label')} of values not drawn.")
    labels = [(i, text) for i, text in labels if shown[i]]
    notes += lane_notes(genome)
    low, high = value_limits(value[shown], [t for t, _ in thresholds] + [0.0] * signed)
    with styled():
        picture = _draw(genome, value, shown, labels, thresholds, y_label, title, signed)
        picture.compose(low, high, " ".join([caption or "", *notes]).strip())
    return picture.figure


def _draw(
    genome: Genome,
    value: Floats,
    shown: NDArray[np.bool_],
    labels: Sequence[tuple[int, str]],
    thresholds: Sequence[tuple[float, str]],
    y_label: str,
    title: str | None,
    signed: bool,
) -> Picture:
    """Draw everything, with the texts not yet in place."""
    figure = new_figure(10, 4)
    axes = figure.add_subplot()
    x = _set_genome_axis(axes, genome)
    _draw_points(axes, x, value, shown, genome.tone)
    if signed:
        axes.axhline(0, color="#404040", linewidth=0.7, zorder=1.5, gid="zero")
    name_y_axis(figure, axes, y_label, 2.8)
    if title:
        axes.set_title(wrapped(figure, title, LARGE, 8.5 * figure.dpi), loc="left")
    return Picture(
        figure=figure,
        axes=axes,
        lanes=genome.lanes if genome.origin is None else (),
        thresholds=_draw_thresholds(figure, axes, thresholds),
        labels=_draw_labels(axes, labels),
        targets=np.array([(x[i], value[i]) for i, _ in labels]).reshape(-1, 2),
        points=np.column_stack([x[shown], value[shown]]),
        signed=signed,
    )


def check_points(
    chrom: NDArray[np.object_],
    pos: NDArray[np.int64],
    value: Floats,
    labels: Sequence[tuple[int, str]],
    thresholds: Sequence[tuple[float, str]],
) -> None:
    """Raise SettingsError where arrays, labels and thresholds do not go together."""
    n = value.size
    if n == 0:
        raise SettingsError("no variants to draw", remedy="check the filters of the scan")
    if not chrom.shape == pos.shape == value.shape:
        raise SettingsError(f"{chrom.size} chromosomes, {pos.size} positions and {n} values do not match")
    outside = [i for i, _ in labels if not 0 <= i < n]
    if outside:
        raise SettingsError(f"label index {outside[0]} is not that of one of {n} variants")
    bad = [text for height, text in thresholds if not abs(height) <= HUGE]
    if bad:
        raise SettingsError(f"the threshold '{bad[0]}' is not finite", remedy="leave it out")


def lane_notes(genome: Genome) -> list[str]:
    """Sentences on variants that are not drawn on a chromosome of their own."""
    notes = []
    if genome.n_merged:
        lane = genome.lanes[-2 if genome.n_unplaced and len(genome.lanes) > 1 else -1].name
        notes.append(f"{plural(genome.n_merged, 'sequence')} drawn together as “{lane}”.")
    if genome.n_unplaced:
        what = plural(genome.n_unplaced, "variant")
        notes.append(f"{what} without chromosome or position drawn as “unplaced”.")
    if genome.n_file_order:
        what = plural(genome.n_file_order, "chromosome")
        notes.append(f"{what} without positions drawn in file order.")
    return notes


def _draw_points(axes: Axes, x: Floats, value: Floats, shown: NDArray[np.bool_], tone: NDArray[np.intp]) -> None:
    size = float(np.interp(np.log10(max(shown.sum(), 1)), [2, 4], [5.0, 3.2]))
    for kind, colour in enumerate(TONES):
        at = shown & (tone == kind)
        if at.any():
            (line,) = axes.plot(
                x[at], value[at], linestyle="none", marker="o", color=colour, markersize=size,
                markeredgewidth=0, rasterized=True, gid="points",
            )  # fmt: skip
            line.set_in_layout(False)  # a million points need not be measured


def _set_genome_axis(axes: Axes, genome: Genome) -> Floats:
    """Set the limits and name of the axis; return the variants' places on it."""
    start, stop = genome.lanes[0].start, genome.lanes[-1].stop
    margin = 0.01 * (stop - start)
    if genome.origin is None:
        axes.set_xlim(start - margin, stop + margin)
        axes.set_xlabel("chromosome")
        axes.tick_params(axis="x", length=0, pad=4)
        return genome.x
    margin = max(margin, 500.0)
    unit, name = (1e6, "Mb") if stop - start >= 1e5 else (1e3, "kb")
    axes.set_xlim((genome.origin + start - margin) / unit, (genome.origin + stop + margin) / unit)
    axes.ticklabel_format(axis="x", style="plain", useOffset=False)
    chromosome = bare_name(genome.lanes[0].name)
    axes.set_xlabel(f"position on {'chromosome ' * (len(chromosome) < 4)}{chromosome} ({name})")
    return np.asarray((genome.origin + genome.x) / unit, dtype=np.float64)


def _draw_thresholds(
    figure: Figure, axes: Axes, thresholds: Sequence[tuple[float, str]]
) -> tuple[tuple[float, Text], ...]:
    """Draw the lines and, in the right margin, their names."""
    names = []
    for height, text in thresholds:
        # Above the points: the null level of RATE lies among them.
        axes.axhline(height, color=VERMILION, linewidth=0.8, dashes=(5, 3), zorder=2.5)
        lines = wrapped(figure, text, SMALL, 1.1 * figure.dpi)
        name = axes.text(1.006, height, lines, size=SMALL, color=VERMILION, va="center", linespacing=1.1,
                         transform=axes.get_yaxis_transform(), gid="threshold")  # fmt: skip
        names.append((float(height), name))
    return tuple(names)


def _draw_labels(axes: Axes, labels: Sequence[tuple[int, str]]) -> tuple[Text, ...]:
    """Write the labels, in the axes' lower left corner until they are placed."""
    paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.4}
    texts = []
    for label in shortened([text for _, text in labels], 36):
        text = axes.text(0, 0, label, size=SMALL, va="bottom", transform=axes.transAxes, bbox=paper, zorder=4)
        text.set_gid("label")
        text.set_in_layout(False)
        texts.append(text)
    return tuple(texts)
