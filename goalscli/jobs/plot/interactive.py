"""``goals plot manhattan`` to an interactive page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from goalscli.jobs.plot.tracks import track_of
from goalscli.jobs.results import Scores, read_scores
from goalscli.plots import Fact, interactive_manhattan
from goalscli.plots.style import plural
from goalscli.store import atomic, refuse_existing


def plot_interactive(scores: str | Path, out: str | Path, *, value: str | None = None, overwrite: bool = False) -> Path:
    """Draw the genome as a page to zoom and point at: one HTML file that needs no network.

    Parameters
    ----------
    scores : str or Path
        PREFIX.scores.h5.
    out : str or Path
        The .html file. About 5 MB, and 70 bytes a variant more up to 80,000 variants; beyond, the bulk is thinned.
    value : str, optional
        p, loco, score, rate or psi, as in :func:`goalscli.jobs.plot.plot_manhattan`.
    overwrite : bool

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    SettingsError
        Another value, or plotly (the extra "interactive") is not installed.
    InputError
        No scores file, or the scan did not compute the value.
    OutputError
        The file exists, or cannot be written.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    if value is None:
        value = "p" if "goals" in read.columns else next(iter(read.columns))
    track, variants = track_of(read, value), read.variants
    ids = np.array(read.labels(np.arange(len(variants["id"]))), dtype=object)
    counts = f"{plural(len(ids), 'variant')}, {plural(len(read.samples['iid']), 'sample')}"
    page = interactive_manhattan(
        variants["chrom"],
        variants["pos"],
        track.values,
        ids=ids,
        a1=variants["a1"],
        a2=variants["a2"],
        facts=_facts(read, value),
        thresholds=track.thresholds,
        y_label=track.y_label,
        title=f"{read.attributes['phenotype']}: {counts}",
        caption=f"{track.caption}." if track.caption else "",
        signed=track.signed,
    )
    with atomic(out) as partial:
        partial.write_text(page, encoding="utf-8")
    return out


def _facts(read: Scores, value: str) -> list[Fact]:
    """What is told of each variant besides the value drawn."""
    facts = [Fact("frequency of A1", read.variants["a1_freq"])]
    if "goals" not in read.columns:
        return facts
    goals = read.goals
    if value != "score":
        facts.append(Fact("effect of A1", -goals["score"] / read.xi, f"trait sd per {read.unit}"))
    facts.append(Fact("score", goals["score"], "trait sd", sd=goals["sd"]))
    facts.append(Fact("p", goals["neg_log10_p"], is_p=True))
    if "loco_neg_log10_p" in goals:
        facts.append(Fact("p without the chromosome", goals["loco_neg_log10_p"], is_p=True))
    return facts
