"""Slow and obvious: kernels entry by entry, and joint Gaussians of stacked points conditioned on the trait."""

from __future__ import annotations

import numpy as np

RADIAL = {
    "rbf": lambda d, t: np.exp(-t * d),
    "cauchy": lambda d, t: 1 / (1 + t * d),
    "matern32": lambda d, t: (1 + np.sqrt(3 * t * d)) * np.exp(-np.sqrt(3 * t * d)),
    "matern52": lambda d, t: (1 + np.sqrt(5 * t * d) + 5 * t * d / 3) * np.exp(-np.sqrt(5 * t * d)),
}
KERNELS = ("rbf", "laplacian", "cauchy", "matern32", "matern52", "linear")


def kernel(name: str, left: np.ndarray, right: np.ndarray, theta: float) -> np.ndarray:
    """k/s of every row of ``left`` with every row of ``right``, from their definitions."""
    if name == "linear":
        return theta * left @ right.T
    gaps = left[:, None] - right[None]
    if name == "laplacian":
        return np.exp(-theta * np.abs(gaps).sum(-1))
    return RADIAL[name]((gaps**2).sum(-1), theta)


def projection(a: np.ndarray, w: np.ndarray) -> np.ndarray:
    """P of A and the fixed effects."""
    ai = np.linalg.inv(a)
    return ai - ai @ w @ np.linalg.solve(w.T @ ai @ w, w.T @ ai) if w.shape[1] else ai


class Stacked:
    """Joint posterior of linear functionals of f at any points, by conditioning.

    Parameters
    ----------
    name, theta, s, v
        Kernel, bandwidth, signal and noise variance.
    x, y, w
        Features (N, J), trait (N,), fixed effects (N, q).
    extra : (N, N), optional
        Further covariance of the noise.
    """

    def __init__(self, name, x, y, w, theta, s, v, extra=0.0):
        self.name, self.x, self.y, self.theta, self.s = name, x, y, theta, s
        k = s * kernel(name, x, x, theta)
        self.p = projection(k + v * np.eye(len(x)) + extra, w)

    def at(self, points):
        """Prior covariance, mean and posterior covariance of f at the points (M, J)."""
        cross = self.s * kernel(self.name, points, self.x, self.theta)
        prior = self.s * kernel(self.name, points, points, self.theta)
        return prior, cross, cross @ self.p @ self.y, prior - cross @ self.p @ cross.T

    def shifted(self, j, xi):
        """x with column j moved."""
        out = self.x.copy()
        out[:, j] += xi
        return out

    def goals(self, j, xi):
        """Local scores, their posterior covariance, and of their mean: score, variance, null variance."""
        n = len(self.x)
        _, cross, mean, cov = self.at(np.vstack([self.x, self.shifted(j, xi)]))
        d = np.hstack([np.eye(n), -np.eye(n)])
        h = (d @ cross).mean(0)
        local, spread = d @ mean, d @ cov @ d.T
        return local, spread, local.mean(), spread.mean(), h @ self.p @ h

    def joint(self, variants, xi):
        """Mean and covariance of the global scores of several variants (xi a number each)."""
        n, m = len(self.x), len(variants)
        points = np.vstack([self.x, *(self.shifted(j, step) for j, step in zip(variants, xi, strict=True))])
        _, _, mean, cov = self.at(points)
        d = np.zeros((m, (m + 1) * n))
        d[:, :n] = 1 / n
        for k in range(m):
            d[k, (k + 1) * n : (k + 2) * n] = -1 / n
        return d @ mean, d @ cov @ d.T
