"""Covariance functions: Gram matrix, bandwidth and the covariance of f with its shift by one feature.

Everything here is at unit signal variance; models multiply by s. Equation numbers are those of the GOALS paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk

from goalscli.errors import InputError, SettingsError

GRAM_VARIANTS = 1024
"""Variants of one rank update of the Gram product, on an absolute grid, so that its bits depend on the data alone."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GramProducts:
    """A Gram matrix with the products that every shift shares.

    Attributes
    ----------
    matrix : (N, N) float32 or float64
        K/s; its dtype is the precision of the products.
    row_sums : (N,) float64
        (K/s)·1.
    weights : (N,) float64
        alpha = P·y.
    fitted : (N,) float64
        (K/s)·alpha.
    """

    matrix: NDArray[np.float32] | NDArray[np.float64]
    row_sums: Array
    weights: Array
    fitted: Array

    def dot(self, right: Array) -> Array:
        """(K/s)·right in the matrix's precision, returned as float64."""
        return product(self.matrix, right)


def product(matrix: NDArray[np.float32] | NDArray[np.float64], right: Array) -> Array:
    """Matrix product in the precision of ``matrix``; float64 in, float64 out."""
    # Transposed, since matmul returns C order: what is computed with the result is in Fortran order like ``right``.
    cast = right.T if matrix.dtype == np.float64 else right.T.astype(matrix.dtype)
    return np.asarray(np.matmul(cast, matrix.T), dtype=np.float64).T


@dataclass(frozen=True)
class KernelShift:
    """Shifting each variant of a block by xi, seen through the kernel; all at unit signal variance.

    Attributes
    ----------
    mean_covariance : (N, C) float64
        h: covariance of the global score (mean over samples of f(x) - f(x + xi e_j)) with f at each sample.
    prior_variance : (C,) float64
        Prior variance of the global score.
    local : callable
        () -> (N, C) float64, posterior mean of f(x_i) - f(x_i + xi e_j) for weights alpha (Eq. 12).
    """

    mean_covariance: Array
    prior_variance: Array
    local: Callable[[], Array]


class Kernel(Protocol):
    """What a covariance function offers the models."""

    @property
    def name(self) -> str:
        """How the command line calls it."""

    def distances(self, chunks: Iterable[Array], n_samples: int) -> Array:
        """Return the (N, N) distances on which the kernel and its median bandwidth rest."""

    def gram(self, distances: Array, theta: float) -> Array:
        """Return K/s, (N, N); overwrites ``distances``."""

    def shift(self, gram: GramProducts, values: Array, xi: float | Array, theta: float) -> KernelShift:
        """Shift every column of ``values`` (N, C) by xi (a number or (C,))."""


@dataclass(frozen=True)
class RBF:
    """Squared exponential kernel, k(x, x')/s = exp(-theta·|x - x'|²)."""

    name: str = "rbf"

    def distances(self, chunks: Iterable[Array], n_samples: int) -> Array:
        """Squared Euclidean distances, (N, N) float64, Fortran order.

        One symmetric rank update a block of :data:`GRAM_VARIANTS` variants: N²·J flops in all.

        Parameters
        ----------
        chunks : iterable of (N, C) float64
            Blocks of the grid, in order.
        n_samples : int
        """
        gram = np.zeros((n_samples, n_samples), order="F")
        for values in chunks:
            gram = dsyrk(1.0, values, beta=1.0, c=gram, lower=1, overwrite_c=1)
        mirror(gram)
        square = np.diag(gram).copy()
        gram *= -2
        gram += square
        gram += square[:, None]
        np.maximum(gram, 0.0, out=gram)
        np.fill_diagonal(gram, 0.0)
        return gram

    def gram(self, distances: Array, theta: float) -> Array:
        """exp(-theta·d²), in place."""
        distances *= -theta
        return np.exp(distances, out=distances)

    def shift(self, gram: GramProducts, values: Array, xi: float | Array, theta: float) -> KernelShift:
        """Rank-one update of Eq. 13 for a block of variants by two products.

        B = e·D·K·D⁻¹ with D = diag(exp(t·x)), t = 2·theta·xi, e = exp(-theta·xi²), so that with u = expm1(t·x),
        w = expm1(-t·x), a = 1 - e:

        * h = [a·K1 - e·(u∘(K1 + Kw) + Kw)]/N
        * prior = 2·[a·1ᵀK1 - e·uᵀ(Kw - w∘K1)]/N²  (Eq. S4 without its cancellation)
        * local = a·Kα - e·(w∘(Kα + K(u∘α)) + K(u∘α))  (Eq. 12)

        The expm1 forms matter: t·x is about 1e-4 at genome size, and differences of exponentials lose 4-5 digits.
        """
        n = len(values)
        xi = np.asarray(xi, dtype=np.float64)
        a = -np.expm1(-theta * xi**2)
        e = 1 - a
        u = values * (2 * theta * xi)
        np.expm1(u, out=u)
        w = u + 1.0
        np.divide(u, w, out=w)
        np.negative(w, out=w)
        row_sums, kw = gram.row_sums[:, None], gram.dot(w)
        h = kw + row_sums
        h *= u
        h += kw
        h *= -e / n
        h += row_sums * (a / n)
        kw -= row_sums * w
        prior = 2 / n**2 * (a * gram.row_sums.sum() - e * np.einsum("ij,ij->j", u, kw))

        def local() -> Array:
            fitted, ku = gram.fitted[:, None], gram.dot(u * gram.weights[:, None])
            out = ku + fitted
            out *= w
            out += ku
            out *= -e
            out += fitted * a
            return out

        return KernelShift(h, prior, local)


KERNELS: dict[str, type[RBF]] = {"rbf": RBF}


def kernel(name: str) -> Kernel:
    """Return a kernel by name.

    Raises
    ------
    SettingsError
        There is none of that name.
    """
    if name not in KERNELS:
        raise SettingsError(f"no kernel {name!r}", where="--kernel", remedy=f"give one of: {', '.join(KERNELS)}")
    return KERNELS[name]()


def median_bandwidth(distances: Array) -> float:
    """Theta = 1/median of the distances of all pairs i < i'.

    Raises
    ------
    InputError
        More than half of the pairs do not differ at all.
    """
    n = len(distances)
    pairs = np.empty(n * (n - 1) // 2)
    start = 0
    for column in range(n - 1):
        stop = start + n - 1 - column
        pairs[start:stop] = distances[column + 1 :, column]
        start = stop
    median = float(np.median(pairs, overwrite_input=True))
    if not median > 0:
        raise InputError(
            "the median distance between samples is 0: more than half of the pairs have equal genotypes",
            remedy="check for duplicated samples, or give --theta",
        )
    return 1 / median


def mirror(lower: Array) -> None:
    """Copy the lower triangle of (N, N) onto the upper one, in place, block by block (no N×N temporary)."""
    step = 512
    for start in range(0, len(lower), step):
        stop = min(start + step, len(lower))
        lower[start:stop, stop:] = lower[stop:, start:stop].T
        square = lower[start:stop, start:stop]
        upper = np.triu_indices(stop - start, 1)
        square[upper] = square.T[upper]
