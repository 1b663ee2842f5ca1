"""GOALS: how much f changes at each sample when one variant is shifted, and on average over samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Chunk, Dataset
from goalscli.errors import SettingsError
from goalscli.kernels import GRAM_VARIANTS
from goalscli.posterior import LeavesOut, Posterior, Shift, Shiftable
from goalscli.scores import Arrays, Field
from goalscli.scores.tail import neg_log10_p

FIELDS = (
    Field("score", "posterior mean of the global score, mean over samples of f(x) - f(x + xi e_j)", "trait sd"),
    Field("sd", "posterior standard deviation of the global score", "trait sd"),
    Field("null_sd", "standard deviation of the score over traits of the polygenic null", "trait sd"),
    Field("z", "score / null_sd", "1"),
    Field("neg_log10_p", "-log10 of the two-sided p-value of z against the polygenic null", "1"),
    Field("rms", "root mean square over samples of the local scores", "trait sd"),
    Field("mean_abs", "mean over samples of the absolute local scores", "trait sd"),
    Field("spread", "standard deviation over samples (divisor N - 1) of the local scores", "trait sd"),
)

LOCO_FIELDS = (
    Field("loco_z", "z against the polygenic null without the variant's own chromosome", "1"),
    Field("loco_neg_log10_p", "-log10 of the two-sided p-value of loco_z", "1"),
)


@dataclass(frozen=True)
class Goals:
    """Settings of the GOALS score: f(x) - f(x + xi·e_j), for each sample (Eq. 12) and on average (Eqs. S3, S4).

    Attributes
    ----------
    xi : float
        The shift; not 0. The sign of the score turns with it.
    xi_unit : "x" or "allele"
        Whether xi counts units of the model's features (sd of genotype) or copies of a1.
    loco : bool
        Also test each variant against a null without the variants of its own chromosome.

    Raises
    ------
    SettingsError
        A shift of 0 or none, or another unit.
    """

    name: ClassVar[str] = "goals"
    needs: ClassVar[str] = "shifts"
    ranking: ClassVar[str] = "z"
    keeps_local: ClassVar[bool] = True
    xi: float = 1.0
    xi_unit: Literal["x", "allele"] = "x"
    loco: bool = False

    def __post_init__(self) -> None:
        if not np.isfinite(self.xi) or self.xi == 0:
            raise SettingsError(f"a shift of {self.xi} has no effect to measure", where="--xi", remedy="give e.g. 1")
        if self.xi_unit not in ("x", "allele"):
            raise SettingsError(f"no unit {self.xi_unit!r}", where="--xi-unit", remedy="give x or allele")

    @property
    def fields(self) -> tuple[Field, ...]:
        """Columns, those without the chromosome last."""
        return FIELDS + LOCO_FIELDS if self.loco else FIELDS

    @property
    def matrices(self) -> int:
        """(N, N) float64 that it needs beside the posterior's own."""
        return 7 if self.loco else 0

    def settings(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def bind(self, posterior: Posterior, dataset: Dataset) -> BoundGoals:
        """Make ready for one posterior and one dataset.

        Parameters
        ----------
        posterior : Posterior
        dataset : Dataset

        Raises
        ------
        SettingsError
            The posterior cannot shift a feature.
        """
        if not isinstance(posterior, Shiftable):
            raise SettingsError(
                f"the goals score needs a model that can shift a feature; {type(posterior).__name__} cannot",
                remedy="models that can: exact",
            )
        if self.loco:
            _require_chromosomes(posterior, dataset)
        xi = self.xi * (dataset.allele_step if self.xi_unit == "allele" else np.ones(dataset.n_variants))
        # A variant's dosages span two copies at most.
        reach = float(np.max(xi**2 + 2 * np.abs(xi) * 2 * dataset.allele_step))
        return BoundGoals(self, posterior, dataset, xi, reach, posterior.shifts(reach))

    def finish(
        self, columns: Mapping[str, NDArray[np.float64]], notes: Mapping[str, Any]
    ) -> tuple[Arrays, Mapping[str, Any]]:
        """Nothing needs all variants but λ_GC, kept as an attribute with how p was calibrated.

        Parameters
        ----------
        columns : mapping of str to (J,) float64
            All fields.
        notes : mapping
            How p was calibrated.

        Returns
        -------
        columns : mapping
            Changed columns: none.
        attributes : mapping
            lambda_gc, calibration; loco_lambda_gc with ``loco``.
        """
        attributes = {"lambda_gc": lambda_gc(columns["z"]), **notes}
        if self.loco:
            attributes["loco_lambda_gc"] = lambda_gc(columns["loco_z"])
        return {}, attributes


def _require_chromosomes(posterior: Posterior, dataset: Dataset) -> None:
    if not isinstance(posterior, LeavesOut):
        raise SettingsError(
            f"{type(posterior).__name__} cannot leave a chromosome out", where="--loco", remedy="models that can: exact"
        )
    names = set(dataset.variants.chrom)
    if len(names) < 2:
        raise SettingsError(
            f"all {dataset.n_variants} variants are on chromosome {names.pop()}: nothing is left without it",
            where="--loco",
            remedy="leave out --loco, or fit on all chromosomes",
        )


Shifts = Callable[[NDArray[np.float64], NDArray[np.float64]], Shift]


@dataclass(frozen=True, eq=False)
class BoundGoals:
    """GOALS for one posterior (see :class:`goalscli.scores.LocalScore`).

    Attributes
    ----------
    xi : (J,) float64
        The shift of each variant in the units of the features.
    reach : float
        Most that a shift changes a squared distance.
    shift : callable
        Shifts of the posterior.
    without : callable, optional
        Shifts of the posterior without the chromosome at hand.
    """

    options: Goals
    posterior: Shiftable
    dataset: Dataset
    xi: NDArray[np.float64]
    reach: float
    shift: Shifts
    without: Shifts | None = None

    @property
    def stages(self) -> NDArray[np.object_] | None:
        """Chromosomes where they are left out."""
        return self.dataset.variants.chrom if self.options.loco else None

    def at(self, label: str) -> BoundGoals:
        """Read a chromosome once more and form the posterior without it."""
        assert isinstance(self.posterior, LeavesOut)  # bind checks it
        rows = np.flatnonzero(self.dataset.variants.chrom == label)
        blocks = (chunk.values for chunk in self.dataset.chunks(GRAM_VARIANTS, rows))
        return replace(self, without=self.posterior.leave_out(blocks).shifts(self.reach))

    def _shifts(self, chunk: Chunk) -> NDArray[np.float64]:
        # Padded columns are left out later; they are not shifted.
        xi = np.zeros(chunk.values.shape[1])
        xi[chunk.columns] = self.xi[chunk.index]
        return xi

    def __call__(self, chunk: Chunk) -> Arrays:
        """Columns for a block, (C,) float64 each."""
        xi = self._shifts(chunk)
        shift = self.shift(chunk.values, xi)
        return self._columns(shift, shift.local()) | self._loco(chunk, xi)

    def with_local(self, chunk: Chunk) -> tuple[Arrays, NDArray[np.float32]]:
        """Return the columns and the local scores (C, N) float32 (N contiguous)."""
        xi = self._shifts(chunk)
        shift = self.shift(chunk.values, xi)
        local = shift.local()
        # local is in Fortran order, so its transpose is one variant's samples after another's: no copy but the cast.
        kept = local.T.astype(np.float32)
        return self._columns(shift, local) | self._loco(chunk, xi), kept

    def local(self, chunk: Chunk) -> NDArray[np.float32]:
        """Local scores (C, N) float32 alone."""
        return self.shift(chunk.values, self._shifts(chunk)).local().T.astype(np.float32)

    def _loco(self, chunk: Chunk, xi: NDArray[np.float64]) -> Arrays:
        if self.without is None:
            return {}
        z = self.without(chunk.values, xi).z
        return {"loco_z": z, "loco_neg_log10_p": self._neg_log10_p(z)}

    def _neg_log10_p(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        return neg_log10_p(z, self.posterior.residual_df, self.posterior.profiled)

    def _columns(self, shift: Shift, local: NDArray[np.float64]) -> Arrays:
        """Summaries over samples; overwrites ``local``."""
        n = len(local)
        square = np.einsum("ij,ij->j", local, local) / n
        centre = np.einsum("ij->j", local) / n
        mean_abs = np.einsum("ij->j", np.abs(local)) / n
        local -= centre
        spread = np.sqrt(np.einsum("ij,ij->j", local, local) / max(1, n - 1))
        return {
            "score": shift.mean,
            "sd": np.sqrt(shift.variance),
            "null_sd": np.sqrt(shift.null_variance),
            "z": shift.z,
            "neg_log10_p": self._neg_log10_p(shift.z),
            "rms": np.sqrt(square),
            "mean_abs": mean_abs,
            "spread": spread,
        }

    @property
    def notes(self) -> Mapping[str, Any]:
        """How p was calibrated."""
        if self.posterior.profiled:
            return {"calibration": "variances by REML"}
        return {"calibration": "variances fixed by hand: p is only as right as they are"}


def lambda_gc(z: NDArray[np.float64]) -> float:
    """Median of z² over that of chi-square with one degree of freedom."""
    return float(np.median(z**2) / 0.45493642311957283)
