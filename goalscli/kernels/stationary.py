"""Kernels of a distance that sums over variants: what they share when one variant is shifted.

k(x, x')/s = value(d). Shifting the first sample by xi in one variant adds an increment to its distances, shifting the
second one the increment's transpose; increments of different variants add.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Stationary(ABC):
    """A kernel of a distance."""

    name: str
    has_bandwidth = True

    @abstractmethod
    def value(self, distance: Array, theta: float) -> Array:
        """k/s; may overwrite ``distance``."""

    @abstractmethod
    def distance(self, gram: Array, theta: float) -> Array:
        """Distances of a Gram matrix, the inverse of :meth:`value`; a new array."""

    @abstractmethod
    def increment(self, x: Array, xi: float) -> Array:
        """What the distances of sample i to i' gain when x_i is shifted by xi, (N, N)."""

    def reference(self, gram: Array, theta: float) -> Array:
        """What differences start from: here K/s itself."""
        return gram

    def reference_at(self, distance: Array, theta: float) -> Array:
        """:meth:`reference` of these distances, of any shape."""
        return self.value(distance.copy(), theta)

    @abstractmethod
    def difference(self, reference: Array, increment: Array, theta: float) -> Array:
        """value(d) - value(d + increment), without cancellation where the kernel allows."""

    @abstractmethod
    def second_difference(self, reference: Array, first: Array, second: Array, theta: float) -> Array:
        """value(d) - value(d + a) - value(d + b) + value(d + a + b)."""

    def gram(self, base: Array, theta: float) -> Array:
        """K/s; overwrites ``base``."""
        return self.value(base, theta)

    def leave_out(self, gram: Array, part: Array, theta: float) -> Array:
        """K/s at the distances less ``part``."""
        distance = self.distance(gram, theta)
        distance -= part
        np.maximum(distance, 0.0, out=distance)
        np.fill_diagonal(distance, 0.0)
        return self.value(distance, theta)

    def rows(self, reference: Array, x: Array, xi: float, theta: float) -> Array:
        """K - B as in Eq. 12, entry by entry."""
        return self.difference(reference, self.increment(x, xi), theta)

    def prior_variance(self, rows: Array, xi: float, theta: float) -> float:
        """2·1ᵀ(K - B)1/N²."""
        return 2 * float(rows.mean())

    def shift_variance(self, xi: float, theta: float) -> float:
        """2·(value(0) - value(of the shift alone))."""
        alone = self.reference(np.ones((1, 1)), theta)
        return 2 * float(self.difference(alone, self.increment(np.zeros(1), xi), theta)[0, 0])

    def cross_variance(
        self, reference: Array, first: tuple[Array, float], second: tuple[Array, float], theta: float
    ) -> float:
        """Mean over pairs of samples of the second difference (Eq. S4's D)."""
        a, b = self.increment(*first), self.increment(*second).T
        return float(self.second_difference(reference, a, b, theta).mean())


def differences(x: Array) -> Array:
    """x_i - x_i', (N, N)."""
    return np.asarray(x[:, None] - x)
