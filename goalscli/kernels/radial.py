"""Kernels of the squared Euclidean distance: RBF (in a module of its own), Cauchy, Matérn.

Beside the RBF a shift is a mixture of RBF shifts (:mod:`goalscli.kernels.mixture`); where that is not exact enough, N²
entries a variant.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import DTypeLike

from goalscli.kernels.base import Array, Shifter, squared_distances
from goalscli.kernels.slopes import StationarySloper
from goalscli.kernels.stationary import Stationary, differences


class Radial(Stationary):
    """A kernel of the squared Euclidean distance, smooth enough for a derivative.

    Attributes
    ----------
    curvature : float
        Var ∂_j f = curvature·theta·s.
    """

    curvature: float
    smooth = True

    @abstractmethod
    def derivative(self, reference: Array, theta: float, order: int) -> Array:
        """Derivative of ``value`` by the squared distance, of this order; infinite where it does not exist."""

    def base(self, blocks: Iterable[Array], n_samples: int) -> Array:
        """Squared Euclidean distances."""
        return squared_distances(blocks, n_samples)

    def increment(self, x: Array, xi: float) -> Array:
        """xi² + 2·xi·(x_i - x_i')."""
        return xi**2 + 2 * xi * differences(x)

    def shifter(self, gram: Array, theta: float, weights: Array, dtype: DTypeLike, reach: float) -> Shifter:
        """Make ready for shifts as mixtures of RBF shifts."""
        from goalscli.kernels.mixture import MixtureShifter

        return MixtureShifter(self, gram, theta, weights, dtype, reach)

    def sloper(
        self, gram: Array, theta: float, weights: Array, projection: Array, dtype: DTypeLike
    ) -> StationarySloper:
        """Make ready for derivatives."""
        slope = 2 * self.derivative(self.reference(gram, theta), theta, 1)
        return StationarySloper.make(slope, self.curvature * theta, weights, projection, dtype)

    def slope_rows(self, reference: Array, x: Array, theta: float) -> Array:
        """2·φ'(d²)·(x_i - x_i')."""
        return 2 * self.derivative(reference, theta, 1) * differences(x)

    def slope_covariance(self, reference: Array, x: Array, theta: float) -> Array:
        """-2·φ'(d²) - 4·φ''(d²)·(x_i - x_i')²."""
        square = differences(x) ** 2
        second = np.where(square > 0, self.derivative(reference, theta, 2), 0.0)
        return np.asarray(-2 * self.derivative(reference, theta, 1) - 4 * second * square)


@dataclass(frozen=True)
class Cauchy(Radial):
    """Rational quadratic kernel of exponent 1: k(x, x')/s = 1/(1 + theta·|x - x'|²)."""

    name: str = "cauchy"
    curvature: float = 2.0
    matrices: int = 8

    def value(self, distance: Array, theta: float) -> Array:
        """1/(1 + theta·d²), in place."""
        distance *= theta
        distance += 1
        return np.reciprocal(distance, out=distance)

    def distance(self, gram: Array, theta: float) -> Array:
        """(1/k - 1)/theta."""
        return np.asarray((1 / gram - 1) / theta)

    def difference(self, reference: Array, increment: Array, theta: float) -> Array:
        """1/u - 1/(u + a) = a·k²/(1 + a·k), k = 1/u."""
        a = theta * increment
        return np.asarray(a * reference**2 / (1 + a * reference))

    def second_difference(self, reference: Array, first: Array, second: Array, theta: float) -> Array:
        """1/u - 1/(u+a) - 1/(u+b) + 1/(u+a+b) = a·b·(2u+a+b)/[u(u+a)(u+b)(u+a+b)]."""
        u, a, b = 1 / reference, theta * first, theta * second
        return np.asarray(a * b * (2 * u + a + b) / (u * (u + a) * (u + b) * (u + a + b)))

    def derivative(self, reference: Array, theta: float, order: int) -> Array:
        """(-theta)^m·m!·k^(m+1)."""
        return np.asarray((-theta) ** order * factorial(order) * reference ** (order + 1))


@dataclass(frozen=True)
class Matern(Radial):
    """Matérn kernel of half-integer order nu, 3/2 or 5/2; theta = 1/length², r = sqrt(2·nu·theta)·|x - x'|."""

    name: str
    nu: float
    matrices: int = 8

    @property
    def curvature(self) -> float:  # type: ignore[override]
        """2·nu/(2·nu - 2): 3 for 3/2, 5/3 for 5/2."""
        return self.nu / (self.nu - 1)

    def value(self, distance: Array, theta: float) -> Array:
        """(1 + r)·e^-r for 3/2, (1 + r + r²/3)·e^-r for 5/2."""
        r = np.sqrt(2 * self.nu * theta * distance)
        return _bessel(self.nu, r) / _bessel(self.nu, np.zeros(1))

    def distance(self, gram: Array, theta: float) -> Array:
        """Newton's iteration for r in -log k(r) = t, convex in r, from above."""
        t = -np.log(np.minimum(gram, 1.0))
        r = t + np.sqrt(4 * self.nu / self.curvature * t) + np.log1p(t) * (self.nu - 0.5)
        for _ in range(12):
            polynomial, slope = (1 + r, 1.0) if self.nu == 1.5 else (1 + r + r**2 / 3, 1 + 2 * r / 3)
            gradient = 1 - slope / polynomial
            step = np.divide(r - np.log(polynomial) - t, gradient, out=np.zeros_like(r), where=gradient > 0)
            r = np.maximum(r - step, 0.0)
        return np.asarray(r**2 / (2 * self.nu * theta))

    def reference(self, gram: Array, theta: float) -> Array:
        """Squared distances."""
        return self.distance(gram, theta)

    def reference_at(self, distance: Array, theta: float) -> Array:
        """The distances themselves."""
        return distance

    def difference(self, reference: Array, increment: Array, theta: float) -> Array:
        """value(d²) - value(d² + increment)."""
        shifted = np.maximum(reference + increment, 0.0)
        return np.asarray(self.value(reference, theta) - self.value(shifted, theta))

    def second_difference(self, reference: Array, first: Array, second: Array, theta: float) -> Array:
        """Two differences."""
        moved = np.maximum(reference + second, 0.0)
        return np.asarray(self.difference(reference, first, theta) - self.difference(moved, first, theta))

    def derivative(self, reference: Array, theta: float, order: int) -> Array:
        """(-nu·theta)^m·F(nu - m)/F(nu at 0), since d/d(d²) F(nu) = -nu·theta·F(nu - 1) for F(μ) = r^μ·K_μ(r)."""
        r = np.sqrt(2 * self.nu * theta * reference)
        return np.asarray((-self.nu * theta) ** order * _bessel(self.nu - order, r) / _bessel(self.nu, np.zeros(1)))


def _bessel(mu: float, r: Array) -> Array:
    """sqrt(2/π)·r^μ·K_μ(r) for half-integer μ: e^-r at 1/2, (1 + r)·e^-r at 3/2, …; r^2μ times that of -μ below 0."""
    previous, current = np.exp(-r), (1 + r) * np.exp(-r)
    order = abs(mu)
    if order == 0.5:
        current = previous
    for k in range(round(order - 1.5)):
        previous, current = current, r**2 * previous + 2 * (1.5 + k) * current
    if mu >= 0:
        return np.asarray(current)
    with np.errstate(divide="ignore"):
        return np.asarray(current * r ** (2 * mu))
