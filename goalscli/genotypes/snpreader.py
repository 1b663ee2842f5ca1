"""Genotypes of any pysnptools SnpReader or DistReader (SnpData, Bed, SnpHdf5, DistNpz, …), for users of FaST-LMM."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.common import make_samples
from goalscli.genotypes.source import Samples, Strings, Variants

_COPIES = np.array([0.0, 1.0, 2.0])
_UNEVEN = 1e-3
"""How far three probabilities may sum from 1; 8 bits round to half of that."""
_LARGEST = 1e15


@dataclass(frozen=True, eq=False)
class SnpReaderSource:
    """A SnpReader or DistReader as a genotype source.

    Attributes
    ----------
    reader : pysnptools.snpreader.SnpReader or pysnptools.distreader.DistReader
    samples : Samples
    variants : Variants
        A reader knows no alleles: a1 is "counted" and a2 "other", whichever allele it counts. Of a distribution that
        is the allele of which the third probability has two copies.
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
            A value outside [0, 2] (standardised data, say), or probabilities that do not sum to 1.
        """
        # Every reader gives float64; asked for float32, one in memory warns of lost digits.
        values = self.reader[samples, variants].read(order="F", dtype=np.float64).val
        if values.ndim == 3:
            values = self._expected(values)
        block = np.asfortranarray(values, dtype=np.float32)
        # The missing call of readers of whole numbers.
        block[block == -127] = np.nan
        outside = int(np.count_nonzero((block < 0) | (block > 2)))
        if outside:
            raise InputError(
                f"{outside} dosages lie outside [0, 2]",
                where=repr(self.reader),
                remedy="hand over unstandardised genotypes",
            )
        return block

    def _expected(self, distribution: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected dosage of (samples, variants, 3) probabilities of 0, 1 and 2 copies."""
        uneven = np.abs(distribution.sum(axis=2) - 1) > _UNEVEN
        wrong = int(np.count_nonzero(uneven | (distribution < 0).any(axis=2)))
        if wrong:
            raise InputError(
                f"{wrong} genotypes have probabilities that are negative or do not sum to 1",
                where=repr(self.reader),
                remedy="give the probabilities of 0, 1 and 2 copies, all NaN where missing",
            )
        # Rounding in single precision may lead a hair beyond 2.
        expected: NDArray[np.float64] = np.clip(distribution @ _COPIES, 0, 2)
        return expected

    def describe(self) -> dict[str, str]:
        """See :meth:`goalscli.genotypes.source.GenotypeSource.describe`."""
        return {"format": "memory"}


def from_snpreader(reader: Any) -> SnpReaderSource:
    """Wrap a pysnptools SnpReader or DistReader.

    Parameters
    ----------
    reader : pysnptools.snpreader.SnpReader or pysnptools.distreader.DistReader
        Unstandardised: dosages 0 to 2, NaN where missing, or probabilities of 0, 1 and 2 copies, of which the expected
        dosage is taken. For a ``Bed``, pass ``count_A1=True`` to it so that A1 is the counted allele, as in this
        package. Chromosome and position are the first and third column of ``pos``, unplaced where NaN.

    Returns
    -------
    SnpReaderSource
        A genotype source for :func:`goalscli.dataset.assembly.make_dataset`.

    Raises
    ------
    InputError
        The object is not such a reader or its file is not there; no samples or variants, a sample listed twice, or a
        position that is negative or not a whole number.
    """
    name = type(reader).__name__
    try:
        missing = [attribute for attribute in ("iid", "sid", "pos", "read") if not hasattr(reader, attribute)]
    except FileNotFoundError as error:
        raise InputError(f"no such file: {error.filename}", where=name, remedy="check the path") from error
    if missing:
        raise InputError(
            f"{name} is not a SnpReader (it lacks {', '.join(missing)})",
            remedy="give a pysnptools reader, for example Bed(path, count_A1=True)",
        )
    j = len(reader.sid)
    if not j:
        raise InputError("no variants", where=repr(reader), remedy="give a reader of some")
    places = np.asarray(reader.pos, dtype=np.float64)
    chrom, pos = places[:, 0], np.where(np.isnan(places[:, 2]), 0, places[:, 2])
    odd = np.flatnonzero((pos < 0) | (pos > _LARGEST) | (np.floor(pos) != pos))
    if len(odd):
        raise InputError(
            f"{len(odd)} positions are negative, too large or no whole numbers ({reader.sid[odd[0]]}: {pos[odd[0]]:g})",
            where=repr(reader),
            remedy="write NaN or 0 where unknown",
        )
    iid = np.asarray(reader.iid).reshape(-1, 2)
    samples = make_samples(_strings(iid[:, 0]).tolist(), _strings(iid[:, 1]).tolist(), Path(name))
    variants = Variants(
        chrom=np.array([_chromosome(c) for c in chrom.tolist()], dtype=object),
        id=_strings(reader.sid),
        pos=pos.astype(np.int64),
        a1=np.full(j, "counted", dtype=object),
        a2=np.full(j, "other", dtype=object),
    )
    return SnpReaderSource(reader, samples, variants)


def _chromosome(number: float) -> str:
    """As short as the number is: 1, 23, 1.5; "0", unplaced, for NaN."""
    return "0" if np.isnan(number) else str(int(number)) if number.is_integer() else repr(number)


def _strings(values: Any) -> Strings:
    return np.array([v.decode() if isinstance(v, bytes) else str(v) for v in values], dtype=object)
