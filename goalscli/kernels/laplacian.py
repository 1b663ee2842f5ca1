"""Laplacian kernel: city-block distance, no derivative. A shift is exact by one product for each value of a variant.

The shift multiplies K entry by entry by a function of (x_i, x_i'). For all samples i that share a value v it is one
product of K with the column c(v, x); hard calls have three values. Samples with other values (imputed calls) are done
one by one; where every sample has its own (dosages), that is N² work a variant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg.blas import dsyrk

from goalscli.kernels.base import Array, KernelShift, Matrix, in_precision, mirror, product
from goalscli.kernels.stationary import Stationary, differences

CLASSES = 3
"""Values of a variant that are done by products: the most frequent ones."""

_STEPS = 12
"""A variant with more steps between its values than this gets its distances entry by entry."""


@dataclass(frozen=True)
class Laplacian(Stationary):
    """k(x, x')/s = exp(-theta·|x - x'|₁)."""

    name: str = "laplacian"
    has_bandwidth: bool = True
    smooth: bool = False
    matrices: int = 1

    def value(self, distance: Array, theta: float) -> Array:
        """exp(-theta·d), in place."""
        distance *= -theta
        return np.exp(distance, out=distance)

    def distance(self, gram: Array, theta: float) -> Array:
        """-log(k)/theta."""
        return np.asarray(-np.log(gram) / theta)

    def base(self, blocks: Iterable[Array], n_samples: int) -> Array:
        """City-block distances, (N, N) float64, Fortran order.

        With the sorted values v₁ < v₂ < … of a variant, the columns sqrt(v_k+1 - v_k)·[x ≥ v_k+1] have squared
        Euclidean distances equal to |x - x'|: a rank update again.
        """
        gram = np.zeros((n_samples, n_samples), order="F")
        rest = np.zeros((n_samples, n_samples), order="F")
        for values in blocks:
            steps, many = _steps(values)
            if steps.shape[1]:
                gram = dsyrk(1.0, steps, beta=1.0, c=gram, lower=1, overwrite_c=1)
            for column in values[:, many].T:
                rest += np.abs(differences(column))
        mirror(gram)
        square = np.diag(gram).copy()
        gram *= -2
        gram += square
        gram += square[:, None]
        gram += rest
        np.maximum(gram, 0.0, out=gram)
        np.fill_diagonal(gram, 0.0)
        return gram

    def increment(self, x: Array, xi: float) -> Array:
        """|x_i - x_i' + xi| - |x_i - x_i'|."""
        return _increment(differences(x), xi)

    def difference(self, reference: Array, increment: Array, theta: float) -> Array:
        """-K∘expm1(-theta·increment)."""
        return np.asarray(-reference * np.expm1(-theta * increment))

    def second_difference(self, reference: Array, first: Array, second: Array, theta: float) -> Array:
        """K∘expm1(-theta·a)∘expm1(-theta·b)."""
        return np.asarray(reference * np.expm1(-theta * first) * np.expm1(-theta * second))

    def shifter(self, gram: Array, theta: float, weights: Array, dtype: DTypeLike, reach: float) -> LaplacianShifter:
        """One matrix, three products a shift and as many for local scores."""
        return LaplacianShifter(in_precision(gram, dtype), gram, theta, weights)


@dataclass(frozen=True)
class LaplacianShifter:
    """K/s in the precision of the products and in double."""

    matrix: Matrix
    gram: Array
    theta: float
    weights: Array

    def __call__(self, values: Array, xi: float | Array) -> KernelShift:
        """Shift a block.

        E = K - B has E_ii' = K_ii'·c(x_i, x_i'), c(u, v) = -expm1(-theta·(|u - v + xi| - |u - v|)): local = E·alpha,
        h = Eᵀ·1/N, prior = 2·1ᵀE1/N².
        """
        n = len(values)
        xi = np.array(np.broadcast_to(np.asarray(xi, dtype=np.float64), values.shape[1]))
        levels, codes = _classes(values)

        def sums(right: Array, *, shifted_row: bool) -> Array:
            """Σ_i' K_ii'·c·right_i', c(x_i, x_i') or, where the row is the one not shifted, c(x_i', x_i)."""
            sign = 1.0 if shifted_row else -1.0
            out = np.zeros_like(values)
            for k in range(CLASSES):
                # c(x_i', v) with xi is c(v, x_i') with -xi: |x_i' - v + xi| = |v - x_i' - xi|.
                column = -np.expm1(-self.theta * _increment(levels[k] - values, sign * xi))
                np.copyto(out, product(self.matrix, column * right[:, None]), where=codes == k)
            for j in np.flatnonzero((codes < 0).any(axis=0)):
                self._others(out[:, j], values[:, j], codes[:, j], right, sign * xi[j])
            return out

        h = sums(np.full(n, 1 / n), shifted_row=False)
        return KernelShift(h, 2 / n * h.sum(axis=0), lambda: sums(self.weights, shifted_row=True))

    def _others(self, out: Array, x: Array, codes: NDArray[np.int8], right: Array, xi: float) -> None:
        """Fill the rows of samples whose value is none of the classes."""
        rows = np.flatnonzero(codes < 0)
        c = -np.expm1(-self.theta * _increment(x[rows, None] - x, xi))
        out[rows] = np.einsum("ij,ij->i", c * right, self.gram[:, rows].T)


def _increment(difference: Array, xi: float | Array) -> Array:
    return np.asarray(np.abs(difference + xi) - np.abs(difference))


def _classes(values: Array) -> tuple[Array, NDArray[np.int8]]:
    """Most frequent values of each column (CLASSES, C), ties by size, and which of them each entry is, -1 for none."""
    columns = values.shape[1]
    levels = np.zeros((CLASSES, columns))
    codes = np.full(values.shape, -1, dtype=np.int8, order="F")
    for j in range(columns):
        found, counts = np.unique(values[:, j], return_counts=True)
        kept = found[np.argsort(-counts, kind="stable")[:CLASSES]]
        levels[: len(kept), j] = kept
        for k, level in enumerate(kept):
            codes[values[:, j] == level, j] = k
    return levels, codes


def _steps(values: Array) -> tuple[Array, NDArray[np.intp]]:
    """Columns whose squared distances are |x - x'|, and the variants that have too many values for that."""
    ordered = np.sort(values, axis=0)
    gaps = np.diff(ordered, axis=0)
    many = np.count_nonzero(gaps, axis=0) > _STEPS
    variant, row = np.nonzero((gaps > 0).T & ~many[:, None])
    above = values[:, variant] >= ordered[row + 1, variant]
    return np.asfortranarray(above * np.sqrt(gaps[row, variant])), np.flatnonzero(many)
