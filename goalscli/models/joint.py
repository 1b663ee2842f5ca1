"""Joint posterior of a few variants under an exact model: dense N×N work a variant, exact to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, lapack

from goalscli.kernels import kernel
from goalscli.kernels.base import Array
from goalscli.posterior import JointShift, JointSlope

if TYPE_CHECKING:
    from goalscli.models.exact_posterior import ExactPosterior


def joint_shift(posterior: ExactPosterior, values: Array, xi: Array, advance: Callable[[int], None]) -> JointShift:
    """Mean and covariance of the global scores of several variants, and of each variant's local scores.

    With E the covariance of the local scores with f, entry by entry, h = Eᵀ1/N:

    * mean = s·hᵀα, covariance = s·D - s²·h_jᵀPh_l, D the prior covariance at s = 1 (Eqs. S3, S4)
    * variance of a local score: s·v - s²·(E P Eᵀ)_ii, v that of the shift alone. (Eq. 11 as printed lacks 2K and has
      a sign turned round.)
    """
    function, s, theta = kernel(posterior.kernel), posterior.signal_variance, posterior.theta
    reference, projection = function.reference(posterior.gram, theta), posterior.project(np.eye(len(values)))
    n, m = values.shape
    h, prior = np.empty((n, m), order="F"), np.empty((m, m))
    local, local_variance = np.empty((n, m), order="F"), np.empty((n, m), order="F")
    for j in range(m):
        rows = function.rows(reference, values[:, j], float(xi[j]), theta)
        h[:, j], prior[j, j] = rows.mean(axis=0), function.prior_variance(rows, float(xi[j]), theta)
        local[:, j] = rows @ posterior.weights
        alone = s * function.shift_variance(float(xi[j]), theta)
        local_variance[:, j] = alone - s**2 * np.einsum("ij,ij->i", rows @ projection, rows)
        for other in range(j):
            pair = (values[:, other], float(xi[other])), (values[:, j], float(xi[j]))
            prior[other, j] = prior[j, other] = function.cross_variance(reference, *pair, theta)
        advance(1)
    covariance = s * prior - s**2 * (h.T @ (projection @ h))
    # Where the data determine a score, rounding may leave less than nothing of its variance.
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), 0.0))
    return JointShift(
        mean=s * (h.T @ posterior.weights),
        covariance=(covariance + covariance.T) / 2,
        local=s * local,
        local_sd=np.sqrt(np.maximum(local_variance, 0.0)),
    )


def joint_slope(
    posterior: ExactPosterior, values: Array, n_draws: int, rng: np.random.Generator, advance: Callable[[int], None]
) -> JointSlope:
    """Posterior of psi of several variants: exact mean and sd, and draws.

    The derivative at the samples is N(G, C), G = s·S·α, C = s·(its prior) - s²·S·P·Sᵀ with S its covariance with f. So
    psi = |G + C^½·z|²/N has mean (GᵀG + tr C)/N and variance (2·tr C² + 4·GᵀCG)/N².
    """
    function, s, theta = kernel(posterior.kernel), posterior.signal_variance, posterior.theta
    reference, projection = function.reference(posterior.gram, theta), posterior.project(np.eye(len(values)))
    n, m = values.shape
    mean, sd, draws = np.empty(m), np.empty(m), np.empty((m, n_draws))
    for j in range(m):
        rows = s * function.slope_rows(reference, values[:, j], theta)
        gradient = rows @ posterior.weights
        covariance = s * function.slope_covariance(reference, values[:, j], theta) - rows @ projection @ rows.T
        covariance = (covariance + covariance.T) / 2
        mean[j] = (gradient @ gradient + np.trace(covariance)) / n
        sd[j] = np.sqrt(2 * np.sum(covariance**2) + 4 * gradient @ covariance @ gradient) / n
        root = square_root(covariance)
        sample = gradient[:, None] + root @ rng.standard_normal((root.shape[1], n_draws))
        draws[j] = np.einsum("ij,ij->j", sample, sample) / n
        advance(1)
    return JointSlope(mean, sd, draws)


def square_root(covariance: Array) -> Array:
    """L with L·Lᵀ = covariance: its Cholesky factor, or by eigenvalues where it is singular."""
    lower, info = lapack.dpotrf(covariance, lower=1, clean=1)
    if info == 0:
        return np.asarray(lower)
    values, vectors = eigh(covariance)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
