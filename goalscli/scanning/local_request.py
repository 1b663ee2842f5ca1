"""Which variants' local scores a scan keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LocalRequest:
    """Which variants' local scores to keep.

    Attributes
    ----------
    everything : bool
        All variants.
    top : int
        The ``top`` variants of greatest |z|, ties by file order.
    named : (K,) intp, optional
        These rows of the variant table, ascending.
    """

    everything: bool = False
    top: int = 0
    named: NDArray[np.intp] | None = None

    @property
    def count(self) -> int:
        """How many are chosen; 0 for none, and for all."""
        return self.top if self.named is None else len(self.named)

    def choose(self, ranking: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the chosen rows, once all variants are ranked.

        Parameters
        ----------
        ranking : (J,) float64
            What the variants are ranked by, in absolute value.

        Returns
        -------
        (K,) intp
            Ascending.
        """
        if self.named is not None:
            return self.named
        return np.sort(np.argsort(-np.abs(ranking), kind="stable")[: self.top])
