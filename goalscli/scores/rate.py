"""RATE: how much the effects of all other variants change when one variant's is known to be 0, as a share of the total.

Effect sizes are the projection ẞ of f onto the genotypes, Gaussian with mean μ and covariance Σ; Λ is Σ's
(pseudo-)inverse. The divergence of variant j needs only μ_j and the j-th diagonal entries of a few powers of Σ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk
from scipy.special import xlogy

from goalscli.dataset import Chunk, Dataset
from goalscli.errors import SettingsError
from goalscli.kernels import GRAM_VARIANTS, product
from goalscli.posterior import Posterior
from goalscli.runtime import Progress, check_memory
from goalscli.scores import Arrays, Field

Array = NDArray[np.float64]

DETERMINED = 1 - 1e-8
"""Leverage from which a variant counts as no linear combination of the others."""

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Rate:
    """Settings of the RATE score.

    Attributes
    ----------
    form : "paper" or "released"
        The divergence of Eq. 5, or what the authors' released code computes (for comparison with published numbers).
        Where some effects are linear combinations of others (more variants than samples, duplicated variants) Eq. 5
        is infinite; its quadratic term with pseudo-inverses stands for it then, and ``finish`` says so.
    projection : "pinv" or "covariance"
        Effect sizes X†f (Eq. 4), or the covariances of each variant with f, as in the authors' power study.

    Raises
    ------
    SettingsError
        No such form or projection.
    """

    name: ClassVar[str] = "rate"
    needs: ClassVar[str] = "covariance"
    matrices: ClassVar[int] = 3
    fields: ClassVar[tuple[Field, ...]] = (
        Field("kld", "divergence of the other effects given that this one is 0 from what they are", "nats"),
        Field("rate", "kld as a share of its sum over all variants", "1", derived=True),
    )
    ranking: ClassVar[str] = "rate"
    keeps_local: ClassVar[bool] = False
    form: Literal["paper", "released"] = "paper"
    projection: Literal["pinv", "covariance"] = "pinv"

    def __post_init__(self) -> None:
        if self.form not in ("paper", "released"):
            raise SettingsError(f"no form {self.form!r}", where="--rate-form", remedy="give paper or released")
        if self.projection not in ("pinv", "covariance"):
            raise SettingsError(
                f"no projection {self.projection!r}", where="--rate-projection", remedy="give pinv or covariance"
            )

    def settings(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def bind(self, posterior: Posterior, dataset: Dataset) -> BoundRate:
        """Decompose the covariance of the effect sizes; reads the genotypes once. In double, whatever the posterior's.

        With X = U·S·Vᵀ, Σ = V·R·Vᵀ with R = S⁻¹·Uᵀ·V[f]·U·S⁻¹ = Q·diag(ρ)·Qᵀ (for the covariance projection X is
        centred and S/(N - 1) stands for S⁻¹), so the columns of QᵀS⁻¹Uᵀ·X are the rows of V·Q.

        Parameters
        ----------
        posterior : Posterior
            Its ``mean`` and ``covariance()`` are used.
        dataset : Dataset

        Returns
        -------
        BoundRate

        Raises
        ------
        ResourceError
            The N×N matrices do not fit in memory.
        """
        n, j = dataset.n_samples, dataset.n_variants
        # At the peak: the Gram matrix and P of an exact model, V[f], and two for a decomposition.
        check_memory(5 * 8.0 * n**2 + 2**28, f"RATE of {n} samples")
        centred = self.projection == "covariance"
        mean, covariance = posterior.mean, posterior.covariance()
        scale, left = _directions(_gram(dataset, centred), max(n, j))
        weight = scale / (n - 1) if centred else 1 / scale
        spectrum, turn = _spectrum(covariance, left, weight)
        transform = turn.T @ (left / scale).T
        if centred:
            # Products with rows of sum 0 centre the genotypes.
            transform -= transform.mean(axis=1, keepdims=True)
        return BoundRate(self, transform, spectrum, turn.T @ (weight * (left.T @ mean)), j)

    def finish(
        self, columns: Mapping[str, NDArray[np.float64]], notes: Mapping[str, Any]
    ) -> tuple[Arrays, Mapping[str, Any]]:
        """Shares of the total, and how far they are from equal ones.

        Parameters
        ----------
        columns : mapping
            "kld", (J,) float64, of all scored variants.
        notes : mapping
            "form", of :attr:`BoundRate.notes`.

        Returns
        -------
        columns : {"rate": (J,) float64}
            Their sum is 1. Without any signal all divergences are 0 and each rate is 1/J.
        attributes : mapping
            delta, the divergence of the rates from equal ones; ess, 100/(1 + delta), per cent; form, which divergence
            was used, in words; null_level = 1/J, the rate of each variant were all alike.
        """
        kld = columns["kld"]
        total = float(kld.sum())
        rate = kld / total if total > 0 else np.full(len(kld), 1 / len(kld))
        # Rounding may take equal rates below 0.
        delta = max(0.0, float(xlogy(rate, len(kld) * rate).sum()))
        return {"rate": rate}, {
            "delta": delta,
            "ess": 100 / (1 + delta),
            **notes,
            "null_level": 1 / len(kld),
        }


@dataclass(frozen=True, eq=False)
class BoundRate:
    """RATE for one posterior (see :class:`goalscli.scores.BoundScore`).

    Attributes
    ----------
    options : Rate
    transform : (r, N) float64
        Takes genotypes to coordinates V·Q in which Σ is diagonal.
    spectrum : (r,) float64
        ρ, the positive eigenvalues of Σ.
    mean : (r,) float64
        Posterior mean of the effect sizes in those coordinates.
    n_variants : int
    """

    stages: ClassVar[None] = None

    options: Rate
    transform: Array
    spectrum: Array
    mean: Array
    n_variants: int

    @property
    def full_rank(self) -> bool:
        """No effect is a linear combination of the others, so that the full divergence is finite."""
        return len(self.spectrum) == self.n_variants

    def __call__(self, chunk: Chunk) -> Arrays:
        """{"kld": (C,) float64} for each column of the chunk's values; 0 where a column is all zero."""
        coordinates = product(self.transform, chunk.values)
        effect = np.einsum("kj,k->j", coordinates, self.mean)
        # In Fortran order: a variant's r coordinates are contiguous, and so are the rows of the transpose.
        square = np.multiply(coordinates, coordinates, out=coordinates).T
        if self.options.form == "released":
            kld = _released(square, self.spectrum, effect)
        elif self.full_rank:
            kld = _full(square, self.spectrum, effect)
        else:
            kld = _quadratic(square, self.spectrum, effect)
        return {"kld": np.maximum(kld, 0.0)}

    @property
    def notes(self) -> Mapping[str, Any]:
        """Which divergence is used, in words."""
        return {"form": self._words()}

    def _words(self) -> str:
        if self.options.form == "released":
            return "as computed by the authors' released code"
        if self.full_rank:
            return "full Kullback-Leibler divergence (Eq. 5)"
        return (
            "quadratic term of Eq. 5 with pseudo-inverses: effects of "
            f"{self.n_variants} variants have a covariance of rank {len(self.spectrum)}"
        )


def _gram(dataset: Dataset, centred: bool) -> Array:
    """X·Xᵀ, (N, N) float64, Fortran order, lower triangle only; with each variant centred or as it is."""
    gram = np.zeros((dataset.n_samples, dataset.n_samples), order="F")
    with Progress("projection", dataset.n_variants) as progress:
        for chunk in dataset.chunks(GRAM_VARIANTS):
            values = chunk.values - chunk.values.mean(axis=0) if centred else chunk.values
            gram = dsyrk(1.0, values, beta=1.0, c=gram, lower=1, overwrite_c=1)
            progress.advance(len(chunk.index))
    return gram


def _eigen(matrix: Array) -> tuple[Array, Array]:
    """Ascending eigenvalues (n,) and eigenvectors (n, n) from the lower triangle of a matrix, which is overwritten."""
    if not len(matrix):
        return np.zeros(0), np.zeros((0, 0))
    # As fast as "evd" and a third of its memory.
    values, vectors = eigh(matrix, lower=True, overwrite_a=True, check_finite=False, driver="evr")
    return values, vectors


def _rounding(terms: int) -> float:
    """Relative error that rounding may leave in eigenvalues of a matrix whose entries are sums of so many terms.

    Errors of a sum grow as the root of its length. The factor is ample: over sizes from 2 to 20,000 eigenvalues that
    are truly 0 came out below 15·eps of the greatest one.
    """
    return 100 * float(np.sqrt(terms)) * _EPS


def _directions(gram: Array, terms: int) -> tuple[Array, Array]:
    """Singular values (r,) and left singular vectors (N, r) of X from X·Xᵀ, which is overwritten.

    Eigenvalues at rounding level are 0: in terms of X, singular values below about 1e-6 of the greatest.
    """
    eigenvalues, vectors = _eigen(gram)
    # Ascending, so that what is kept is contiguous.
    first = int(np.searchsorted(eigenvalues, _rounding(terms) * max(eigenvalues[-1], 0.0), side="right"))
    return np.sqrt(eigenvalues[first:]), vectors[:, first:]


def _spectrum(covariance: Array, left: Array, weight: Array) -> tuple[Array, Array]:
    """Positive eigenvalues ρ (r',) and eigenvectors Q (r, r') of R = W·Uᵀ·V[f]·U·W, W = diag(weight)."""
    weighted = left * weight
    matrix = weighted.T @ (covariance @ weighted)
    # The weights magnify rounding errors of V[f] too; those of its greatest entry by the greatest weight at most.
    magnified = (np.diag(matrix) / weight**2).max(initial=0.0) * (weight**2).max(initial=0.0)
    spectrum, turn = _eigen(matrix.T)
    kept = spectrum > _rounding(len(weight)) * max(spectrum.max(initial=0.0), magnified)
    return spectrum[kept], turn[:, kept]


def _excess(square: Array, spectrum: Array) -> tuple[Array, Array]:
    """r_j - 1 = Σ_jj·Λ_jj - 1 and Σ_jj (1 where it is 0), (C,), for variants with leverage 1.

    Written as the mean of (ρ - Σ_jj)²/(ρ·Σ_jj), which does not cancel where r_j is near 1. A direction off by eps in
    angle shows in it by eps²; less than that is 0, as of variants that have nothing to do with each other.
    """
    variance = square @ spectrum[:, None]
    variance[variance == 0] = 1.0
    ratio = spectrum / variance
    excess = np.einsum("jk,jk->j", square, (ratio - 1) ** 2 / ratio)
    rounding = (len(spectrum) * _EPS) ** 2 * spectrum.max(initial=0.0) / spectrum.min(initial=np.inf)
    return np.where(excess > rounding, excess, 0.0), variance[:, 0]


def _full(square: Array, spectrum: Array, effect: Array) -> Array:
    """½·[r - 1 - log r + (r - 1)·μ²/Σ_jj], r = Σ_jj·Λ_jj: Eq. 5."""
    excess, variance = _excess(square, spectrum)
    return np.asarray(0.5 * (excess - np.log1p(excess) + excess * effect**2 / variance))


def _quadratic(square: Array, spectrum: Array, effect: Array) -> Array:
    """½·μ²·Λ_jj; less 1/Σ_jj in Λ_jj where no combination of the others gives variant j."""
    sums = square @ np.column_stack([np.ones_like(spectrum), 1 / spectrum])
    leverage, precision = sums.T
    determined = leverage >= DETERMINED
    if determined.any():
        excess, variance = _excess(square, spectrum)
        precision = np.where(determined, excess / variance, precision)
    return np.asarray(0.5 * effect**2 * precision)


def _released(square: Array, spectrum: Array, effect: Array) -> Array:
    """½·μ²·u_{-j}ᵀ·U_{-j,-j}·u_{-j} with U = Λ - Λσ_jσ_jᵀΛ/(1 + Σ_jj) and u its column j, from diagonals alone."""
    powers = np.column_stack([spectrum**p for p in (1, 0, -1, -2, -3)])
    variance, b, l1, l2, l3 = (square @ powers).T
    c = 1 / (1 + variance)
    v = l1 - c * b**2
    w = l2 - c * b * l1 - c * v * b
    return np.asarray(0.5 * effect**2 * (l3 - c * b * l2 - c * v * l1 - c * b * w - 2 * v * w + v**3))
