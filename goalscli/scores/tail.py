"""Tail probabilities on a log scale: -log10 p, never p alone, so that nothing underflows to 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, log_ndtr

Array = NDArray[np.float64]

_TINY = 1e-250


def neg_log10_p(z: Array, residual_df: int, profiled: bool) -> Array:
    """Two-sided -log10 p of the calibrated statistic z.

    With a REML-profiled scale z² ≤ N - q = m and T = z·sqrt((m-1)/(m-z²)) is Student's t with m - 1 degrees of
    freedom, so p = I_x((m-1)/2, 1/2) with x = 1 - z²/m. With variances fixed by hand, the normal tail.

    Parameters
    ----------
    z : (C,) float64
    residual_df : int
        N minus the number of fixed effects, m.
    profiled : bool

    Returns
    -------
    (C,) float64, at least 0.
    """
    if not profiled or residual_df < 2:
        log_p = np.log(2) + log_ndtr(-np.abs(z))
    else:
        x = np.clip(1 - z**2 / residual_df, np.finfo(float).tiny, 1.0)
        log_p = log_betainc_half((residual_df - 1) / 2, x)
    return np.asarray(np.maximum(-log_p / np.log(10), 0.0))


def log_betainc_half(a: float, x: Array) -> Array:
    """Log I_x(a, 1/2), also where I_x itself underflows.

    Far in the tail: I_x(a, b) = x^a (1-x)^b / (a B(a, b)) · Σ_k Π_{i<k} x (a+b+i)/(a+1+i), whose terms fall at least
    as fast as x^k.
    """
    p = betainc(a, 0.5, x)
    with np.errstate(divide="ignore"):
        out: Array = np.log(p)
    far = p < _TINY
    if not far.any():
        return out
    y = x[far]
    total, term = np.ones_like(y), np.ones_like(y)
    k = 0
    while np.any(term > 1e-17 * total):
        term = term * y * (a + 0.5 + k) / (a + 1 + k)
        total += term
        k += 1
    out[far] = a * np.log(y) + 0.5 * np.log1p(-y) - np.log(a) - betaln(a, 0.5) + np.log(total)
    return out
