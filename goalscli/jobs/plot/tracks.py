"""What can be drawn along the genome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.scanned import Scanned
from goalscli.plots.style import plural


@dataclass(frozen=True)
class Track:
    """One value a variant to draw.

    Attributes
    ----------
    values : (J,) float64
    y_label : str
    thresholds : tuple of (height, words)
    caption : str, optional
    signed : bool
        Whether the sign matters.
    called : (J,) bool, optional
        Variants on which a label means something; all where None.
    """

    values: NDArray[np.float64]
    y_label: str
    thresholds: tuple[tuple[float, str], ...] = ()
    caption: str | None = None
    signed: bool = False
    called: NDArray[np.bool_] | None = None


def _p_track(p: NDArray[np.float64], y_label: str, lambda_gc: float) -> Track:
    bonferroni = float(-np.log10(0.05 / len(p)))
    lines = ((bonferroni, f"0.05 / {plural(len(p), 'variant')}"),)
    return Track(p, y_label, lines, f"λGC {lambda_gc:.2f}", called=p >= min(bonferroni, float(p.max())))


def track_of(read: Scanned, value: str) -> Track:
    """Return what to draw of a scan: p, loco, score, rate or psi.

    Raises
    ------
    SettingsError
        Another value.
    InputError
        The scan did not compute it.
    """
    if value == "p":
        told = read.score_attributes.get("goals", {})
        return _p_track(read.goals["neg_log10_p"], "−log10 p (polygenic null)", told.get("lambda_gc", np.nan))
    if value == "loco":
        if "loco_z" not in read.goals:
            raise InputError("holds no scores without the chromosome", where=read.path, remedy="scan with --loco")
        told = read.score_attributes["goals"]
        return _p_track(
            read.goals["loco_neg_log10_p"], "−log10 p (null without the chromosome)", told["loco_lambda_gc"]
        )
    if value == "score":
        called = track_of(read, "p").called
        label = f"effect of A1 (trait sd per {read.unit})"
        return Track(-read.goals["score"] / read.xi, label, signed=True, called=called)
    if value == "rate":
        rate, told = read.score("rate")["rate"], read.score_attributes["rate"]
        lines = ((1 / len(rate), f"1 / {len(rate):,}, all variants alike"),)
        caption = f"Δ {told['delta']:.2f} nats from equal shares, ESS {told['ess']:.0f} %"
        return Track(rate, "RATE (share of the total)", lines, caption, called=rate > 1 / len(rate))
    if value == "psi":
        return Track(read.score("psi")["mean"], "ψ, mean squared slope (trait sd² per x²)")
    raise SettingsError(f"nothing called {value!r} to draw", where="--value", remedy="give p, score, loco, rate or psi")
