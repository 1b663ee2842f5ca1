"""The pictures of a report: one function each, which returns a figure and what it shows in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from goalscli.errors import GoalsError
from goalscli.jobs.plot.genome import manhattan_figure
from goalscli.jobs.plot.local import LocalPlot, local_figure
from goalscli.jobs.plot.qq import qq_figure
from goalscli.jobs.plot.reading import label_of
from goalscli.jobs.plot.tracks import track_of
from goalscli.jobs.report import markup
from goalscli.jobs.report.contents import Source
from goalscli.jobs.scanned import open_scores
from goalscli.plots.encode import png
from goalscli.plots.style import plural
from goalscli.runtime import LOG

if TYPE_CHECKING:
    from goalscli.plots.encode import Figure

Drawn = tuple["Figure", str, str]
"""A figure, its caption, and what it shows to who cannot see it."""

_SHOWN = {
    "p": "−log10 p of each variant along the genome, against the polygenic null",
    "loco": "−log10 p of each variant along the genome, against the null without its own chromosome",
    "score": "Effect of A1 of each variant along the genome",
    "rate": "RATE of each variant along the genome: its share of the total",
    "psi": "ψ of each variant along the genome: the mean squared derivative",
}


def _values(source: Source) -> list[str]:
    """What of the scan can be drawn along the genome."""
    columns = source.read.columns
    goals = columns.get("goals", {})
    there = {"p": bool(goals), "loco": "loco_z" in goals, "score": bool(goals), "rate": "rate" in columns,
             "psi": "psi" in columns}  # fmt: skip
    return [value for value, is_there in there.items() if is_there]


def genome(source: Source) -> Iterator[Drawn]:
    """Every score along the genome."""
    for value in _values(source):
        yield manhattan_figure([open_scores(source.read.path)], value), f"{_SHOWN[value]}.", _highest(source, value)


def _highest(source: Source, value: str) -> str:
    read, track = source.read, track_of(source.read, value)
    i = int(np.argmax(np.nan_to_num(np.abs(track.values), nan=-1.0)))
    place = f"{read.variants['chrom'][i]}:{read.variants['pos'][i]:,}"
    above = [int(np.sum(track.values > height)) for height, _ in track.thresholds]
    counted = "".join(f"; {plural(n, 'variant')} beyond the line" for n in above)
    return (
        f"Manhattan plot of {track.y_label}: greatest at {label_of(read, i)}, {place}, {track.values[i]:.3g}{counted}."
    )


def expected(source: Source) -> Iterator[Drawn]:
    """Draw observed against expected p, with the polygenic null and without the chromosome."""
    for value in [name for name in _values(source) if name in ("p", "loco")]:
        yield (
            qq_figure([open_scores(source.read.path)], value),
            f"Observed against expected −log10 p{', the null without the chromosome' * (value == 'loco')}.",
            f"Observed against expected −log10 p of all variants: {track_of(source.read, value).caption}.",
        )


def by_group(source: Source) -> Iterator[Drawn]:
    """Draw local effects of the top loci by group."""
    settings = source.settings
    how = LocalPlot(
        top=settings.n_loci,
        n_groups=settings.n_groups,
        model=settings.model,
        genotypes=settings.genotypes,
        seed=settings.seed,
    )
    yield (
        local_figure(source.read, how),
        "Local effects of A1 at the top loci: the groups with the least and with the greatest means.",
        "Box plots of the local effects by group, a panel for each locus.",
    )


def drawn(draw: Callable[[Source], Iterator[Drawn]], source: Source) -> str:
    """Return the section's HTML; where something is missing for it, the sentence that says what."""
    content = []
    try:
        for figure, caption, alt in draw(source):
            content.append(markup.picture(png(figure), caption, alt))
    except GoalsError as error:
        LOG.warning("warning: the report leaves out a picture: %s", error)
        content.append(markup.paragraph(f"Left out: {error}."))
    return "".join(content) or markup.paragraph("Left out: the scan has no p-values.")
