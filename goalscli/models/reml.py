"""Variance components of A = s·K₀ + σ²·I with fixed effects, by restricted maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular
from scipy.linalg.blas import dgemm
from scipy.optimize import minimize_scalar

from goalscli.errors import InputError
from goalscli.kernels import mirror
from goalscli.runtime import cpu_limit, single_threaded_blas

Array = NDArray[np.float64]

_THREADED_FROM = 4000
"""Samples from which one factorisation is worth all threads. Below, threads of BLAS gain little alone on a machine and
lose minutes waiting for each other on a busy one; the grid's factorisations run side by side instead."""

_R_MAX = 1 - 1e-5
"""Identical twins make K₀ singular, so all variance as signal is never quite reached."""


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
        Words for a component that ended at a bound; empty otherwise.
    profiled : bool
        Both were estimated, so the scale of A is the trait's own.
    """

    signal: float
    noise: float
    ratio: float
    ratio_se: float
    log_likelihood: float
    at_bound: str
    profiled: bool


class Factor:
    """Cholesky factor of A = s·K₀ + σ²·I and the fixed effects' basis in its metric.

    Parameters
    ----------
    gram : (N, N) float64
        K₀ = K/s.
    signal, noise : float
    covariates : (N, q) float64
        Full rank; q may be 0.
    """

    def __init__(self, gram: Array, signal: float, noise: float, covariates: Array) -> None:
        buffer = np.empty(gram.shape, order="F")
        np.multiply(gram, signal, out=buffer)
        buffer.flat[:: len(buffer) + 1] += noise
        self.lower, info = lapack.dpotrf(buffer, lower=1, overwrite_a=1, clean=1)
        if info != 0:
            raise InputError(
                f"the covariance matrix is not positive definite at signal {signal:g}, noise {noise:g}",
                remedy="check for duplicated samples, or raise --noise",
            )
        self.log_det = 2 * float(np.log(np.diag(self.lower)).sum())
        self.log_det_fixed = 0.0
        self.basis = np.zeros((len(gram), 0))
        if covariates.shape[1]:
            self.basis, triangle = np.linalg.qr(self.half_solve(covariates))
            self.log_det_fixed = 2 * float(np.log(np.abs(np.diag(triangle))).sum())

    def half_solve(self, right: Array) -> Array:
        """L⁻¹·right."""
        return np.asarray(solve_triangular(self.lower, right, lower=True, check_finite=False))

    def residual(self, right: Array) -> Array:
        """(I - QQᵀ)L⁻¹·right, whose squared norm is rightᵀ·P·right."""
        half = self.half_solve(right)
        return np.asarray(half - self.basis @ (self.basis.T @ half))

    def project(self, right: Array) -> Array:
        """P·right."""
        half = self.residual(right)
        return np.asarray(solve_triangular(self.lower, half, lower=True, trans="T", check_finite=False))

    def projection_matrix(self) -> Array:
        """P, (N, N) float64; overwrites the factor, after which this object is of no more use."""
        correction = solve_triangular(self.lower, self.basis, lower=True, trans="T", check_finite=False)
        inverse, _ = lapack.dpotri(self.lower, lower=1, overwrite_c=1)
        mirror(inverse)
        if correction.shape[1]:
            # In place: P = A⁻¹ - correction·correctionᵀ.
            inverse = dgemm(-1.0, correction, correction, beta=1.0, c=inverse, trans_b=1, overwrite_c=1)
        return np.asarray(inverse)


def factorising(n_samples: int) -> AbstractContextManager[None]:
    """Context in which factors of this size are best made."""
    return single_threaded_blas() if n_samples < _THREADED_FROM else nullcontext()


def estimate(
    gram: Array,
    phenotype: Array,
    covariates: Array,
    signal: float | None = None,
    noise: float | None = None,
) -> Components:
    """Find s and σ² by REML, or take those that are given.

    Minimises ½[log|A| + log|WᵀA⁻¹W| + yᵀPy]; with neither given the scale is profiled out: over r alone,
    ½[log|A₀| + log|WᵀA₀⁻¹W| + (N-q)·log v], A₀ = r·K₀ + (1-r)·I, v = yᵀP₀y/(N-q). Some 20 Cholesky factorisations.

    Parameters
    ----------
    gram : (N, N) float64
        K₀ = K/s.
    phenotype : (N,) float64
    covariates : (N, q) float64
    signal, noise : float, optional
        Fixed values.
    """
    with factorising(len(gram)):
        return _estimate(gram, phenotype, covariates, signal, noise)


def _estimate(
    gram: Array, phenotype: Array, covariates: Array, signal: float | None, noise: float | None
) -> Components:
    df = len(gram) - covariates.shape[1]
    side_by_side = 1 if len(gram) >= _THREADED_FROM else min(4, cpu_limit())

    def minus_log_likelihood(s: float, v: float) -> float:
        factor = Factor(gram, s, v, covariates)
        rss = float(np.sum(factor.residual(phenotype) ** 2))
        return 0.5 * (factor.log_det + factor.log_det_fixed + rss)

    def profiled(r: float) -> tuple[float, float]:
        factor = Factor(gram, r, 1 - r, covariates)
        v = float(np.sum(factor.residual(phenotype) ** 2)) / df
        return 0.5 * (factor.log_det + factor.log_det_fixed + df * log(v)), v

    if signal is None and noise is None:
        ratio, at_bound = _minimise(lambda r: profiled(r)[0], 0.0, _R_MAX, side_by_side)
        value, scale = profiled(ratio)
        se = float("nan") if at_bound else _standard_error(lambda r: profiled(r)[0], ratio, 0.0, _R_MAX)
        where = {
            "": "",
            "low": "signal variance at 0: the trait shows no genetic signal",
            "high": "noise variance at 0",
        }
        return Components(ratio * scale, (1 - ratio) * scale, ratio, se, -value - df / 2, where[at_bound], True)
    if signal is not None and noise is not None:
        value = minus_log_likelihood(signal, noise)
        return Components(signal, noise, _ratio(signal, noise), float("nan"), -value, "", False)
    return _one_free(minus_log_likelihood, signal, noise, side_by_side)


def _one_free(
    objective: Callable[[float, float], float], signal: float | None, noise: float | None, side_by_side: int
) -> Components:
    """Search the component that is not given, on a log scale from 1e-6 to 100 trait variances."""

    def at(log_free: float) -> float:
        return objective(exp(log_free) if signal is None else signal, exp(log_free) if noise is None else noise)

    best, at_bound = _minimise(at, log(1e-6), log(100.0), side_by_side)
    free, name = exp(best), "signal" if signal is None else "noise"
    s, v = (free if signal is None else signal), (free if noise is None else noise)
    where = f"{name} variance at the {at_bound} end of its range" if at_bound else ""
    ratio = _ratio(s, v)
    # d ratio / d log(free) is ±r(1 - r).
    se = float("nan") if at_bound else ratio * (1 - ratio) * _standard_error(at, best, log(1e-6), log(100.0))
    return Components(s, v, ratio, se, -at(best), where, False)


def _ratio(signal: float, noise: float) -> float:
    return signal / (signal + noise)


def _minimise(f: Callable[[float], float], low: float, high: float, side_by_side: int) -> tuple[float, str]:
    """Least value of f on [low, high] (argument, "" or "low" or "high" where it lies at an end).

    A coarse grid first, then Brent between its neighbours. The argument is rounded to 6 decimals: that is far below
    any standard error, and keeps the last bits of a BLAS with another thread count from moving it.
    """
    grid = np.linspace(low, high, 8)
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
