"""Derivatives of f by one variant, for kernels of the squared distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from goalscli.kernels.base import Array, KernelSlope, Matrix, in_precision, product


@dataclass(frozen=True)
class StationarySloper:
    """Matrices of the quadratic forms of the mean squared derivative.

    With S = 2·φ'(d²), the derivative at x_i has covariance S_ii'·(x_i - x_i') with f(x_i'). Its posterior mean is
    x∘Sα - S(x∘α), and the mean over samples of what conditioning takes from its variance is [xᵀMx + dᵀx²]/N with
    M = P∘(SS) - S∘(SP) - (S∘(SP))ᵀ and d = diag(SPS).

    Attributes
    ----------
    slope, form : (N, N)
        S and M, in the precision of the products.
    diagonal, weights, fitted : (N,) float64
        d, alpha and S·alpha.
    prior : float
        Prior variance of the derivative.
    """

    slope: Matrix
    form: Matrix
    diagonal: Array
    weights: Array
    fitted: Array
    prior: float

    @classmethod
    def make(cls, slope: Array, prior: float, weights: Array, projection: Array, dtype: DTypeLike) -> StationarySloper:
        """Form M and d once, in float64."""
        form = slope @ slope
        form *= projection
        mixed = slope @ projection
        mixed *= slope
        form -= mixed
        form -= mixed.T
        fitted = slope @ weights
        return cls(in_precision(slope, dtype), in_precision(form, dtype), mixed.sum(axis=1), weights, fitted, prior)

    def __call__(self, values: Array) -> KernelSlope:
        """Derivatives of a block; x is centred, which changes nothing but rounding."""
        n = len(values)
        x = values - values.mean(axis=0)
        mean = product(self.slope, x * self.weights[:, None])
        np.subtract(x * self.fitted[:, None], mean, out=mean)
        explained = np.einsum("ij,ij->j", x, product(self.form, x)) + np.einsum("i,ij,ij->j", self.diagonal, x, x)
        return KernelSlope(
            mean_square=np.einsum("ij,ij->j", mean, mean) / n,
            prior=np.full(values.shape[1], self.prior),
            explained=np.maximum(explained / n, 0.0),
        )
