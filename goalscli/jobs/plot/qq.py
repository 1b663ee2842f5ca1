"""``goals plot qq``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goalscli.errors import SettingsError
from goalscli.jobs.plot.genome import scan_names
from goalscli.jobs.plot.tracks import track_of
from goalscli.jobs.scanned import OpenScores, open_scores
from goalscli.plots.qq import QQSeries, count_of, qq
from goalscli.plots.style import save
from goalscli.store import refuse_existing

if TYPE_CHECKING:
    from goalscli.plots.encode import Figure

_CAPTION = (
    "Band: 95 % at each rank, of as many independent variants; linkage disequilibrium makes variants move together "
    "and the true band wider. λGC: median of z² over its expectation, 1 under the null."
)


def plot_qq(
    scores: str | Path | Sequence[str | Path], out: str | Path, *, value: str = "p", overwrite: bool = False
) -> Path:
    """Draw the observed -log10 p of one or several scans against those expected of uniform p.

    All variants are in the picture: only points that fall on the same pixel are drawn once, and the 1,000 smallest p
    always. The band holds each rank alone with probability 95 % (order statistics of independent uniform p); in
    linkage disequilibrium variants move together, and the true band is wider.

    Parameters
    ----------
    scores : path or sequence of paths
        One to seven scores files.
    out : path
        Ends in .png, .pdf or .svg.
    value : "p" or "loco"
        The test against the polygenic null, or against that without the variant's chromosome.
    overwrite : bool

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    SettingsError
        Another value, more than seven scans, or another suffix.
    InputError
        The scan did not compute the value.
    OutputError
        ``out`` exists and may not be overwritten.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    paths = [scores] if isinstance(scores, str | Path) else scores
    save(qq_figure([open_scores(path) for path in paths], value), out)
    return out


def qq_figure(scans: Sequence[OpenScores], value: str = "p") -> Figure:
    """Return the picture that :func:`plot_qq` saves."""
    if value not in ("p", "loco"):
        raise SettingsError(f"{value!r} has no expected values", where="--value", remedy="give p or loco")
    tracks = [track_of(scan, value) for scan in scans]
    names = scan_names(scans)
    series = [QQSeries(f"{name}, {track.caption}", track.values) for name, track in zip(names, tracks, strict=True)]
    label = "observed −log10 p" if value == "p" else "observed −log10 p (null without the chromosome)"
    title = f"{names[0]}: {count_of(series)}" if len(names) == 1 else count_of(series) if series else None
    return qq(series, y_label=label, title=title, caption=_CAPTION)
