"""The contract between models and scores: what a posterior of f offers. No code: either side can be replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shift:
    """Posterior of the GOALS operator f(x) - f(x + xi e_j) for a block of C variants.

    Attributes
    ----------
    mean : (C,) float64
        Posterior mean of the global score (the mean over samples); trait sd, the paper's sign f - g.
    variance : (C,) float64
        Posterior variance of the global score (Eq. S4).
    null_variance : (C,) float64
        Variance of ``mean`` over traits drawn from the polygenic null, hᵀPh.
    z : (C,) float64
        mean/sqrt(null_variance), by its limit where the signal variance is 0.
    local : callable
        () -> (N, C) float64, posterior mean for each sample (Eq. 12); computed only when called.
    """

    mean: Array
    variance: Array
    null_variance: Array
    z: Array
    local: Callable[[], Array]


@dataclass(frozen=True)
class Slope:
    """Posterior of psi, the mean over samples of the squared derivative of f by a variant, for a block of C variants.

    Attributes
    ----------
    plug_in : (C,) float64
        Mean square of the derivative's posterior mean.
    mean : (C,) float64
        Posterior mean of psi: ``plug_in`` plus the mean posterior variance of the derivative.
    excess : (C,) float64
        ``plug_in`` over its expectation under the polygenic null; by its limit where the signal variance is 0.
    """

    plug_in: Array
    mean: Array
    excess: Array


@dataclass(frozen=True)
class JointShift:
    """Joint posterior of the GOALS operator for m variants, in trait sd and the paper's sign f - g.

    Attributes
    ----------
    mean, covariance : (m,), (m, m) float64
        Of the global scores (Eqs. S3, S4).
    local, local_sd : (N, m) float64
        Posterior mean and sd of each sample's local score.
    """

    mean: Array
    covariance: Array
    local: Array
    local_sd: Array


@dataclass(frozen=True)
class JointSlope:
    """Posterior of psi for m variants.

    Attributes
    ----------
    mean, sd : (m,) float64
        Exact.
    draws : (m, n_draws) float64
        Each variant's by itself: draws of different variants are independent, given the data.
    """

    mean: Array
    sd: Array
    draws: Array


@runtime_checkable
class Posterior(Protocol):
    """Posterior of f at the N analysed samples.

    Attributes
    ----------
    residual_df : int
        N minus the number of fixed effects.
    profiled : bool
        The scale of the variances was estimated from this trait (REML), rather than given.
    """

    residual_df: int
    profiled: bool

    @property
    def mean(self) -> Array:
        """Posterior mean of f, (N,) float64."""

    def covariance(self) -> Array:
        """Posterior covariance of f, (N, N) float64."""

    def project(self, right: Array) -> Array:
        """P·right, (N, C) float64; P = A⁻¹ less its projection on the fixed effects."""


@runtime_checkable
class Shiftable(Posterior, Protocol):
    """A posterior that can shift one feature at a time."""

    def shifts(self, reach: float) -> Callable[[Array, float | Array], Shift]:
        """Do the work that all shifts share, and return what shifts each column of (N, C) by xi: a number, or (C,).

        It may be called from several threads. ``reach`` is the greatest xi² + 2·|xi|·(range of a variant) to come.
        """


@runtime_checkable
class Differentiable(Posterior, Protocol):
    """A posterior that knows the derivatives of f."""

    def slopes(self) -> Callable[[Array], Slope]:
        """Do the work that all derivatives share, and return what gives those by each column of (N, C).

        It may be called from several threads.

        Raises
        ------
        SettingsError
            f has no derivative (the kernel is not smooth); the message lists what has.
        """


@runtime_checkable
class LeavesOut(Shiftable, Protocol):
    """A posterior that can be had without some of the variants, everything estimated kept."""

    def leave_out(self, blocks: Iterable[Array]) -> Shiftable:
        """Return the posterior without the variants whose features (N, C) the blocks hold."""


@runtime_checkable
class Joint(Posterior, Protocol):
    """A posterior that gives the joint distribution of a few variants' scores."""

    def joint_shift(self, values: Array, xi: Array, advance: Callable[[int], None] = ...) -> JointShift:
        """Shift each column of ``values`` (N, m) by xi (m,); ``advance`` is told of each variant done."""

    def joint_slope(
        self, values: Array, n_draws: int, rng: np.random.Generator, advance: Callable[[int], None] = ...
    ) -> JointSlope:
        """Psi of each column of ``values`` (N, m).

        Raises
        ------
        SettingsError
            f has no derivative.
        """
