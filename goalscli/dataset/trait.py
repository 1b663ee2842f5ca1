"""The trait of the analysed samples on the scale of the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from goalscli.errors import InputError
from goalscli.runtime import LOG

_BLOM = 3 / 8
_TIED = 0.1  # share of the samples in one tie beyond which normal scores are far from normal


@dataclass(frozen=True)
class StandardTrait:
    """A trait of mean 0 and sd 1.

    Attributes
    ----------
    values : (N,) float64
    mean, sd : float
        Of the trait before, or of its normal scores; divisor N - 1.
    """

    values: NDArray[np.float64]
    mean: float
    sd: float


def standardised(raw: NDArray[np.float64], trait: str, rank_int: bool = False) -> StandardTrait:
    """Centre and scale a trait, after its rank-based inverse normal transform if asked for.

    Raises
    ------
    InputError
        It is constant, infinite, or varies too little to tell from rounding.
    """
    if (raw == raw[0]).all():
        raise InputError(
            f"the trait is constant ({raw[0]:g} in all {len(raw)} analysed samples)",
            where=trait,
            remedy="choose another column with --pheno-name",
        )
    if not np.isfinite(raw).all():
        raise InputError("infinite values", where=trait, remedy="give finite numbers, NaN where missing")
    values = _told_normal_scores(raw, trait) if rank_int else raw
    # In units of the largest, squares neither overflow nor vanish; a power of two leaves the digits as they are.
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1]) - 1))
    scaled = values / unit
    mean, sd = float(scaled.mean()), float(scaled.std(ddof=1))
    if sd <= 1e-12 or sd * unit < np.finfo(np.float64).tiny:
        raise InputError(
            f"the trait varies too little to tell from rounding ({raw.min():g} to {raw.max():g}, sd {sd * unit:g})",
            where=trait,
            remedy="give it in other units, or as a difference from a constant",
        )
    return StandardTrait((scaled - mean) / sd, mean * unit, sd * unit)


def normal_scores(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank-based inverse normal transform: Φ⁻¹((r − 3/8) / (n + 1/4)), Blom's offset; ties share their mean rank.

    Parameters
    ----------
    raw : (n,) float64
        Nothing missing.
    """
    _, place, count = np.unique(raw, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    scores: NDArray[np.float64] = ndtri((rank - _BLOM) / (len(raw) + 1 - 2 * _BLOM))[place]
    return scores


def _told_normal_scores(raw: NDArray[np.float64], trait: str) -> NDArray[np.float64]:
    """Normal scores; the log says what they were made of, and warns where one value is too common."""
    n = len(raw)
    found, count = np.unique(raw, return_counts=True)
    LOG.info(
        "trait %s: rank-based inverse normal transform (Blom) of %d values, %d different; before: mean %g, sd %g",
        trait, n, len(found), raw.mean(), raw.std(ddof=1),
    )  # fmt: skip
    most = int(count.argmax())
    if count[most] > max(2, _TIED * n):
        LOG.warning(
            "warning: trait %s: %d of %d samples have the value %g; they share a rank, so --rank-int leaves the trait "
            "far from normal",
            trait, count[most], n, found[most],
        )  # fmt: skip
    return normal_scores(raw)
