"""Exact Gaussian process regression: one N×N Gram matrix, one Cholesky factor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset
from goalscli.errors import Problems, SettingsError
from goalscli.kernels import GRAM_VARIANTS, kernel, median_bandwidth, require_smooth
from goalscli.kernels.base import Array
from goalscli.models.exact_posterior import ExactPosterior
from goalscli.models.factor import Factor, factorising
from goalscli.models.reml import estimate
from goalscli.models.shares import shares
from goalscli.runtime import Progress, check_memory

__all__ = ["ExactGP", "ExactPosterior"]


@dataclass(frozen=True)
class ExactGP:
    """Settings of the exact model.

    Attributes
    ----------
    kernel : str
        Covariance function: a name of :data:`goalscli.kernels.KERNELS`.
    bandwidth : "median" or "1/J"
        theta = 1/median of the kernel's own distances, or 1/J (the authors' released code; always for linear).
    theta : float, optional
        Inverse squared bandwidth, in 1 / (unit of the features)²; overrides ``bandwidth``.
    signal, noise : float, optional
        Fixed variances in trait variances; REML where None.
    memory_gb : float, optional
        Memory that may be used, in GiB; the machine's limit where None.

    Raises
    ------
    SettingsError
        No such kernel or bandwidth, a bandwidth for a kernel that has none, or a number that is not above 0.
    """

    kernel: str = "rbf"
    bandwidth: Literal["median", "1/J"] = "median"
    theta: float | None = None
    signal: float | None = None
    noise: float | None = None
    memory_gb: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        function, problems = kernel(self.kernel), Problems()
        if self.theta is not None and not function.has_bandwidth:
            text, remedy = f"the {self.kernel} kernel has no bandwidth", "leave out --theta and --bandwidth"
            problems.add([SettingsError(text, where="--theta", remedy=remedy)])
        if self.bandwidth not in ("median", "1/J"):
            text, remedy = f"no bandwidth {self.bandwidth!r}", "give median, 1/J or a number"
            problems.add([SettingsError(text, where="--bandwidth", remedy=remedy)])
        for name in ("theta", "signal", "noise"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                text, remedy = f"{value} is not a positive number", "give one above 0"
                problems.add([SettingsError(text, where=f"--{name}", remedy=remedy)])
        problems.raise_any()

    def check_scores(self, needs: Iterable[str]) -> None:
        """Refuse, before any work, what no posterior of this model will offer.

        Parameters
        ----------
        needs : iterable of str
            Methods of the posterior that scores call: "shifts", "slopes", "covariance".

        Raises
        ------
        SettingsError
            Derivatives are needed and the kernel has none.
        """
        if "slopes" in needs:
            require_smooth(self.kernel)

    def needed_memory(self, n_samples: int) -> float:
        """Bytes at the peak of a fit: three N×N matrices of float64.

        A random effect of L levels takes two, and four of N×L: as much up to L = N/4.

        Parameters
        ----------
        n_samples : int
            N.

        Returns
        -------
        float
        """
        return 3 * 8.0 * n_samples**2 + 2**28

    def check_memory(self, n_samples: int) -> None:
        """Refuse more samples than memory holds.

        Parameters
        ----------
        n_samples : int
            N.

        Raises
        ------
        ResourceError
            They need more than ``memory_gb``, or than the machine has.
        """
        check_memory(self.needed_memory(n_samples), f"an exact fit of {n_samples} samples", self.memory_gb)

    def fit(self, dataset: Dataset, base: Array | None = None) -> ExactPosterior:
        """Gram matrix, bandwidth, variance components by REML, posterior.

        Parameters
        ----------
        dataset : Dataset
            From :func:`goalscli.jobs.inputs.read_plink` or :func:`goalscli.dataset.assembly.make_dataset`.
        base : (N, N) float64, optional
            What the kernel rests on (:meth:`goalscli.kernels.Kernel.base`) where it has been computed; overwritten.

        Returns
        -------
        ExactPosterior

        Raises
        ------
        ResourceError
            N×N does not fit in memory.
        InputError
            No degree of freedom is left by the covariates, or the covariance is singular.
        """
        n = dataset.n_samples
        self.check_memory(n)
        function = kernel(self.kernel)
        if base is None:
            base = self.base(dataset)
        theta = self.theta
        if theta is None:
            by_count = self.bandwidth == "1/J" or not function.has_bandwidth
            theta = 1 / dataset.n_variants if by_count else median_bandwidth(base)
        gram = function.gram(base, theta)
        y, fixed = dataset.phenotype, dataset.covariates.matrix
        design = None if dataset.random is None else dataset.random.design()
        with Progress("variance components", 1) as progress:
            parts = estimate(gram, y, fixed, self.signal, self.noise, design)
            with factorising(n):
                weights = Factor(gram, parts.signal, parts.noise, fixed, design, parts.random).project(y)
            progress.advance(1)
        share = shares(gram, parts, design)
        posterior = ExactPosterior(
            kernel=self.kernel,
            theta=float(theta),
            signal_variance=parts.signal,
            noise_variance=parts.noise,
            random_variance=parts.random,
            ratio=parts.ratio,
            ratio_se=parts.ratio_se,
            pve=share.pve,
            pve_se=share.pve_se,
            random_share=share.random_share,
            random_share_se=share.random_share_se,
            log_likelihood=parts.log_likelihood,
            at_bound=parts.at_bound,
            profiled=parts.profiled,
            gram=gram,
            covariates=fixed,
            phenotype=y,
            weights=weights,
            random=dataset.random,
        )
        posterior.log()
        return posterior

    def base(self, dataset: Dataset, index: NDArray[np.intp] | None = None) -> Array:
        """Sum what the kernel rests on: squared distances, or inner products.

        Parameters
        ----------
        dataset : Dataset
        index : (C,) intp, optional
            Ascending rows of the variant table; all where None.

        Returns
        -------
        (N, N) float64
            See :meth:`goalscli.kernels.Kernel.base`.
        """
        count = dataset.n_variants if index is None else len(index)
        with Progress("Gram matrix", count) as progress:

            def blocks() -> Iterator[Array]:
                for chunk in dataset.chunks(GRAM_VARIANTS, index):
                    yield chunk.values
                    progress.advance(len(chunk.index))

            return kernel(self.kernel).base(blocks(), dataset.n_samples)
