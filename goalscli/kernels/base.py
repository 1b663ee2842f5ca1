"""What kernels share: products, distances, the median bandwidth, and the shapes of what they offer.

Everything here is at unit signal variance; models multiply by s. Equation numbers are those of the GOALS paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg.blas import dsyrk

from goalscli.errors import InputError

GRAM_VARIANTS = 1024
"""Variants of one rank update of the Gram product, on an absolute grid, so that its bits depend on the data alone."""

Array = NDArray[np.float64]
Matrix = NDArray[np.float32] | NDArray[np.float64]


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


@dataclass(frozen=True)
class KernelSlope:
    """Partial derivatives of f by each variant of a block, at unit signal variance.

    Attributes
    ----------
    mean_square : (C,) float64
        Mean over samples of the square of the derivative's posterior mean (for weights alpha).
    prior : (C,) float64
        Prior variance of the derivative.
    explained : (C,) float64
        Mean over samples of the variance that conditioning on the trait takes from it; also the expectation of
        ``mean_square`` over traits of the polygenic null.
    """

    mean_square: Array
    prior: Array
    explained: Array


class Shifter(Protocol):
    """A kernel with its matrices ready for the shifts of a scan."""

    def __call__(self, values: Array, xi: float | Array) -> KernelShift:
        """Shift every column of ``values`` (N, C) by xi (a number or (C,))."""


class Sloper(Protocol):
    """A kernel with its matrices ready for derivatives."""

    def __call__(self, values: Array) -> KernelSlope:
        """Derivative of f by every column of ``values`` (N, C)."""


class Kernel(Protocol):
    """What a covariance function offers the models.

    A kernel rests on an (N, N) ``base`` that sums over variants: distances, or inner products.
    """

    @property
    def name(self) -> str:
        """How the command line calls it."""

    @property
    def has_bandwidth(self) -> bool:
        """Whether theta is a choice; else it is 1/J."""

    @property
    def smooth(self) -> bool:
        """Whether f has derivatives; :meth:`sloper` and :meth:`slope_covariance` exist only then."""

    @property
    def matrices(self) -> int:
        """(N, N) matrices that a :meth:`shifter` keeps in the precision of its products, at most."""

    def base(self, blocks: Iterable[Array], n_samples: int) -> Array:
        """Return the base of these variants, (N, N) float64, Fortran order."""

    def gram(self, base: Array, theta: float) -> Array:
        """Return K/s, (N, N); overwrites ``base``."""

    def leave_out(self, gram: Array, part: Array, theta: float) -> Array:
        """Return K/s without the variants whose base is ``part``; overwrites ``part``."""

    def shifter(self, gram: Array, theta: float, weights: Array, dtype: DTypeLike, reach: float) -> Shifter:
        """Make ready for shifts; products run in ``dtype``.

        ``reach`` is the most by which any shift will change a squared distance, xi² + 2·|xi|·(range of a variant): what
        is approximated is chosen to be exact that far.
        """

    def sloper(self, gram: Array, theta: float, weights: Array, projection: Array, dtype: DTypeLike) -> Sloper:
        """Make ready for derivatives; ``projection`` is P."""

    def reference(self, gram: Array, theta: float) -> Array:
        """What the entry by entry formulas below start from, (N, N); the Gram matrix itself, or another array."""

    def rows(self, reference: Array, x: Array, xi: float, theta: float) -> Array:
        """Covariance of f(x_i) - f(x_i + xi e_j) with f(x_i'), (N, N), entry by entry (for a few variants)."""

    def prior_variance(self, rows: Array, xi: float, theta: float) -> float:
        """Prior variance of the global score, whose :meth:`rows` are given."""

    def shift_variance(self, xi: float, theta: float) -> float:
        """Prior variance of f(x_i) - f(x_i + xi e_j)."""

    def cross_variance(
        self, reference: Array, first: tuple[Array, float], second: tuple[Array, float], theta: float
    ) -> float:
        """Prior covariance of the global scores of two variants (x, xi), x (N,)."""

    def slope_rows(self, reference: Array, x: Array, theta: float) -> Array:
        """Covariance of the derivative at x_i with f(x_i'), (N, N)."""

    def slope_covariance(self, reference: Array, x: Array, theta: float) -> Array:
        """Prior covariance of the derivatives at all samples, (N, N)."""


def product(matrix: Matrix, right: Array) -> Array:
    """Matrix product in the precision of ``matrix``; float64 in, float64 out."""
    # Transposed, since matmul returns C order: what is computed with the result is in Fortran order like ``right``.
    cast = right.T if matrix.dtype == np.float64 else right.T.astype(matrix.dtype)
    return np.asarray(np.matmul(cast, matrix.T), dtype=np.float64).T


def in_precision(matrix: Array, dtype: DTypeLike) -> Any:
    """Return the matrix itself where it has the precision already, else a copy."""
    return matrix if matrix.dtype == dtype else matrix.astype(dtype)


def inner_products(blocks: Iterable[Array], n_samples: int) -> Array:
    """X·Xᵀ of the variants of all blocks, (N, N) float64, Fortran order.

    One symmetric rank update a block of :data:`GRAM_VARIANTS` variants: N²·J flops in all.

    Parameters
    ----------
    blocks : iterable of (N, C) float64
        Blocks of the grid, in order.
    n_samples : int
    """
    gram = np.zeros((n_samples, n_samples), order="F")
    for values in blocks:
        gram = dsyrk(1.0, values, beta=1.0, c=gram, lower=1, overwrite_c=1)
    mirror(gram)
    return gram


def squared_distances(blocks: Iterable[Array], n_samples: int) -> Array:
    """Squared Euclidean distances between samples, (N, N) float64, Fortran order."""
    gram = inner_products(blocks, n_samples)
    square = np.diag(gram).copy()
    gram *= -2
    gram += square
    gram += square[:, None]
    np.maximum(gram, 0.0, out=gram)
    np.fill_diagonal(gram, 0.0)
    return gram


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
