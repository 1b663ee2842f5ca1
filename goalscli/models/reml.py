"""Variance components of A = s·K₀ + σ²·I + τ·ZZᵀ with fixed effects, by restricted maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from goalscli.models.factor import THREADED_FROM, Factor, factorising
from goalscli.runtime import cpu_limit

__all__ = ["Components", "Factor", "estimate", "factorising"]

Array = NDArray[np.float64]

_R_MAX = 1 - 1e-5
"""Identical twins make K₀ singular, so all variance as signal is never quite reached; nor is all as random effect."""


@dataclass(frozen=True)
class Components:
    """Estimated or given variance components.

    Attributes
    ----------
    signal, noise : float
        s and σ², in trait variances.
    ratio, ratio_se : float
        r = s/(s + σ²) (not a heritability) and its standard error; NaN where there is none.
    log_likelihood : float
        Restricted log-likelihood without its constant.
    at_bound : str
        Words for the components that ended at a bound; empty otherwise.
    profiled : bool
        Signal and noise were both estimated, so the scale of A is the trait's own.
    random : float
        τ, the random effect's variance, in trait variances; 0 without one.
    random_ratio, random_ratio_se : float
        τ/(s + σ²) and its standard error; NaN where there is none.
    ratios_covariance : float
        Sampling covariance of ``ratio`` and ``random_ratio``; 0 where either is given or at a bound.
    """

    signal: float
    noise: float
    ratio: float
    ratio_se: float
    log_likelihood: float
    at_bound: str
    profiled: bool
    random: float = 0.0
    random_ratio: float = 0.0
    random_ratio_se: float = nan
    ratios_covariance: float = 0.0


def estimate(
    gram: Array,
    phenotype: Array,
    covariates: Array,
    signal: float | None = None,
    noise: float | None = None,
    design: Array | None = None,
) -> Components:
    """Find s, σ² and, with a random effect, τ by REML; s and σ² may be given.

    Minimises ½[log|A| + log|WᵀA⁻¹W| + yᵀPy]; with neither s nor σ² given the scale is profiled out: over r alone,
    ½[log|A₀| + log|WᵀA₀⁻¹W| + (N-q)·log v], A₀ = r·K₀ + (1-r)·I, v = yᵀP₀y/(N-q). Some 20 Cholesky factorisations;
    each of them serves every τ (see :class:`_Restricted`).

    Parameters
    ----------
    gram : (N, N) float64
        K₀ = K/s.
    phenotype : (N,) float64
    covariates : (N, q) float64
    signal, noise : float, optional
        Fixed values.
    design : (N, L) float64, optional
        Z, the random effect's levels (columns centred), which the covariates must not determine.

    Raises
    ------
    InputError
        A is not positive definite.
    """
    axis = _axis(signal, noise)

    def at(x: float) -> _Restricted:
        return _restricted(gram, phenotype, covariates, design, *axis.parts(x), axis.profiled)

    with factorising(len(gram)):
        return _estimate(at, axis, 1 if len(gram) >= THREADED_FROM else min(4, cpu_limit()))


@dataclass(frozen=True)
class _Axis:
    """The one number x along which s and σ² are searched beside τ.

    Attributes
    ----------
    parts : callable
        x → (s, σ²), up to the scale where that is profiled out.
    low, high : float
        Range of x; equal where s and σ² are both given.
    words : (str, str)
        For x at its low and at its high end.
    profiled : bool
        Both are free.
    signal_free : bool
    """

    parts: Callable[[float], tuple[float, float]]
    low: float
    high: float
    words: tuple[str, str]
    profiled: bool
    signal_free: bool

    def slopes(self, ratio: float, random_ratio: float) -> tuple[float, float]:
        """Derivatives by x of s/(s + σ²) and of τ/(s + σ²)."""
        if self.profiled:
            return 1.0, 0.0
        change = ratio * (1 - ratio)
        return (change, -random_ratio * ratio) if self.signal_free else (-change, -random_ratio * (1 - ratio))


def _axis(signal: float | None, noise: float | None) -> _Axis:
    """Search r where s and σ² are free; the logarithm, from 1e-6 to 100 trait variances, of the one that is."""
    if signal is None and noise is None:
        words = ("signal variance at 0: the trait shows no genetic signal", "noise variance at 0")
        return _Axis(lambda r: (r, 1 - r), 0.0, _R_MAX, words, True, True)

    def parts(x: float) -> tuple[float, float]:
        return exp(x) if signal is None else signal, exp(x) if noise is None else noise

    if signal is not None and noise is not None:
        return _Axis(parts, 0.0, 0.0, ("", ""), False, False)
    name = "signal" if signal is None else "noise"
    words = (f"{name} variance at the low end of its range", f"{name} variance at the high end of its range")
    return _Axis(parts, log(1e-6), log(100.0), words, False, signal is None)


@dataclass(frozen=True)
class _Restricted:
    """The restricted likelihood of A₁ + λ·ZZᵀ as a function of λ, for one A₁ = s·K₀ + σ²·I.

    With P₁ that of A₁, ZᵀP₁Z = U·diag(m)·Uᵀ and b = UᵀZᵀP₁y, what REML minimises follows from
    log|A| + log|WᵀA⁻¹W| = log|A₁| + log|WᵀA₁⁻¹W| + Σ log(1 + λm) and yᵀPy = yᵀP₁y - Σ λb²/(1 + λm).
    λ is written as share/(1 - share), with the share from 0 to below 1.

    Attributes
    ----------
    log_det : float
        log|A₁| + log|WᵀA₁⁻¹W|.
    rss : float
        yᵀP₁y.
    eigenvalues, squares : (L,) float64
        m and b²; L is 0 without a random effect.
    df : int or None
        N - q where the scale is profiled out.
    """

    log_det: float
    rss: float
    eigenvalues: Array
    squares: Array
    df: int | None

    def rest(self, share: float) -> float:
        """yᵀPy."""
        odds = _odds(share)
        return self.rss - float(np.sum(odds * self.squares / (1 + odds * self.eigenvalues)))

    def scale(self, share: float) -> float:
        """v; 1 where the scale is not profiled out."""
        return 1.0 if self.df is None else self.rest(share) / self.df

    def minus_log(self, share: float) -> float:
        """Minus the log-likelihood, without its constant."""
        log_det = self.log_det + float(np.log1p(_odds(share) * self.eigenvalues).sum())
        return 0.5 * (log_det + (self.rest(share) if self.df is None else self.df * log(self.scale(share))))

    def best(self) -> tuple[float, str]:
        """The share that fits best, and where it lies as :func:`_minimise` says it."""
        return _minimise(self.minus_log, 0.0, _R_MAX, points=33) if len(self.eigenvalues) else (0.0, "low")


def _odds(share: float) -> float:
    return share / (1 - share)


def _restricted(
    gram: Array, phenotype: Array, covariates: Array, design: Array | None, s: float, v: float, profiled: bool
) -> _Restricted:
    factor = Factor(gram, s, v, covariates)
    residual = factor.residual(phenotype)
    eigenvalues = squares = np.empty(0)
    if design is not None:
        spread = factor.residual(design)
        eigenvalues, vectors = np.linalg.eigh(spread.T @ spread)
        eigenvalues, squares = np.maximum(eigenvalues, 0.0), (vectors.T @ (spread.T @ residual)) ** 2
    df = len(gram) - covariates.shape[1] if profiled else None
    log_det = factor.log_det + factor.log_det_fixed
    return _Restricted(log_det, float(np.sum(residual**2)), eigenvalues, squares, df)


def _estimate(at: Callable[[float], _Restricted], axis: _Axis, side_by_side: int) -> Components:
    def profile(x: float) -> float:
        likelihood = at(x)
        return likelihood.minus_log(likelihood.best()[0])

    free = axis.low < axis.high
    x, end = _minimise(profile, axis.low, axis.high, side_by_side) if free else (axis.low, "")
    found = at(x)
    share, random_end = found.best()
    scale = found.scale(share)
    first, second = axis.parts(x)
    ratio = x if axis.profiled else first / (first + second)
    random_ratio = _odds(share) / (first + second)
    words = [{"low": axis.words[0], "high": axis.words[1]}.get(end, "")]
    if len(found.eigenvalues) and random_end:
        words.append("random effect's variance at " + ("0" if random_end == "low" else "the high end of its range"))
    by_x, random_by_x = axis.slopes(ratio, random_ratio)
    random_by_share = (1 + _odds(share)) ** 2 / (first + second)
    ratio_se, random_ratio_se, covariance = nan, nan, 0.0
    if free and not end and not random_end:
        slopes = np.array([[by_x, 0.0], [random_by_x, random_by_share]])
        spread = slopes @ _inverse_curvature(at, x, share, axis) @ slopes.T
        ratio_se, random_ratio_se = np.sqrt(np.diag(spread)).tolist()
        covariance = float(spread[0, 1])
    elif free and not end:
        ratio_se = abs(by_x) * _standard_error(lambda z: at(z).minus_log(share), x, axis.low, axis.high)
    elif not random_end:
        random_ratio_se = random_by_share * _standard_error(found.minus_log, share, 0.0, _R_MAX)
    return Components(
        signal=first * scale,
        noise=second * scale,
        ratio=ratio,
        ratio_se=ratio_se,
        log_likelihood=-found.minus_log(share) - (found.df or 0) / 2,
        at_bound="; ".join(filter(None, words)),
        profiled=axis.profiled,
        random=_odds(share) * scale,
        random_ratio=random_ratio,
        random_ratio_se=random_ratio_se,
        ratios_covariance=covariance,
    )


def _minimise(
    f: Callable[[float], float], low: float, high: float, side_by_side: int = 1, points: int = 8
) -> tuple[float, str]:
    """Least value of f on [low, high] (argument, "" or "low" or "high" where it lies at an end).

    A coarse grid first, then Brent between its neighbours. The argument is rounded to 6 decimals: that is far below
    any standard error, and keeps the last bits of a BLAS with another thread count from moving it.
    """
    grid = np.linspace(low, high, points)
    if side_by_side == 1:
        values = list(map(f, grid.tolist()))
    else:
        with ThreadPoolExecutor(side_by_side) as pool:
            values = list(pool.map(f, grid.tolist()))
    k = int(np.argmin(values))
    bracket = (float(grid[max(0, k - 1)]), float(grid[min(len(grid) - 1, k + 1)]))
    found = minimize_scalar(f, bounds=bracket, method="bounded", options={"xatol": 1e-7})
    margin = (high - low) * 1e-5
    if values[0] <= found.fun or found.x < low + margin:
        return low, "low"
    if values[-1] <= found.fun or found.x > high - margin:
        return high, "high"
    return round(float(found.x), 6), ""


def _standard_error(f: Callable[[float], float], best: float, low: float, high: float) -> float:
    """From the curvature of the (profile) likelihood at its maximum; NaN where it is not curved."""
    step = min(1e-2 * (high - low), 0.5 * (best - low), 0.5 * (high - best))
    curvature = (f(best + step) - 2 * f(best) + f(best - step)) / step**2
    return sqrt(1 / curvature) if curvature > 0 else float("nan")


def _inverse_curvature(at: Callable[[float], _Restricted], x: float, share: float, axis: _Axis) -> Array:
    """Sampling covariance of x and the share, (2, 2), from the likelihood's curvature; NaN where there is none."""
    dx = min(1e-3 * (axis.high - axis.low), 0.5 * (x - axis.low), 0.5 * (axis.high - x))
    dt = min(1e-3, 0.5 * share, 0.5 * (_R_MAX - share))
    f = np.array([[p.minus_log(share + k * dt) for k in (-1, 0, 1)] for p in (at(x - dx), at(x), at(x + dx))])
    xx, tt = (f[2, 1] - 2 * f[1, 1] + f[0, 1]) / dx**2, (f[1, 2] - 2 * f[1, 1] + f[1, 0]) / dt**2
    xt = (f[2, 2] - f[2, 0] - f[0, 2] + f[0, 0]) / (4 * dx * dt)
    det = xx * tt - xt**2
    if not (xx > 0 and det > 0):
        return np.full((2, 2), nan)
    return np.asarray(np.array([[tt, -xt], [-xt, xx]]) / det)
