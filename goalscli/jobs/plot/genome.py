"""``goals plot manhattan``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goalscli.jobs.plot.interactive import plot_interactive
from goalscli.jobs.plot.reading import label_of
from goalscli.jobs.plot.tracks import track_of
from goalscli.jobs.results import Scores, read_scores
from goalscli.plots import manhattan, save, top_loci
from goalscli.store import refuse_existing

if TYPE_CHECKING:
    from goalscli.plots.encode import Figure


def plot_manhattan(
    scores: str | Path,
    out: str | Path,
    *,
    value: str | None = None,
    n_labels: int = 8,
    overwrite: bool = False,
    html: str | Path | None = None,
) -> Path:
    """Draw the genome: -log10 p ("p"; "loco" without the chromosome), the signed effect ("score"), RATE or psi.

    Without a ``value``, p, or what else the scan computed. Where ``out`` ends in .html,
    :func:`goalscli.jobs.plot.plot_interactive` draws; where ``html`` is given, it draws that file as well.

    Raises
    ------
    SettingsError
        Another value, or a suffix other than .png, .pdf, .svg, .html.
    InputError
        The scan did not compute it.
    """
    out = Path(out)
    if html is not None:
        refuse_existing([out], overwrite)
        plot_interactive(scores, html, value=value, overwrite=overwrite)
    if out.suffix.lower() == ".html":
        return plot_interactive(scores, out, value=value, overwrite=overwrite)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    figure = manhattan_figure(read, value, n_labels)
    save(figure, out)
    return out


def manhattan_figure(read: Scores, value: str | None = None, n_labels: int = 8) -> Figure:
    """Return the picture that :func:`plot_manhattan` saves."""
    if value is None:
        value = "p" if "goals" in read.columns else next(iter(read.columns))
    track, variants = track_of(read, value), read.variants
    hits = top_loci(variants["chrom"], variants["pos"], track.values, n_labels, window=5_000_000)
    if track.called is not None:
        # A label on a variant that no one would call only clutters.
        hits = hits[track.called[hits]]
    return manhattan(
        variants["chrom"],
        variants["pos"],
        track.values,
        labels=[(int(i), label_of(read, int(i))) for i in hits],
        thresholds=track.thresholds,
        y_label=track.y_label,
        title=f"{read.attributes['phenotype']}: {len(variants['id']):,} variants, {len(read.samples['iid']):,} samples",
        caption=track.caption,
        signed=track.signed,
    )
