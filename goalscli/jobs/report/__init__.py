"""``goals report``: a scan in one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from goalscli.errors import SettingsError
from goalscli.jobs.report import contents, markup, pictures
from goalscli.jobs.report.contents import ReportSettings, Source
from goalscli.jobs.results import read_scores
from goalscli.store import atomic, refuse_existing

__all__ = ["ReportSettings", "report"]

SECTIONS: tuple[tuple[str, Callable[[Source], str]], ...] = (
    ("Variance components", contents.variances),
    ("Along the genome", partial(pictures.drawn, pictures.genome)),
    ("Observed and expected p", partial(pictures.drawn, pictures.expected)),
    ("Top variants", contents.top_variants),
    ("Local effects by group", partial(pictures.drawn, pictures.by_group)),
    ("How to read this", contents.how_to_read),
    ("Filters", contents.filters),
    ("Settings", contents.settings),
    ("Provenance", contents.provenance),
)
"""Title of each section, and the function from what the report is made of to its HTML.

A further picture is one more function in pictures.py and one more line here.
"""


def report(
    scores: str | Path,
    out: str | Path,
    settings: ReportSettings = ReportSettings(),  # noqa: B008 (frozen)
    *,
    overwrite: bool = False,
) -> Path:
    """Write what a scan found, how it was done and where it comes from into one HTML file.

    The file needs no other file and no network, can be printed, and is the same for the same inputs.

    Parameters
    ----------
    scores : str or Path
        PREFIX.scores.h5.
    out : str or Path
        The .html file.
    settings : ReportSettings
    overwrite : bool

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    InputError
        No scores file, or the model that was given is not that of the scan. Without a model given and beside the
        scores, the sections that need it say so.
    OutputError
        The file exists, or cannot be written.
    """
    out = Path(out)
    if out.suffix.lower() not in (".html", ".htm"):
        raise SettingsError(f"'{out.suffix}' is not a page", where=out, remedy="end the name in .html")
    refuse_existing([out], overwrite)
    source = contents.source_of(read_scores(scores), settings)
    sections = [(title, make(source)) for title, make in SECTIONS]
    page = markup.document(f"{source.read.attributes['phenotype']}: scan report", contents.lead(source), sections)
    with atomic(out) as unfinished:
        unfinished.write_text(page, encoding="utf-8")
    return out
