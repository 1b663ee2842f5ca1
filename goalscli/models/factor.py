"""The Cholesky factor of A = s·K₀ + σ²·I + τ·ZZᵀ, through which P is applied."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, solve_triangular
from scipy.linalg.blas import dgemm, dsyrk

from goalscli.errors import InputError
from goalscli.kernels import mirror
from goalscli.runtime import single_threaded_blas

Array = NDArray[np.float64]

THREADED_FROM = 4000
"""Samples from which one factorisation is worth all threads. Below, threads of BLAS gain little alone on a machine and
lose minutes waiting for each other on a busy one; the grid's factorisations run side by side instead."""


class Factor:
    """Cholesky factor of A = s·K₀ + σ²·I + τ·ZZᵀ and the fixed effects' basis in its metric.

    Parameters
    ----------
    gram : (N, N) float64
        K₀ = K/s.
    signal, noise : float
    covariates : (N, q) float64
        Full rank; q may be 0.
    design : (N, L) float64, optional
        Z, the random effect's levels (columns centred).
    random : float
        τ, the random effect's variance.

    Raises
    ------
    InputError
        A is not positive definite.
    """

    def __init__(
        self,
        gram: Array,
        signal: float,
        noise: float,
        covariates: Array,
        design: Array | None = None,
        random: float = 0.0,
    ) -> None:
        buffer = np.empty(gram.shape, order="F")
        np.multiply(gram, signal, out=buffer)
        if design is not None and random:
            # The lower half, in place: all that the factorisation reads.
            buffer = dsyrk(random, design, beta=1.0, c=buffer, lower=1, overwrite_c=1)
        buffer.flat[:: len(buffer) + 1] += noise
        self.lower, info = lapack.dpotrf(buffer, lower=1, overwrite_a=1, clean=1)
        if info != 0:
            raise InputError(
                f"the covariance matrix is not positive definite at signal {signal:g}, noise {noise:g}",
                remedy="check for duplicated samples, or raise --noise",
            )
        self.log_det = 2 * float(np.log(np.diag(self.lower)).sum())
        self.log_det_fixed = 0.0
        self.basis = np.zeros((len(gram), 0))
        if covariates.shape[1]:
            self.basis, triangle = np.linalg.qr(self.half_solve(covariates))
            self.log_det_fixed = 2 * float(np.log(np.abs(np.diag(triangle))).sum())

    def half_solve(self, right: Array) -> Array:
        """L⁻¹·right."""
        return np.asarray(solve_triangular(self.lower, right, lower=True, check_finite=False))

    def residual(self, right: Array) -> Array:
        """(I - QQᵀ)L⁻¹·right, whose squared norm is rightᵀ·P·right."""
        half = self.half_solve(right)
        return np.asarray(half - self.basis @ (self.basis.T @ half))

    def project(self, right: Array) -> Array:
        """P·right."""
        half = self.residual(right)
        return np.asarray(solve_triangular(self.lower, half, lower=True, trans="T", check_finite=False))

    def projection_matrix(self) -> Array:
        """P, (N, N) float64; overwrites the factor, after which this object is of no more use."""
        correction = solve_triangular(self.lower, self.basis, lower=True, trans="T", check_finite=False)
        inverse, _ = lapack.dpotri(self.lower, lower=1, overwrite_c=1)
        mirror(inverse)
        if correction.shape[1]:
            # In place: P = A⁻¹ - correction·correctionᵀ.
            inverse = dgemm(-1.0, correction, correction, beta=1.0, c=inverse, trans_b=1, overwrite_c=1)
        return np.asarray(inverse)


def factorising(n_samples: int) -> AbstractContextManager[None]:
    """Context in which factors of this size are best made."""
    return single_threaded_blas() if n_samples < THREADED_FROM else nullcontext()
