"""GOALS: how much f changes at each sample when one variant is shifted, and on average over samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Chunk, Dataset
from goalscli.errors import SettingsError
from goalscli.posterior import Posterior, Shift, Shiftable
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


@dataclass(frozen=True)
class Goals:
    """Settings of the GOALS score.

    Attributes
    ----------
    xi : float
        The shift; not 0. The sign of the score turns with it.
    xi_unit : "x" or "allele"
        Whether xi counts units of the model's features (sd of genotype) or copies of a1.
    """

    name: ClassVar[str] = "goals"
    xi: float = 1.0
    xi_unit: Literal["x", "allele"] = "x"

    def __post_init__(self) -> None:
        if not np.isfinite(self.xi) or self.xi == 0:
            raise SettingsError(f"a shift of {self.xi} has no effect to measure", where="--xi", remedy="give e.g. 1")
        if self.xi_unit not in ("x", "allele"):
            raise SettingsError(f"no unit {self.xi_unit!r}", where="--xi-unit", remedy="give x or allele")

    def settings(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def bind(self, posterior: Posterior, dataset: Dataset) -> BoundGoals:
        """Make ready for one posterior and one dataset.

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
        posterior.prepare()
        step = dataset.allele_step if self.xi_unit == "allele" else np.ones(dataset.n_variants)
        return BoundGoals(self, posterior, self.xi * step)


@dataclass(frozen=True, eq=False)
class BoundGoals:
    """GOALS for one posterior (see :class:`goalscli.scores.BoundScore`)."""

    options: Goals
    posterior: Shiftable
    xi: NDArray[np.float64]
    fields: tuple[Field, ...] = FIELDS
    ranking: str = "z"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Shift and its unit."""
        return self.options.settings()

    def _shift(self, chunk: Chunk) -> Shift:
        # Padded columns are all zero and are left out later: any shift will do.
        xi = np.ones(chunk.values.shape[1])
        xi[chunk.columns] = self.xi[chunk.index]
        return self.posterior.shift(chunk.values, xi)

    def __call__(self, chunk: Chunk) -> Arrays:
        """Columns of :data:`FIELDS` for a block, (C,) float64 each."""
        shift = self._shift(chunk)
        return self._columns(shift, shift.local())

    def with_local(self, chunk: Chunk) -> tuple[Arrays, NDArray[np.float32]]:
        """Return the columns and the local scores (C, N) float32 (N contiguous)."""
        shift = self._shift(chunk)
        local = shift.local()
        # local is in Fortran order, so its transpose is one variant's samples after another's: no copy but the cast.
        kept = local.T.astype(np.float32)
        return self._columns(shift, local), kept

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
            "neg_log10_p": neg_log10_p(shift.z, self.posterior.residual_df, self.posterior.profiled),
            "rms": np.sqrt(square),
            "mean_abs": mean_abs,
            "spread": spread,
        }

    def finish(self, columns: Mapping[str, NDArray[np.float64]]) -> tuple[Arrays, Mapping[str, Any]]:
        """Nothing needs all variants but λ_GC, kept as an attribute with how p was calibrated."""
        # The median of chi-square with one degree of freedom.
        lambda_gc = float(np.median(columns["z"] ** 2) / 0.45493642311957283)
        null = (
            "variances by REML"
            if self.posterior.profiled
            else "variances fixed by hand: p is only as right as they are"
        )
        return {}, {"lambda_gc": lambda_gc, "calibration": null}
