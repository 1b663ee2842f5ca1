"""What tables say of the samples of a genotype file, and which samples and variants lists leave of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from goalscli.genotypes.source import GenotypeSource, Strings
from goalscli.phenotypes import Covariate


@dataclass(frozen=True)
class Columns:
    """What tables say of the samples of a genotype file, in its order.

    Attributes
    ----------
    phenotype : (n,) float64
        NaN where missing.
    covariates : sequence of Covariate
        NaN or None where missing.
    family, group : (n,) object of str
        For imputation and for pictures.
    trait : str
    random : Covariate, optional
        Categorical: the levels of a random effect, None where missing.
    """

    phenotype: NDArray[np.float64]
    covariates: Sequence[Covariate]
    family: Strings
    group: Strings
    trait: str
    random: Covariate | None = None

    @property
    def present(self) -> NDArray[np.bool_]:
        """(n,) True where trait, covariates and random effect are all there."""
        present = ~np.isnan(self.phenotype)
        for column in (*self.covariates, *([self.random] if self.random else [])):
            present &= column.present
        return present

    def needed(self, last: str) -> str:
        """Words for what every analysed sample must have, ``last`` (and, or) between the last two."""
        parts = ["trait", "covariate", *([self.random.name] if self.random else [])]
        return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


@dataclass(frozen=True)
class Selected:
    """What lists of samples and variants leave of a genotype file, before anything of it is read.

    Attributes
    ----------
    samples, variants : (m,), (J,) intp
        Rows of the file, ascending.
    steps : tuple of (str, int, int)
        Each list, with the samples and the variants that it removed.
    """

    samples: NDArray[np.intp]
    variants: NDArray[np.intp]
    steps: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def everything(cls, source: GenotypeSource) -> Selected:
        """All samples and variants."""
        return cls(np.arange(len(source.samples)), np.arange(len(source.variants)))
