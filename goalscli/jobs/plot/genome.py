"""``goals plot manhattan``."""

from __future__ import annotations

from pathlib import Path

from goalscli.jobs.plot.reading import label_of
from goalscli.jobs.plot.tracks import track_of
from goalscli.jobs.results import read_scores
from goalscli.plots import manhattan, save, top_loci
from goalscli.store import refuse_existing


def plot_manhattan(
    scores: str | Path, out: str | Path, *, value: str | None = None, n_labels: int = 8, overwrite: bool = False
) -> Path:
    """Draw the genome: -log10 p ("p"; "loco" without the chromosome), the signed effect ("score"), RATE or psi.

    Without a ``value``, p, or what else the scan computed.

    Raises
    ------
    SettingsError
        Another value, or a suffix other than .png, .pdf, .svg.
    InputError
        The scan did not compute it.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    if value is None:
        value = "p" if "goals" in read.columns else next(iter(read.columns))
    track, variants = track_of(read, value), read.variants
    hits = top_loci(variants["chrom"], variants["pos"], track.values, n_labels, window=5_000_000)
    if track.called is not None:
        # A label on a variant that no one would call only clutters.
        hits = hits[track.called[hits]]
    figure = manhattan(
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
    save(figure, out)
    return out
