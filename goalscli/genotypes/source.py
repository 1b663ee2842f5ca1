"""What every genotype reader offers: who, which variants, and a block of raw dosages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Strings = NDArray[np.object_]
"""One Python ``str`` an entry (object dtype: one long indel allele must not widen a million rows)."""


@dataclass(frozen=True)
class Samples:
    """The samples of a genotype file, in file order.

    Attributes
    ----------
    fid, iid : (n,) object of str
        Family and individual ID, never converted to numbers.
    sex : (n,) int8
        1 male, 2 female, 0 unknown.
    phenotype : (n,) object of str
        The sixth .fam column as written; "NA" where the format has none.
    """

    fid: Strings
    iid: Strings
    sex: NDArray[np.int8]
    phenotype: Strings

    def __len__(self) -> int:
        return len(self.iid)


@dataclass(frozen=True)
class Variants:
    """The variants of a genotype file, in file order.

    Attributes
    ----------
    chrom, id : (J,) object of str
        As written in the file.
    pos : (J,) int64
        Base-pair position; 0 where unknown.
    a1, a2 : (J,) object of str
        The counted allele and the other one.
    """

    chrom: Strings
    id: Strings
    pos: NDArray[np.int64]
    a1: Strings
    a2: Strings

    def __len__(self) -> int:
        return len(self.id)


class GenotypeSource(Protocol):
    """One opened genotype data set; a reader per format implements it."""

    @property
    def samples(self) -> Samples:
        """All samples of the file."""

    @property
    def variants(self) -> Variants:
        """All variants of the file."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that hold the data; empty for data in memory."""

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """Dosages of a1 for the given file rows.

        Returns
        -------
        (len(samples), len(variants)) float32, Fortran order, in [0, 2], NaN where missing.
        """

    def describe(self) -> dict[str, Any]:
        """What reopens this source: the format's name and its paths, ready for JSON."""
