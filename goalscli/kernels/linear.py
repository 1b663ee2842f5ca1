"""Linear kernel: the linear mixed model, in the same frame. Every shift moves all samples alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from goalscli.kernels.base import Array, KernelShift, KernelSlope, Matrix, in_precision, inner_products, product


@dataclass(frozen=True)
class Linear:
    """k(x, x')/s = theta·xᵀx', theta = 1/J; the effects of the variants are independent, of variance s/J each."""

    name: str = "linear"
    has_bandwidth: bool = False
    smooth: bool = True
    matrices: int = 0

    def base(self, blocks: Iterable[Array], n_samples: int) -> Array:
        """Inner products."""
        return inner_products(blocks, n_samples)

    def gram(self, base: Array, theta: float) -> Array:
        """theta·X·Xᵀ, in place."""
        base *= theta
        return base

    def leave_out(self, gram: Array, part: Array, theta: float) -> Array:
        """K/s less the part of the variants left out; theta stays."""
        part *= -theta
        part += gram
        return part

    def shifter(self, gram: Array, theta: float, weights: Array, dtype: DTypeLike, reach: float) -> LinearEffects:
        """Nothing to prepare."""
        return LinearEffects(theta, weights)

    def sloper(self, gram: Array, theta: float, weights: Array, projection: Array, dtype: DTypeLike) -> LinearSlopes:
        """Nothing to prepare."""
        return LinearSlopes(theta, weights, in_precision(projection, dtype))

    def reference(self, gram: Array, theta: float) -> Array:
        """The Gram matrix, of which only the size matters."""
        return gram

    def rows(self, reference: Array, x: Array, xi: float, theta: float) -> Array:
        """-xi·theta·x_i' in every row."""
        return np.tile(-xi * theta * x, (len(x), 1))

    def prior_variance(self, rows: Array, xi: float, theta: float) -> float:
        """xi²·theta."""
        return float(xi**2 * theta)

    def shift_variance(self, xi: float, theta: float) -> float:
        """xi²·theta."""
        return float(xi**2 * theta)

    def cross_variance(
        self, reference: Array, first: tuple[Array, float], second: tuple[Array, float], theta: float
    ) -> float:
        """0: effects are independent a priori."""
        return 0.0

    def slope_rows(self, reference: Array, x: Array, theta: float) -> Array:
        """theta·x_i' in every row."""
        return np.tile(theta * x, (len(x), 1))

    def slope_covariance(self, reference: Array, x: Array, theta: float) -> Array:
        """Theta everywhere: one derivative for all samples."""
        return np.full((len(x), len(x)), theta)


@dataclass(frozen=True)
class LinearEffects:
    """Shifts by a linear kernel: h = -xi·theta·x, the same local effect -xi·theta·xᵀα for all samples."""

    theta: float
    weights: Array

    def __call__(self, values: Array, xi: float | Array) -> KernelShift:
        """Shift a block."""
        xi = np.broadcast_to(np.asarray(xi, dtype=np.float64), values.shape[1])
        step = -xi * self.theta
        effect = step * np.einsum("ij,i->j", values, self.weights)
        return KernelShift(
            values * step, xi**2 * self.theta, lambda: np.asfortranarray(np.broadcast_to(effect, values.shape))
        )


@dataclass(frozen=True)
class LinearSlopes:
    """Derivatives by a linear kernel: one for all samples, theta·xᵀα."""

    theta: float
    weights: Array
    projection: Matrix

    def __call__(self, values: Array) -> KernelSlope:
        """Derivatives of a block."""
        explained = np.einsum("ij,ij->j", values, product(self.projection, values))
        return KernelSlope(
            mean_square=(self.theta * np.einsum("ij,i->j", values, self.weights)) ** 2,
            prior=np.full(values.shape[1], self.theta),
            explained=np.maximum(self.theta**2 * explained, 0.0),
        )
