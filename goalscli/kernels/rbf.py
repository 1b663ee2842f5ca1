"""Squared exponential kernel: its shift is one product of rank-one scalings (Eq. 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from goalscli.kernels.base import Array, KernelShift, Matrix, in_precision, product
from goalscli.kernels.radial import Radial


@dataclass(frozen=True)
class RBF(Radial):
    """k(x, x')/s = exp(-theta·|x - x'|²)."""

    name: str = "rbf"
    curvature: float = 2.0
    matrices: int = 1

    def value(self, distance: Array, theta: float) -> Array:
        """exp(-theta·d²), in place."""
        distance *= -theta
        return np.exp(distance, out=distance)

    def distance(self, gram: Array, theta: float) -> Array:
        """-log(k)/theta."""
        return np.asarray(-np.log(gram) / theta)

    def leave_out(self, gram: Array, part: Array, theta: float) -> Array:
        """K∘exp(theta·d²) of the variants left out."""
        part *= theta
        np.exp(part, out=part)
        part *= gram
        return part

    def difference(self, reference: Array, increment: Array, theta: float) -> Array:
        """-K∘expm1(-theta·increment)."""
        return np.asarray(-reference * np.expm1(-theta * increment))

    def second_difference(self, reference: Array, first: Array, second: Array, theta: float) -> Array:
        """K∘expm1(-theta·a)∘expm1(-theta·b)."""
        return np.asarray(reference * np.expm1(-theta * first) * np.expm1(-theta * second))

    def derivative(self, reference: Array, theta: float, order: int) -> Array:
        """(-theta)^m·K."""
        return np.asarray((-theta) ** order * reference)

    def shifter(self, gram: Array, theta: float, weights: Array, dtype: DTypeLike, reach: float) -> RBFShifter:
        """One matrix, two products a shift."""
        return RBFShifter(in_precision(gram, dtype), theta, gram.sum(axis=1), weights, gram @ weights)


@dataclass(frozen=True)
class RBFShifter:
    """K/s in the precision of the products, with K·1, alpha = P·y and K·alpha, (N,) float64 each."""

    matrix: Matrix
    theta: float
    row_sums: Array
    weights: Array
    fitted: Array

    def __call__(self, values: Array, xi: float | Array) -> KernelShift:
        """Rank-one update of Eq. 13 for a block of variants by two products.

        B = e·D·K·D⁻¹ with D = diag(exp(t·x)), t = 2·theta·xi, e = exp(-theta·xi²), so that with u = expm1(t·x),
        w = expm1(-t·x), a = 1 - e:

        * h = [a·K1 - e·(u∘(K1 + Kw) + Kw)]/N
        * prior = 2·[a·1ᵀK1 - e·uᵀ(Kw - w∘K1)]/N²  (Eq. S4 without its cancellation)
        * local = a·Kα - e·(w∘(Kα + K(u∘α)) + K(u∘α))  (Eq. 12)

        The expm1 forms matter: t·x is about 1e-4 at genome size, and differences of exponentials lose 4-5 digits.
        """
        n, theta = len(values), self.theta
        xi = np.asarray(xi, dtype=np.float64)
        a = -np.expm1(-theta * xi**2)
        e = 1 - a
        u = values * (2 * theta * xi)
        np.expm1(u, out=u)
        w = u + 1.0
        np.divide(u, w, out=w)
        np.negative(w, out=w)
        row_sums, kw = self.row_sums[:, None], product(self.matrix, w)
        h = kw + row_sums
        h *= u
        h += kw
        h *= -e / n
        h += row_sums * (a / n)
        kw -= row_sums * w
        prior = 2 / n**2 * (a * self.row_sums.sum() - e * np.einsum("ij,ij->j", u, kw))

        def local() -> Array:
            fitted, ku = self.fitted[:, None], product(self.matrix, u * self.weights[:, None])
            out = ku + fitted
            out *= w
            out += ku
            out *= -e
            out += fitted * a
            return out

        return KernelShift(h, prior, local)
