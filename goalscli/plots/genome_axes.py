"""Axes along the genome: points in the tones of their chromosomes, thresholds and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.plots.genome import Genome, bare_name
from goalscli.plots.style import BLUE, GREY, PALE, SKY, SMALL, VERMILION, plural, shortened, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Floats = NDArray[np.float64]

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
TONES = (BLUE, SKY, GREY, PALE)


def lane_notes(genome: Genome, n_scans: int = 1) -> list[str]:
    """Sentences on what is not drawn in the lane of its own chromosome."""
    notes = []
    scans = f" of {n_scans} scans" if n_scans > 1 else ""
    if genome.n_merged:
        lane = genome.lanes[-2 if genome.n_unplaced and len(genome.lanes) > 1 else -1].name
        notes.append(f"{plural(genome.n_merged, 'sequence')} drawn together as “{lane}”.")
    if genome.n_unplaced:
        what = plural(genome.n_unplaced, "variant")
        notes.append(f"{what}{scans} without chromosome or position drawn as “unplaced”.")
    if genome.n_file_order:
        what = plural(genome.n_file_order, "chromosome")
        notes.append(f"{what} without positions drawn in file order.")
    return notes


def draw_points(axes: Axes, x: Floats, value: Floats, shown: NDArray[np.bool_], tone: NDArray[np.intp]) -> None:
    """Draw the points that are shown, each in the tone of its chromosome; none is left out."""
    size = float(np.interp(np.log10(max(shown.sum(), 1)), [2, 4], [5.0, 3.2]))
    for kind, colour in enumerate(TONES):
        at = shown & (tone == kind)
        if at.any():
            (line,) = axes.plot(
                x[at], value[at], linestyle="none", marker="o", color=colour, markersize=size,
                markeredgewidth=0, rasterized=True, gid="points",
            )  # fmt: skip
            line.set_in_layout(False)  # a million points need not be measured


def set_genome_axis(axes: Axes, genome: Genome, *, named: bool) -> Floats:
    """Set the limits of the axis and, where it is to be named, its name; return the variants' places on it."""
    start, stop = genome.lanes[0].start, genome.lanes[-1].stop
    margin = 0.01 * (stop - start)
    if genome.origin is None:
        axes.set_xlim(start - margin, stop + margin)
        axes.tick_params(axis="x", length=0, pad=4, labelbottom=named)
        if named:
            axes.set_xlabel("chromosome")
        else:
            axes.set_xticks([])
        return genome.x
    margin = max(margin, 500.0)
    unit, name = (1e6, "Mb") if stop - start >= 1e5 else (1e3, "kb")
    axes.set_xlim((genome.origin + start - margin) / unit, (genome.origin + stop + margin) / unit)
    axes.ticklabel_format(axis="x", style="plain", useOffset=False)
    axes.tick_params(axis="x", labelbottom=named)
    if named:
        chromosome = bare_name(genome.lanes[0].name)
        axes.set_xlabel(f"position on {'chromosome ' * (len(chromosome) < 4)}{chromosome} ({name})")
    return np.asarray((genome.origin + genome.x) / unit, dtype=np.float64)


def draw_thresholds(
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


def draw_labels(axes: Axes, labels: Sequence[tuple[int, str]]) -> tuple[Text, ...]:
    """Write the labels, in the axes' lower left corner until they are placed."""
    # Letters alone, without paper behind them: no point disappears behind a label.
    texts = []
    for label in shortened([text for _, text in labels], 36):
        text = axes.text(0, 0, label, size=SMALL, va="bottom", transform=axes.transAxes, zorder=4)
        text.set_gid("label")
        text.set_in_layout(False)
        texts.append(text)
    return tuple(texts)


def name_powers_of_ten(axes: Axes, name: str, low: float, high: float) -> str:
    """Where values are very small or large, take a power of ten out of the tick labels; return the axis's name with it.

    The power goes into the brackets with the unit, if there are any.
    """
    from matplotlib.ticker import ScalarFormatter

    size = max(abs(low), abs(high))
    power = int(np.floor(np.log10(size))) if size > 0 else 0
    if -4 < power < 6:
        return name
    ticks = ScalarFormatter(useOffset=False)
    ticks.set_powerlimits((power, power))  # this power whatever the ticks
    axes.yaxis.set_major_formatter(ticks)
    axes.yaxis.get_offset_text().set_visible(False)
    times = f"10{str(power).translate(_RAISED)}"
    return name.replace("(", f"({times} × ", 1) if "(" in name else f"{name} ({times})"


def base_of(value: Floats, signed: bool) -> list[float]:
    """Zero, where the axis should begin there or hold it: values of either sign, or above zero and not far from it."""
    return [0.0] if signed or (value.size and 0 <= value.min() < value.max() / 5) else []
