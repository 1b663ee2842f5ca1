"""Psi: mean over samples of the squared derivative of f by one variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Chunk, Dataset
from goalscli.errors import SettingsError
from goalscli.posterior import Differentiable, Posterior, Slope
from goalscli.scores import Arrays, Field

FIELDS = (
    Field("mean", "posterior mean of psi, the mean over samples of the squared derivative of f", "(trait sd)²"),
    Field("plug_in", "mean over samples of the square of the derivative's posterior mean", "(trait sd)²"),
    Field("excess", "plug_in over its expectation under the polygenic null", "1"),
)


@dataclass(frozen=True)
class Psi:
    """Settings of the psi score, the mean over samples of (∂f/∂x_j)²: there are none.

    Its columns are in (trait sd per unit of genotype)², ``excess`` has no unit.
    """

    name: ClassVar[str] = "psi"
    needs: ClassVar[str] = "slopes"
    fields: ClassVar[tuple[Field, ...]] = FIELDS
    ranking: ClassVar[str] = "excess"
    keeps_local: ClassVar[bool] = False
    matrices: ClassVar[int] = 5

    def settings(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {}

    def bind(self, posterior: Posterior, dataset: Dataset) -> BoundPsi:
        """Make ready for one posterior.

        Parameters
        ----------
        posterior : Posterior
        dataset : Dataset

        Raises
        ------
        SettingsError
            f has no derivative under this model or kernel.
        """
        if not isinstance(posterior, Differentiable):
            raise SettingsError(
                f"the psi score needs a model that knows derivatives; {type(posterior).__name__} does not",
                remedy="models that do: exact",
            )
        return BoundPsi(self, posterior.slopes())

    def finish(
        self, columns: Mapping[str, NDArray[np.float64]], notes: Mapping[str, Any]
    ) -> tuple[Arrays, Mapping[str, Any]]:
        """Nothing needs all variants.

        Parameters
        ----------
        columns : mapping of str to (J,) float64
            All fields.
        notes : mapping
            Empty.

        Returns
        -------
        columns : mapping
            Changed columns: none.
        attributes : mapping
            Empty.
        """
        return {}, {}


@dataclass(frozen=True, eq=False)
class BoundPsi:
    """Psi for one posterior (see :class:`goalscli.scores.BoundScore`)."""

    options: Psi
    slope: Callable[[NDArray[np.float64]], Slope]
    stages: None = None

    def __call__(self, chunk: Chunk) -> Arrays:
        """Columns of :data:`FIELDS` for a block, (C,) float64 each."""
        slope = self.slope(chunk.values)
        return {"mean": slope.mean, "plug_in": slope.plug_in, "excess": slope.excess}

    @property
    def notes(self) -> Mapping[str, Any]:
        """None."""
        return {}
