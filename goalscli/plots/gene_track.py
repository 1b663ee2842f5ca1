"""Genes below a picture of a region: bars with names, in rows so that nothing overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from goalscli.plots.style import SMALL, shortened, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 8
"""Rows of genes at most."""

_INK = "#304A6B"


@dataclass(frozen=True)
class Gene:
    """A gene: first and last base pair, and its strand ("+", "-", or "." where it is not known)."""

    name: str
    start: int
    stop: int
    strand: str = "."

    @property
    def label(self) -> str:
        """Its name with an arrow in the direction of transcription."""
        name = shortened([self.name], 24)[0]
        return {"+": f"{name} →", "-": f"← {name}"}.get(self.strand, name)


@dataclass(frozen=True, eq=False)
class Track:
    """Genes that found room.

    Attributes
    ----------
    genes : tuple of Gene
    row : (n,) intp
        From the top.
    name_at : (n,) float64
        Middle of each name, in units of the axis.
    n_left_out : int
    """

    genes: tuple[Gene, ...]
    row: NDArray[np.intp]
    name_at: NDArray[np.float64]
    n_left_out: int

    @property
    def n_rows(self) -> int:
        """Rows taken."""
        return int(self.row.max(initial=-1)) + 1


def arrange_genes(
    figure: Figure, genes: Sequence[Gene], limits: tuple[float, float], width: float, centre: float, unit: float = 1e6
) -> Track:
    """Give each gene a row, those nearest to the centre first.

    Parameters
    ----------
    figure : Figure
        Measures the names.
    genes : sequence of Gene
        All of which reach into the limits.
    limits : (float, float)
        Of the axis, in units.
    width : float
        Of the axis, in pixels.
    centre : float
        In units.
    unit : float
        Base pairs in a unit of the axis.
    """
    low, high = limits
    scale = width / (high - low)
    pad = 0.6 * SMALL * figure.dpi / 72
    taken: list[list[tuple[float, float]]] = [[] for _ in range(MOST_ROWS)]
    kept, rows, middles = [], [], []
    far = [max(gene.start / unit - centre, centre - gene.stop / unit, 0.0) for gene in genes]
    for i in sorted(range(len(genes)), key=lambda i: (far[i], genes[i].start, genes[i].name)):
        gene = genes[i]
        a, b = ((max(min(x / unit, high), low) - low) * scale for x in (gene.start, gene.stop))
        half = text_width(figure, gene.label, SMALL) / 2
        middle = min(max((a + b) / 2, half), width - half) if 2 * half < width else width / 2
        a, b = min(a, middle - half) - pad, max(b, middle + half) + pad
        for row, spans in enumerate(taken):
            if all(b <= x or y <= a for x, y in spans):
                spans.append((a, b))
                kept.append(gene)
                rows.append(row)
                middles.append(low + middle / scale)
                break
    return Track(tuple(kept), np.array(rows, dtype=np.intp), np.array(middles), len(genes) - len(kept))


def draw_genes(axes: Axes, track: Track, unit: float = 1e6) -> None:
    """Draw the bars, and the names above them, on axes in units of so many base pairs."""
    axes.set_ylim(track.n_rows - 0.02, -0.12)
    for gene, row, middle in zip(track.genes, track.row, track.name_at, strict=True):
        axes.plot([gene.start / unit, gene.stop / unit], [row + 0.78] * 2, color=_INK, linewidth=3.0,
                  solid_capstyle="butt", gid="gene")  # fmt: skip
        # a short gene on a long axis would be less than a pixel wide
        axes.plot([(gene.start + gene.stop) / 2 / unit], [row + 0.78], marker="|", color=_INK, markersize=2.2,
                  markeredgewidth=0.9, linestyle="none")  # fmt: skip
        axes.text(middle, row + 0.6, gene.label, size=SMALL, ha="center", va="bottom", color="#202020", gid="gene name")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
