"""Genotypes already in memory: for tests, simulations and other libraries' arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goalscli.errors import InputError
from goalscli.genotypes.source import Samples, Variants


@dataclass(frozen=True)
class MemorySource:
    """Dosages held in one array.

    Attributes
    ----------
    dosages : (n, J) float32 or int8
        Copies of a1; NaN (or -127 in int8) where missing.
    samples : Samples
    variants : Variants
    """

    dosages: NDArray[np.float32] | NDArray[np.int8]
    samples: Samples
    variants: Variants
    files: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if self.dosages.shape != (len(self.samples), len(self.variants)):
            raise InputError(
                f"dosages have shape {self.dosages.shape}, but there are "
                f"{len(self.samples)} samples and {len(self.variants)} variants"
            )

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """See :meth:`goalscli.genotypes.source.GenotypeSource.read`."""
        block = np.asfortranarray(self.dosages[np.ix_(samples, variants)], dtype=np.float32)
        if self.dosages.dtype == np.int8:
            block[block == -127] = np.nan
        return block

    def describe(self) -> dict[str, str]:
        """See :meth:`goalscli.genotypes.source.GenotypeSource.describe`."""
        return {"format": "memory"}


def from_array(
    dosages: ArrayLike,
    *,
    iid: ArrayLike | None = None,
    fid: ArrayLike | None = None,
    chrom: ArrayLike | None = None,
    pos: ArrayLike | None = None,
    id: ArrayLike | None = None,
) -> MemorySource:
    """Wrap a (samples, variants) array; names that are not given are numbered from 0.

    Parameters
    ----------
    dosages : (n, J) array
        Copies of the counted allele in [0, 2], NaN where missing.
    iid, fid : (n,), optional
        Sample and family IDs; the family defaults to "0", no family.
    chrom, pos, id : (J,), optional
        Where each variant lies and its name; chromosome "1" and positions 1, 2, … where not given.

    Returns
    -------
    MemorySource
        A genotype source for :func:`goalscli.dataset.assembly.make_dataset`; alleles are called A1 and A2.

    Raises
    ------
    InputError
        Values outside [0, 2], or names of another length than the array's side.
    """
    values = np.asfortranarray(dosages, dtype=np.float32)
    if values.ndim != 2:
        raise InputError(f"dosages must be a (samples, variants) array, got {values.ndim} dimension(s)")
    outside = int(np.count_nonzero((values < 0) | (values > 2)))
    if outside:
        raise InputError(f"{outside} dosages lie outside [0, 2]", remedy="give copies of one allele, NaN where missing")
    n, j = values.shape

    def strings(given: ArrayLike | None, default: list[str], name: str, length: int) -> NDArray[np.object_]:
        out = np.array([str(v) for v in (default if given is None else np.asarray(given))], dtype=object)
        if len(out) != length:
            raise InputError(f"{name} has {len(out)} entries, expected {length}")
        return out

    samples = Samples(
        fid=strings(fid, ["0"] * n, "fid", n),
        iid=strings(iid, [f"s{i}" for i in range(n)], "iid", n),
        sex=np.zeros(n, np.int8),
        phenotype=np.full(n, "NA", dtype=object),
    )
    variants = Variants(
        chrom=strings(chrom, ["1"] * j, "chrom", j),
        id=strings(id, [f"v{i}" for i in range(j)], "id", j),
        pos=np.arange(1, j + 1) if pos is None else np.asarray(pos, dtype=np.int64),
        a1=np.full(j, "A1", dtype=object),
        a2=np.full(j, "A2", dtype=object),
    )
    return MemorySource(values, samples, variants)
