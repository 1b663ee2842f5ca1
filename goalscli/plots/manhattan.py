"""Scores of all variants along the genome: one panel, or several one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import SettingsError
from goalscli.plots.coding import Coded, Labels, coded, joined
from goalscli.plots.genome import Genome, lay_out
from goalscli.plots.genome_axes import (
    base_of,
    draw_labels,
    draw_points,
    draw_thresholds,
    lane_notes,
    name_powers_of_ten,
    set_genome_axis,
)
from goalscli.plots.picture import Panel, compose
from goalscli.plots.style import (
    HUGE,
    LARGE,
    SMALL,
    drawable,
    name_y_axis,
    new_figure,
    plural,
    styled,
    text_width,
    value_limits,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

MOST_PANELS = 20
"""The more there are, the less one sees; and a figure has an end."""


@dataclass(frozen=True, eq=False)
class GenomePanel:
    """One value per variant.

    Attributes
    ----------
    chrom : (J,) object of str, or Coded
        As written in the file. Variants on "0", "NA", "." or "" stand last, as "unplaced". Beyond 60 names, those that
        are not chromosomes share the lane "other".
    pos : (J,) int64
        Base pairs in any order; 0 or less is unknown. A chromosome without any position is drawn in file order; single
        variants without one are drawn as unplaced.
    value : (J,) float64
        What is not finite is not drawn but counted in the caption.
    y_label : str
        May hold mathematics between dollar signs; no other text does.
    labels : sequence of (index, text)
        Variants to name, most important first. A label for which there is no room is counted in the caption.
    thresholds : sequence of (height, text)
        Dashed lines, named in the right margin.
    title : str, optional
    note : str, optional
        Small, at the right end of the title's line.
    signed : bool
        Whether the sign of the value matters: draws a line at zero.
    """

    chrom: Labels
    pos: NDArray[np.int64]
    value: Floats
    y_label: str
    labels: Sequence[tuple[int, str]] = ()
    thresholds: Sequence[tuple[float, str]] = ()
    title: str | None = None
    note: str | None = None
    signed: bool = False


def manhattan(
    chrom: Labels,
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
    """Draw one value per variant along the genome, 10 by 4 inches.

    See :class:`GenomePanel` for the parameters, and :func:`manhattan_panels` for what is raised.
    """
    panel = GenomePanel(chrom, pos, value, y_label, labels, thresholds, title, signed=signed)
    return manhattan_panels([panel], caption=caption)


def manhattan_panels(panels: Sequence[GenomePanel], *, caption: str | None = None) -> Figure:
    """Draw several values per variant, or several scans, one above the other along one genome.

    The genome is that of the variants of all panels, so that a place is the same in each; chromosomes are named below
    the last one.

    Parameters
    ----------
    panels : sequence of GenomePanel
        From top to bottom. Panels that share the very arrays ``chrom`` and ``pos`` are laid out once.
    caption : str, optional

    Returns
    -------
    Figure
        10 inches wide; 4 high, or 2.5 a panel and one more where there are several.

    Raises
    ------
    SettingsError
        When there are no panels or more than 20, no variants, lengths differ, an index is not that of a variant, or a
        threshold is not finite.
    """
    if not 1 <= len(panels) <= MOST_PANELS:
        raise SettingsError(f"{len(panels)} panels", remedy=f"draw 1 to {MOST_PANELS} in one picture")
    panels = [replace(p, pos=np.asarray(p.pos, dtype=np.int64), value=np.asarray(p.value, np.float64)) for p in panels]
    for panel in panels:
        check_panel(panel)
    genome, places = _lay_out(panels)
    several = len(panels) > 1
    notes = [caption or ""]
    with styled():
        figure = new_figure(10, 1 + 2.5 * len(panels) if several else 4)
        rows = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        drawn = []
        for k, (axes, panel) in enumerate(zip(rows, panels, strict=True)):
            shown, missing = drawable(panel.value)
            hidden = [i for i, _ in panel.labels if not shown[i]]
            if hidden:
                missing.append(f"{plural(len(hidden), 'label')} of values not drawn.")
            notes += [f"{panel.title}: {note}" if several and panel.title else note for note in missing]
            last = k + 1 == len(panels)
            drawn.append(_draw(figure, axes, panel, genome, places[k], shown, last=last, several=several))
        compose(figure, drawn, " ".join([*notes, *lane_notes(genome, len({id(p.pos) for p in panels}))]).strip())
    return figure


def _lay_out(panels: Sequence[GenomePanel]) -> tuple[Genome, list[slice]]:
    """Lay out the variants of all panels; where in the layout each panel's are."""
    at: dict[tuple[int, int], slice] = {}
    chrom: list[Coded] = []
    pos, places, stop = [], [], 0
    for panel in panels:
        key = (id(panel.chrom), id(panel.pos))
        if key not in at:
            at[key] = slice(stop, stop + len(panel.pos))
            stop += len(panel.pos)
            chrom.append(panel.chrom if isinstance(panel.chrom, Coded) else coded(np.asarray(panel.chrom, object)))
            pos.append(panel.pos)
        places.append(at[key])
    if len(chrom) == 1:
        return lay_out(chrom[0], pos[0]), places
    return lay_out(joined(chrom), np.concatenate(pos)), places


def _draw(
    figure: Figure,
    axes: Axes,
    panel: GenomePanel,
    genome: Genome,
    place: slice,
    shown: NDArray[np.bool_],
    *,
    last: bool,
    several: bool,
) -> Panel:
    """Draw a panel, with the texts not yet in place."""
    x, value = set_genome_axis(axes, genome, named=last)[place], panel.value
    draw_points(axes, x, value, shown, genome.tone[place])
    if panel.signed:
        axes.axhline(0, color="#404040", linewidth=0.7, zorder=1.5, gid="zero")
    _write_title(figure, axes, panel)
    labels = [(i, text) for i, text in panel.labels if shown[i]]
    heights = [height for height, _ in panel.thresholds]
    low, high = value_limits(value[shown], heights + base_of(np.append(value[shown], heights), panel.signed))
    name_y_axis(figure, axes, name_powers_of_ten(axes, panel.y_label, low, high), 1.6 if several else 2.8)
    return Panel(
        axes=axes,
        lanes=genome.lanes if genome.origin is None and last else (),
        thresholds=draw_thresholds(figure, axes, panel.thresholds),
        labels=draw_labels(axes, labels),
        targets=np.array([(x[i], value[i]) for i, _ in labels]).reshape(-1, 2),
        # where they are matters for the placing of labels alone
        points=np.column_stack([x[shown], value[shown]]) if labels else np.empty((0, 2)),
        signed=panel.signed,
        low=low,
        high=high,
    )


def _write_title(figure: Figure, axes: Axes, panel: GenomePanel) -> None:
    room = 8.5 * figure.dpi
    if panel.note:
        axes.set_title(panel.note, loc="right", size=SMALL, color="#303030")
        room -= text_width(figure, panel.note, SMALL) + 0.3 * figure.dpi
    if panel.title:
        axes.set_title(wrapped(figure, panel.title, LARGE, room), loc="left")


def check_panel(panel: GenomePanel) -> None:
    """Raise SettingsError where a panel's arrays, labels and thresholds do not go together."""
    n = panel.value.size
    if n == 0:
        raise SettingsError("no variants to draw", remedy="check the filters of the scan")
    if not len(panel.chrom) == len(panel.pos) == n:
        raise SettingsError(f"{len(panel.chrom)} chromosomes, {len(panel.pos)} positions and {n} values do not match")
    outside = [i for i, _ in panel.labels if not 0 <= i < n]
    if outside:
        raise SettingsError(f"label index {outside[0]} is not that of one of {n} variants")
    bad = [text for height, text in panel.thresholds if not abs(height) <= HUGE]
    if bad:
        raise SettingsError(f"the threshold '{bad[0]}' is not finite", remedy="leave it out")
