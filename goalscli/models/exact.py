"""Exact Gaussian process regression: one N×N Gram matrix, one Cholesky factor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset
from goalscli.errors import InputError, SettingsError
from goalscli.kernels import GRAM_VARIANTS, GramProducts, kernel, median_bandwidth, product
from goalscli.models.reml import Factor, estimate, factorising
from goalscli.posterior import Shift
from goalscli.runtime import LOG, Progress, check_memory

Array = NDArray[np.float64]
Precision = Literal["single", "double"]


@dataclass(frozen=True)
class ExactGP:
    """Settings of the exact model.

    Attributes
    ----------
    kernel : str
        Covariance function.
    bandwidth : "median" or "1/J"
        theta = 1/median of the squared distances, or 1/J (the authors' released code).
    theta : float, optional
        Inverse squared bandwidth; overrides ``bandwidth``.
    signal, noise : float, optional
        Fixed variances in trait variances; REML where None.
    memory_gb : float, optional
        Memory that may be used; the machine's limit where None.
    """

    kernel: str = "rbf"
    bandwidth: Literal["median", "1/J"] = "median"
    theta: float | None = None
    signal: float | None = None
    noise: float | None = None
    memory_gb: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        kernel(self.kernel)
        if self.bandwidth not in ("median", "1/J"):
            raise SettingsError(
                f"no bandwidth {self.bandwidth!r}", where="--bandwidth", remedy="give median, 1/J or a number"
            )
        for name, low in (("theta", 0.0), ("signal", 0.0), ("noise", 0.0)):
            value = getattr(self, name)
            if value is not None and not low < value < float("inf"):
                raise SettingsError(f"{value} is not a positive number", where=f"--{name}", remedy="give one above 0")

    def check_memory(self, n_samples: int) -> None:
        """Refuse more samples than memory holds: three N×N matrices of float64 at the peak of the fit."""
        check_memory(3 * 8.0 * n_samples**2 + 2**28, f"an exact fit of {n_samples} samples", self.memory_gb)

    def fit(self, dataset: Dataset) -> ExactPosterior:
        """Gram matrix, bandwidth, variance components, posterior.

        Raises
        ------
        ResourceError
            N×N does not fit in memory.
        InputError
            No degree of freedom is left by the covariates, or the covariance is singular.
        """
        n = dataset.n_samples
        self.check_memory(n)
        function = kernel(self.kernel)
        with Progress("Gram matrix", dataset.n_variants) as progress:

            def blocks() -> Any:
                for chunk in dataset.chunks(GRAM_VARIANTS):
                    yield chunk.values
                    progress.advance(len(chunk.index))

            distances = function.distances(blocks(), n)
        theta = self.theta or (1 / dataset.n_variants if self.bandwidth == "1/J" else median_bandwidth(distances))
        gram = function.gram(distances, theta)
        y, fixed = dataset.phenotype, dataset.covariates.matrix
        with Progress("variance components", 1) as progress:
            parts = estimate(gram, y, fixed, self.signal, self.noise)
            with factorising(n):
                weights = Factor(gram, parts.signal, parts.noise, fixed).project(y)
            progress.advance(1)
        constant = float((np.trace(gram) - gram.sum() / n) / (n - 1))
        total = parts.signal * constant + parts.noise
        pve = parts.signal * constant / total
        # d pve/d r for pve = rc/(rc + 1 - r).
        slope = constant / (parts.ratio * constant + 1 - parts.ratio) ** 2
        posterior = ExactPosterior(
            kernel=self.kernel,
            theta=float(theta),
            signal_variance=parts.signal,
            noise_variance=parts.noise,
            ratio=parts.ratio,
            ratio_se=parts.ratio_se,
            pve=pve,
            pve_se=nan if isnan(parts.ratio_se) else slope * parts.ratio_se,
            log_likelihood=parts.log_likelihood,
            at_bound=parts.at_bound,
            profiled=parts.profiled,
            gram=gram,
            covariates=fixed,
            phenotype=y,
            weights=weights,
        )
        posterior.log()
        return posterior


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """Posterior of an exact Gaussian process (see :class:`goalscli.posterior.Shiftable`).

    Attributes
    ----------
    kernel : str
    theta, signal_variance, noise_variance : float
    ratio, ratio_se, pve, pve_se, log_likelihood : float
        r = s/(s + σ²); pve, the share of trait variance that genotypes explain, additive and not; NaN where no
        standard error exists.
    at_bound : str
        Words for a variance that ended at a bound.
    profiled : bool
    gram : (N, N) float64
        K/s.
    covariates : (N, q) float64
    phenotype, weights : (N,) float64
        y and alpha = P·y.
    precision : "single" or "double"
        Of the products of :meth:`shift`; factorisations are always in double.
    """

    kernel: str
    theta: float
    signal_variance: float
    noise_variance: float
    ratio: float
    ratio_se: float
    pve: float
    pve_se: float
    log_likelihood: float
    at_bound: str
    profiled: bool
    gram: Array
    covariates: Array
    phenotype: Array
    weights: Array
    precision: Precision = "single"

    def with_precision(self, precision: Precision) -> ExactPosterior:
        """Return the same posterior with products in another precision."""
        if precision not in ("single", "double"):
            raise SettingsError(f"no precision {precision!r}", where="--precision", remedy="give single or double")
        return replace(self, precision=precision)

    def log(self) -> None:
        """Write what was fitted to the log."""
        se = "" if isnan(self.pve_se) else f" (se {self.pve_se:.3f})"
        LOG.info(
            "theta %.6g, signal %.4g, noise %.4g; "
            "pve, the share of variance that genotypes explain, additive and not: %.3f%s",
            self.theta, self.signal_variance, self.noise_variance, self.pve, se,
        )  # fmt: skip
        if self.at_bound:
            LOG.warning("warning: %s; no standard error is given", self.at_bound)
        if not self.profiled:
            LOG.warning("warning: variances fixed by hand: p-values are only as right as they are")

    @property
    def residual_df(self) -> int:
        """N - q."""
        return int(len(self.phenotype) - self.covariates.shape[1])

    @property
    def mean(self) -> Array:
        """E[f] = K·alpha, (N,)."""
        return self.signal_variance * (self.gram @ self.weights)

    def covariance(self) -> Array:
        """V[f] = K - K·P·K, (N, N)."""
        k = self.signal_variance * self.gram
        return np.asarray(k - k @ self._projection @ k)

    def project(self, right: Array) -> Array:
        """P·right, float64."""
        return np.asarray(self._projection @ right)

    @cached_property
    def _projection(self) -> Array:
        return self._invert()

    def _invert(self) -> Array:
        return Factor(self.gram, self.signal_variance, self.noise_variance, self.covariates).projection_matrix()

    @cached_property
    def _products(self) -> tuple[GramProducts, NDArray[np.float32] | NDArray[np.float64]]:
        """The Gram matrix and P in the precision of the products."""
        sums, fitted = np.asarray(self.gram.sum(axis=1)), np.asarray(self.gram @ self.weights)
        if self.precision == "double":
            return GramProducts(self.gram, sums, self.weights, fitted), self._projection
        # P is not kept in double: at N = 20,000 that would be 3 GB for nothing.
        single, projection = self.gram.astype(np.float32), self._invert().astype(np.float32)
        return GramProducts(single, sums, self.weights, fitted), projection

    def prepare(self) -> None:
        """Factorise now rather than at the first shift, which several threads may call at once."""
        _ = self._products

    def shift(self, values: Array, xi: float | Array) -> Shift:
        """Shift each column of ``values`` by xi.

        Parameters
        ----------
        values : (N, C) float64
        xi : float or (C,)
            In the units of ``values``; not 0.
        """
        gram, projection = self._products
        s = self.signal_variance
        unit = kernel(self.kernel).shift(gram, values, xi, self.theta)
        h = unit.mean_covariance
        mean = np.einsum("ij,i->j", h, self.weights)
        null = np.einsum("ij,ij->j", h, product(projection, h))
        # A variant that the fixed effects determine has null 0 up to rounding: it has no z, not an infinite one.
        scale = np.einsum("ij,ij->j", h, h) / max(self.noise_variance, s)
        null = np.where(null > scale * (1e-10 if projection.dtype == np.float64 else 1e-5), null, 0.0)
        z = np.divide(mean, np.sqrt(null), out=np.zeros_like(mean), where=null > 0)
        variance = np.maximum(s * unit.prior_variance - s**2 * null, 0.0)
        return Shift(s * mean, variance, s**2 * null, z, lambda: s * unit.local())


def check_finite(values: Array, what: str) -> None:
    """Refuse NaN and infinity before they reach a result."""
    bad = int(np.count_nonzero(~np.isfinite(values)))
    if bad:
        raise InputError(f"{bad} values of {what} are not finite", remedy="check --signal, --noise, --theta and --xi")
