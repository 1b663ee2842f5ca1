"""Genotypes of any pysnptools SnpReader (SnpData, Bed, SnpHdf5, SnpMemMap, …), for users of FaST-LMM."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.source import Samples, Strings, Variants


@dataclass(frozen=True, eq=False)
class SnpReaderSource:
    """A SnpReader as a genotype source.

    Attributes
    ----------
    reader : pysnptools.snpreader.SnpReader
    samples : Samples
    variants : Variants
        A SnpReader knows no alleles: a1 is "counted" and a2 "other", whichever allele the reader counts.
    """

    reader: Any
    samples: Samples
    variants: Variants
    files: tuple[Path, ...] = ()

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """See :meth:`goalscli.genotypes.source.GenotypeSource.read`.

        Raises
        ------
        InputError
            A value outside [0, 2]: standardised data, say.
        """
        # Every reader gives float64; asked for float32, one in memory warns of lost digits.
        values = self.reader[samples, variants].read(order="F", dtype=np.float64).val
        block = np.asfortranarray(values, dtype=np.float32)
        outside = int(np.count_nonzero((block < 0) | (block > 2)))
        if outside:
            raise InputError(
                f"{outside} dosages lie outside [0, 2]",
                where=repr(self.reader),
                remedy="hand over unstandardised genotypes",
            )
        return block

    def describe(self) -> dict[str, str]:
        """See :meth:`goalscli.genotypes.source.GenotypeSource.describe`."""
        return {"format": "memory"}


def from_snpreader(reader: Any) -> SnpReaderSource:
    """Wrap a pysnptools SnpReader.

    Parameters
    ----------
    reader : pysnptools.snpreader.SnpReader
        For a ``Bed``, pass ``count_A1=True`` to it so that A1 is the counted allele, as in this package.

    Raises
    ------
    InputError
        The object is not a SnpReader.
    """
    missing = [name for name in ("iid", "sid", "pos", "read") if not hasattr(reader, name)]
    if missing:
        raise InputError(f"{type(reader).__name__} is not a SnpReader (it lacks {', '.join(missing)})")
    n, j = len(reader.iid), len(reader.sid)
    chrom, pos = np.asarray(reader.pos, dtype=float)[:, 0], np.asarray(reader.pos, dtype=float)[:, 2]
    samples = Samples(
        fid=_strings(reader.iid[:, 0]),
        iid=_strings(reader.iid[:, 1]),
        sex=np.zeros(n, np.int8),
        phenotype=np.full(n, "NA", dtype=object),
    )
    variants = Variants(
        chrom=np.array(["0" if np.isnan(c) else f"{c:g}" for c in chrom], dtype=object),
        id=_strings(reader.sid),
        pos=np.where(np.isnan(pos), 0, pos).astype(np.int64),
        a1=np.full(j, "counted", dtype=object),
        a2=np.full(j, "other", dtype=object),
    )
    return SnpReaderSource(reader, samples, variants)


def _strings(values: Any) -> Strings:
    return np.array([v.decode() if isinstance(v, bytes) else str(v) for v in values], dtype=object)
