"""Shifts of a radial kernel as a mixture of RBF shifts.

A radial kernel is a mixture of RBF kernels, φ(d²) = ∫ exp(-t·d²) dμ(t), and shifting a variant multiplies each by
exp(-t·ε), ε = xi² + 2·xi·(x_i - x_i'). At genome size t·ε is small and exp(-t·ε) is all but a polynomial in t, so that
its interpolation at 0 and a few nodes κ_r is exact to rounding:

    φ(d²) - φ(d² + ε) = -Σ_r A_r(d²)·expm1(-κ_r·ε),   A_r = ∫ L_r(t)·exp(-t·d²) dμ(t) = L_r(-d/d(d²)) φ

with the Lagrange polynomials L_r. Each term is an RBF shift with the matrix A_r and bandwidth κ_r: two products. The
nodes are those of Gauss quadrature at the mean distance. What is left out is ε^(p+1)/(p+1)!·w(d²) for p nodes, where w
is the node polynomial t·Π(t - κ_r) applied to φ in the same way; p is chosen to bring it below a tolerance. Samples too
close for that (the diagonal, clones) are done pair by pair, and a variant whose ε is too large is done entry by entry.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from goalscli.kernels.base import Array, KernelShift, in_precision
from goalscli.kernels.rbf import RBFShifter

if TYPE_CHECKING:
    from goalscli.kernels.radial import Radial

MAX_NODES = 6

_TOLERANCE = {"float32": 1e-6, "float64": 1e-9}
"""Greatest term left out, relative to the first-order one, over all pairs and variants."""

_NEAR = 0.25
"""Pairs closer than this share of the mean squared distance are done by themselves."""


class MixtureShifter:
    """A radial kernel's shifts (see :class:`goalscli.kernels.base.Shifter`).

    Parameters
    ----------
    kernel : Radial
    gram : (N, N) float64
        K/s.
    theta : float
    weights : (N,) float64
        alpha = P·y.
    dtype
        Of the products.
    reach : float
        Greatest ε to be expected.

    Attributes
    ----------
    limit : float
        Greatest ε that is done by products.
    """

    def __init__(
        self, kernel: Radial, gram: Array, theta: float, weights: Array, dtype: DTypeLike, reach: float
    ) -> None:
        self.kernel, self.theta, self.weights = kernel, theta, weights
        self.reference = kernel.reference(gram, theta)
        distance = kernel.distance(gram, theta)
        n = len(gram)
        np.fill_diagonal(distance, 0.0)
        mean = float(distance.sum() / (n * (n - 1)))
        near = distance < _NEAR * mean
        np.fill_diagonal(near, True)
        span = (
            float(distance.min(initial=np.inf, where=~near)),
            float(distance.max(initial=0.0, where=~near)),
        )
        del distance
        nodes, self.limit = self._choose(mean, span, reach, _TOLERANCE[np.dtype(dtype).name])
        np.fill_diagonal(near, False)
        self.first, self.second = (rows.astype(np.intp) for rows in np.nonzero(near))
        self.near_reference = self.reference[self.first, self.second]
        np.fill_diagonal(near, True)
        # Some derivatives are infinite at distance 0; these entries are left out in any case.
        smooth = np.where(near, kernel.reference_at(np.array(mean), theta), self.reference)
        self.parts = []
        for node, coefficients in zip(nodes, _lagrange(nodes), strict=True):
            matrix = self._apply(coefficients, smooth)
            matrix[near] = 0.0
            self.parts.append(
                RBFShifter(in_precision(matrix, dtype), float(node), matrix.sum(axis=1), weights, matrix @ weights)
            )

    def _apply(self, polynomial: Array, reference: Array) -> Array:
        """A polynomial in t (coefficients of t, t², …) as a differential operator on φ, t = -d/d(d²)."""
        out = np.zeros_like(reference)
        for order, coefficient in enumerate(polynomial, start=1):
            out += coefficient * (-1) ** order * self.kernel.derivative(reference, self.theta, order)
        return out

    def _choose(self, mean: float, span: tuple[float, float], reach: float, tolerance: float) -> tuple[Array, float]:
        """Fewest nodes that reach far enough, and how far they do; none where distances are all 0."""
        if not mean > 0:
            return np.zeros(0), 0.0
        moments = [(-1) ** m * float(self._at(np.array([mean]), m)[0]) for m in range(1, 2 * MAX_NODES + 1)]
        # ε may also bring points closer: half of the least distance is the most that is allowed.
        grid = self.kernel.reference_at(np.linspace(0.5 * span[0], span[1], 64), self.theta)
        nodes, limit = np.zeros(0), 0.0
        for count in range(1, MAX_NODES + 1):
            nodes = _gauss(np.array(moments[: 2 * count]))
            left = np.abs(self._apply(_polynomial(np.append(nodes, 0.0)), grid)).max()
            limit = (tolerance * factorial(count + 1) * moments[0] / left) ** (1 / count)
            limit = float(min(limit, 0.5 * span[0]))
            if limit >= reach:
                break
        return nodes, limit

    def _at(self, distance: Array, order: int) -> Array:
        return self.kernel.derivative(self.kernel.reference_at(distance, self.theta), self.theta, order)

    def __call__(self, values: Array, xi: float | Array) -> KernelShift:
        """Shift a block: h and the prior variance now, local when asked."""
        n = len(values)
        xi = np.array(np.broadcast_to(np.asarray(xi, dtype=np.float64), values.shape[1]))
        x = values - values.mean(axis=0)
        whole = np.flatnonzero(xi**2 + 2 * np.abs(xi) * (x.max(axis=0) - x.min(axis=0)) > self.limit)
        x[:, whole] = 0.0  # done entry by entry below; exponentials of what is large stay out of the products
        shifts = [part(x, xi) for part in self.parts]
        own, pairs = self._near(x, xi)
        h = sum((s.mean_covariance for s in shifts), start=np.zeros_like(x)) + own / n
        prior = sum((s.prior_variance for s in shifts), start=2 / n**2 * (n * own + pairs.sum(axis=0)))
        self._scatter(h, self.second, pairs / n)
        for j in whole:
            rows = self.kernel.rows(self.reference, values[:, j], float(xi[j]), self.theta)
            h[:, j], prior[j] = rows.mean(axis=0), 2 * rows.mean()

        def local() -> Array:
            out = sum((s.local() for s in shifts), start=self.weights[:, None] * own)
            self._scatter(out, self.first, pairs * self.weights[self.second][:, None])
            for j in whole:
                out[:, j] = self.kernel.rows(self.reference, values[:, j], float(xi[j]), self.theta) @ self.weights
            return np.asarray(out)

        return KernelShift(np.asarray(h), np.asarray(prior), local)

    def _near(self, x: Array, xi: Array) -> tuple[Array, Array]:
        """Entries of K - B on the diagonal, (C,), and at the near pairs, (pairs, C), which the matrices leave out."""
        start = self.kernel.reference_at(np.zeros((1, 1)), self.theta)
        own = self.kernel.difference(start, xi**2, self.theta)[0]
        epsilon = 2 * xi * (x[self.first] - x[self.second]) + xi**2
        return own, self.kernel.difference(self.near_reference[:, None], epsilon, self.theta)

    @staticmethod
    def _scatter(out: Array, rows: NDArray[np.intp], pairs: Array) -> None:
        for j in range(out.shape[1] if len(pairs) else 0):
            out[:, j] += np.bincount(rows, pairs[:, j], len(out))


def _gauss(moments: Array) -> Array:
    """Nodes of the Gauss quadrature with these moments (2p of them), by Golub and Welsch."""
    p = len(moments) // 2
    scale = moments[1] / moments[0]
    scaled = moments / moments[0] / scale ** np.arange(2 * p)
    places = np.arange(p)[:, None] + np.arange(p)
    # Generalised eigenvalues of the Hankel matrices of moments.
    lower = np.linalg.cholesky(scaled[places])
    inner = np.linalg.solve(lower, np.linalg.solve(lower, scaled[places + 1]).T)
    return np.asarray(np.linalg.eigvalsh((inner + inner.T) / 2) * scale)


def _polynomial(roots: Array) -> Array:
    """Coefficients of t, t², … of the monic polynomial with these roots, of which one is 0."""
    return np.asarray(np.poly(roots)[::-1][1:], dtype=np.float64)


def _lagrange(nodes: Array) -> list[Array]:
    """Coefficients of t, t², … of each node's Lagrange polynomial; 0 is a node too."""
    out = []
    for r, node in enumerate(nodes):
        others = np.append(np.delete(nodes, r), 0.0)
        out.append(_polynomial(others) / np.prod(node - others))
    return out
