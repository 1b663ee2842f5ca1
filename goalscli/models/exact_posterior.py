"""Posterior of f under an exact Gaussian process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isnan
from typing import Any, Literal

import numpy as np

from goalscli.dataset import RandomEffect
from goalscli.errors import SettingsError
from goalscli.kernels import Shifter, Sloper, kernel, product, require_smooth
from goalscli.kernels.base import Array, Matrix
from goalscli.models import joint
from goalscli.models.factor import Factor, factorising
from goalscli.posterior import JointShift, JointSlope, Shift, Slope
from goalscli.runtime import LOG

Precision = Literal["single", "double"]


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """Posterior of an exact Gaussian process, y = Wγ + f(x) + ε (see :class:`goalscli.posterior.Shiftable`).

    Attributes
    ----------
    kernel : str
        Name of the covariance function.
    theta : float
        Inverse squared bandwidth, in 1 / (unit of the features)².
    signal_variance, noise_variance, random_variance : float
        s, σ² and that of the random effect, in trait variances.
    ratio, ratio_se : float
        r = s/(s + σ²) and its standard error, NaN where there is none.
    pve, pve_se : float
        Share of trait variance that genotypes explain, additive and not; NaN where no standard error exists.
    log_likelihood : float
        Restricted, at the variances above.
    random_share, random_share_se : float
        Share of trait variance that the random effect explains; 0 without one.
    at_bound : str
        Words for a variance that ended at a bound.
    profiled : bool
        The scale of the variances was estimated (REML), so p comes from a t distribution.
    gram : (N, N) float64
        K/s.
    covariates : (N, q) float64
        Fixed effects W.
    phenotype, weights : (N,) float64
        y and alpha = P·y.
    random : RandomEffect, optional
        A further variance component, felt through P.
    precision : "single" or "double"
        Of the products of :meth:`shift`; factorisations are always in double.
    """

    kernel: str
    theta: float
    signal_variance: float
    noise_variance: float
    random_variance: float
    ratio: float
    ratio_se: float
    pve: float
    pve_se: float
    random_share: float
    random_share_se: float
    log_likelihood: float
    at_bound: str
    profiled: bool
    gram: Array
    covariates: Array
    phenotype: Array
    weights: Array
    random: RandomEffect | None = None
    precision: Precision = "single"

    def with_precision(self, precision: Precision) -> ExactPosterior:
        """Return the same posterior with products in another precision.

        Parameters
        ----------
        precision : "single" or "double"

        Returns
        -------
        ExactPosterior

        Raises
        ------
        SettingsError
            Another word.
        """
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
        if self.random is not None:
            error = "" if isnan(self.random_share_se) else f" (se {self.random_share_se:.3f})"
            LOG.info(
                "%s (%d levels): variance %.4g, share of variance %.3f%s",
                self.random.name, len(self.random.levels), self.random_variance, self.random_share, error,
            )  # fmt: skip
        if self.at_bound:
            LOG.warning("warning: %s%s", self.at_bound, "; no standard error is given" if isnan(self.pve_se) else "")
        if not self.profiled:
            LOG.warning("warning: variances fixed by hand: p-values are only as right as they are")

    @property
    def residual_df(self) -> int:
        """N - q."""
        return int(len(self.phenotype) - self.covariates.shape[1])

    @property
    def mean(self) -> Array:
        """E[f] = K·alpha, (N,) float64, trait sd."""
        return self.signal_variance * (self.gram @ self.weights)

    def covariance(self) -> Array:
        """V[f] = K - K·P·K, with P for A⁻¹ where there are fixed effects.

        Returns
        -------
        (N, N) float64
            Trait variances.
        """
        k = self.signal_variance * self.gram
        return np.asarray(k - k @ self._projection_once() @ k)

    def project(self, right: Array) -> Array:
        """Multiply by P = A⁻¹ - A⁻¹W(WᵀA⁻¹W)⁻¹WᵀA⁻¹, A = K + σ²I.

        Parameters
        ----------
        right : (N,) or (N, C) float64

        Returns
        -------
        (N,) or (N, C) float64
        """
        return np.asarray(self._projection @ right)

    @cached_property
    def _projection(self) -> Array:
        return self._invert()

    def _projection_once(self) -> Array:
        """P in double; not kept where products are single: at N = 20,000 that would be 3 GB for nothing."""
        return self._projection if self.precision == "double" else self._invert()

    def _invert(self) -> Array:
        return self._factor(self.gram).projection_matrix()

    def _factor(self, gram: Array) -> Factor:
        design = None if self.random is None else self.random.design()
        return Factor(gram, self.signal_variance, self.noise_variance, self.covariates, design, self.random_variance)

    @property
    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.precision == "double" else np.float32)

    def shifts(self, reach: float) -> Callable[[Array, float | Array], Shift]:
        """Make ready for shifts: the kernel's matrices and P in the precision of the products.

        Parameters
        ----------
        reach : float
            The greatest xi² + 2·|xi|·(range of a variant) to come.

        Returns
        -------
        callable
            (values (N, C), xi) -> Shift, as :meth:`shift`; may be called from several threads.
        """
        shifter = kernel(self.kernel).shifter(self.gram, self.theta, self.weights, self._dtype, reach)
        return partial(self._shift, shifter, self._projection_once().astype(self._dtype, copy=False))

    def shift(self, values: Array, xi: float | Array) -> Shift:
        """Shift each column of ``values`` by xi; :meth:`shifts` does so again and again.

        Parameters
        ----------
        values : (N, C) float64
        xi : float or (C,)
            In the units of ``values``; not 0.

        Returns
        -------
        Shift
            Mean, variance and null variance of the global scores (Eqs. S3, S4), local scores (Eq. 12); trait sd.
        """
        reach = np.max(np.square(xi) + 2 * np.abs(xi) * np.ptp(values, axis=0))
        return self.shifts(float(reach))(values, xi)

    def _shift(self, shifter: Shifter, projection: Matrix, values: Array, xi: float | Array) -> Shift:
        s, unit = self.signal_variance, shifter(values, xi)
        h = unit.mean_covariance
        mean = np.einsum("ij,i->j", h, self.weights)
        null = np.einsum("ij,ij->j", h, product(projection, h))
        # A variant that the fixed effects determine has null 0 up to rounding: it has no z, not an infinite one.
        scale = np.einsum("ij,ij->j", h, h) / max(self.noise_variance, s)
        null = np.where(null > scale * (1e-10 if projection.dtype == np.float64 else 1e-5), null, 0.0)
        z = np.divide(mean, np.sqrt(null), out=np.zeros_like(mean), where=null > 0)
        variance = np.maximum(s * unit.prior_variance - s**2 * null, 0.0)
        return Shift(s * mean, variance, s**2 * null, z, lambda: s * unit.local())

    def slopes(self) -> Callable[[Array], Slope]:
        """Make ready for derivatives: the quadratic forms in the precision of the products.

        Returns
        -------
        callable
            values (N, C) -> Slope; may be called from several threads.

        Raises
        ------
        SettingsError
            f has no derivative under this kernel.
        """
        require_smooth(self.kernel)
        sloper = kernel(self.kernel).sloper(self.gram, self.theta, self.weights, self._projection_once(), self._dtype)
        return partial(self._slope, sloper)

    def _slope(self, sloper: Sloper, values: Array) -> Slope:
        s, unit = self.signal_variance, sloper(values)
        excess = np.divide(
            unit.mean_square,
            unit.explained,
            out=np.zeros_like(unit.explained),
            where=unit.explained * max(self.noise_variance, s) > unit.prior * 1e-12,
        )
        left = np.maximum(s * unit.prior - s**2 * unit.explained, 0.0)
        return Slope(s**2 * unit.mean_square, s**2 * unit.mean_square + left, excess)

    def joint_shift(self, values: Array, xi: Array, advance: Callable[[int], None] = lambda n: None) -> JointShift:
        """Joint posterior of the scores of a few variants (Eqs. S3, S4); N×N work for each.

        Parameters
        ----------
        values : (N, m) float64
            Their features.
        xi : (m,) float64
            Shifts, in the units of ``values``.
        advance : callable
            Told of each variant done.

        Returns
        -------
        JointShift
        """
        return joint.joint_shift(self, values, xi, advance)

    def joint_slope(
        self,
        values: Array,
        n_draws: int,
        rng: np.random.Generator,
        advance: Callable[[int], None] = lambda n: None,
    ) -> JointSlope:
        """Posterior of psi of a few variants; N×N work for each.

        Parameters
        ----------
        values : (N, m) float64
            Their features.
        n_draws : int
            Samples of psi for each variant.
        rng : numpy.random.Generator
        advance : callable
            Told of each variant done.

        Returns
        -------
        JointSlope

        Raises
        ------
        SettingsError
            f has no derivative under this kernel.
        """
        require_smooth(self.kernel)
        return joint.joint_slope(self, values, n_draws, rng, advance)

    def leave_out(self, blocks: Iterable[Array]) -> ExactPosterior:
        """Return the posterior without the variants of the blocks; theta and the ratios of variances stay.

        Where the scale of the variances was estimated it is so again, v = yᵀPy/(N - q): with fixed variances, K without
        a chromosome would stand for less of the trait than before, and tests would be too bold.

        Parameters
        ----------
        blocks : iterable of (N, C) float64
            Features of the variants to leave out.

        Returns
        -------
        ExactPosterior
        """
        function = kernel(self.kernel)
        gram = function.leave_out(self.gram, function.base(blocks, len(self.gram)), self.theta)
        with factorising(len(gram)):
            weights = self._factor(gram).project(self.phenotype)
        scale = float(self.phenotype @ weights) / self.residual_df if self.profiled else 1.0
        return replace(
            self,
            gram=gram,
            weights=weights / scale,
            signal_variance=self.signal_variance * scale,
            noise_variance=self.noise_variance * scale,
            random_variance=self.random_variance * scale,
        )
