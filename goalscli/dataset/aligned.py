"""The aligned, filtered, frozen data of one trait, and the one way to iterate over its treated genotypes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from goalscli import qc
from goalscli.errors import SettingsError
from goalscli.genotypes.source import GenotypeSource, Strings
from goalscli.phenotypes import Covariates

BLOCK = 256
"""Columns of every product of a scan: blocks have exactly this width, however the variants were cut."""


@dataclass(frozen=True)
class Treatment:
    """How raw dosages become the features of the model, and the trait what it explains.

    Attributes
    ----------
    impute : "family" or "mean"
        Whose mean dosage takes the place of a missing call.
    scale : "standardize", "center" or "none"
        Of the dosages; the trait is standardised always.
    rank_int : bool
        Take the trait's rank-based inverse normal scores.

    Raises
    ------
    SettingsError
        No such imputation or scale.
    """

    impute: Literal["family", "mean"] = "family"
    scale: Literal["standardize", "center", "none"] = "standardize"
    rank_int: bool = False

    def __post_init__(self) -> None:
        if self.impute not in ("family", "mean"):
            raise SettingsError(f"no imputation {self.impute!r}", where="--impute", remedy="give family or mean")
        if self.scale not in ("standardize", "center", "none"):
            raise SettingsError(f"no scale {self.scale!r}", where="--scale", remedy="give standardize, center or none")


@dataclass(frozen=True)
class SampleTable:
    """The analysed samples, N rows; the order of everything that is per sample.

    Attributes
    ----------
    fid, iid : (N,) object of str
        Family and individual ID, as in the file.
    family : (N,) object of str
        For imputation; "0" for none.
    group : (N,) object of str
        For pictures by group: cage, litter, …
    """

    fid: Strings
    iid: Strings
    family: Strings
    group: Strings

    def __len__(self) -> int:
        return len(self.iid)


@dataclass(frozen=True)
class VariantTable:
    """The analysed variants, J rows.

    Attributes
    ----------
    chrom, pos, id, a1, a2 : (J,)
        As in the file; a1 is the counted allele.
    a1_freq, missing_rate, n_obs : (J,)
        Over the analysed samples, before imputation.
    mean, sd : (J,) float64
        Of the imputed dosages over the analysed samples; divisor N - 1.
    file_index : (J,) intp
        Row in the genotype file, ascending.
    """

    chrom: Strings
    pos: NDArray[np.int64]
    id: Strings
    a1: Strings
    a2: Strings
    a1_freq: NDArray[np.float64]
    missing_rate: NDArray[np.float64]
    n_obs: NDArray[np.int64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    file_index: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True)
class Chunk:
    """A block of treated genotypes.

    Attributes
    ----------
    index : (C,) intp
        Rows of the dataset's variant table.
    columns : (C,) intp
        Where each of them lies in ``values``.
    values : (N, C) or (N, BLOCK) float64, Fortran order
        Features of the model; in a padded block the other columns are all zero.
    """

    index: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: NDArray[np.float64]

    def blocks(self) -> Iterator[Chunk]:
        """Lay the variants into blocks of exactly :data:`BLOCK` columns, zero where there is none.

        Variant j always lies in column j mod BLOCK, since the last bits of a product depend on the column (in single
        precision OpenBLAS sums the last columns of a block in another order than the first ones).
        """
        places = self.index % BLOCK
        # The first variant of each column goes to the first block, the second to the second, and so on.
        order = np.argsort(places, kind="stable")
        ranked = places[order]
        layer = np.empty(len(places), dtype=np.intp)
        layer[order] = np.arange(len(places)) - np.searchsorted(ranked, ranked)
        for k in range(int(layer.max(initial=-1)) + 1):
            at = np.flatnonzero(layer == k)
            if len(at) == BLOCK and places[at[0]] == 0 and at[-1] - at[0] == BLOCK - 1:
                values = self.values[:, at[0] : at[-1] + 1]
            else:
                values = np.zeros((len(self.values), BLOCK), order="F")
                values[:, places[at]] = self.values[:, at]
            yield Chunk(self.index[at], places[at], values)


@dataclass(frozen=True)
class RandomEffect:
    """A grouping of the samples (cage, litter) whose levels each shift the trait at random.

    Attributes
    ----------
    name : str
    levels : (L,) object of str
        Those of the analysed samples.
    codes : (N,) intp
        Each sample's level.
    """

    name: str
    levels: Strings
    codes: NDArray[np.intp]

    def design(self) -> NDArray[np.float64]:
        """Return the levels as 0/1 columns, each centred; (N, L) float64, Fortran order."""
        columns = np.zeros((len(self.codes), len(self.levels)), order="F")
        columns[np.arange(len(self.codes)), self.codes] = 1
        columns -= columns.mean(axis=0)
        return columns


@dataclass(frozen=True)
class Dataset:
    """One trait's aligned data.

    Attributes
    ----------
    source : GenotypeSource
        Where raw dosages come from.
    reference : qc.Reference
        The genotyped samples that give means for imputation, the analysed ones among them.
    samples : SampleTable
        N rows.
    variants : VariantTable
        J rows.
    phenotype : (N,) float64
        Centred and scaled to unit variance (divisor N - 1).
    covariates : Covariates
        Fixed effects, full rank, intercept included unless asked otherwise.
    trait : str
        Its name.
    trait_mean, trait_sd : float
        In the units of the table; ``phenotype * trait_sd + trait_mean`` is the trait as measured, or its normal
        scores with ``treatment.rank_int``.
    treatment : Treatment
        How dosages became features.
    accounting : qc.Accounting
        What each filter removed.
    random : RandomEffect, optional
        Cages or litters that shift the trait at random.
    """

    source: GenotypeSource
    reference: qc.Reference
    samples: SampleTable
    variants: VariantTable
    phenotype: NDArray[np.float64]
    covariates: Covariates
    trait: str
    trait_mean: float
    trait_sd: float
    treatment: Treatment
    accounting: qc.Accounting
    random: RandomEffect | None = None

    @property
    def n_samples(self) -> int:
        """Number of analysed samples, N."""
        return len(self.samples)

    @property
    def n_variants(self) -> int:
        """Number of analysed variants, J."""
        return len(self.variants)

    @property
    def allele_step(self) -> NDArray[np.float64]:
        """One more a1 in the units of the features: 1/sd when standardised, else 1; (J,) float64."""
        return 1 / self.variants.sd if self.treatment.scale == "standardize" else np.ones(self.n_variants)

    def chunks(self, size: int = qc.READ_VARIANTS, index: NDArray[np.intp] | None = None) -> Iterator[Chunk]:
        """Yield the treated genotypes of all variants, or of ``index``, ``size`` at a time.

        Parameters
        ----------
        size : int
            Variants a chunk.
        index : (C,) intp, optional
            Ascending rows of the variant table.

        Yields
        ------
        Chunk
        """
        chosen = np.arange(self.n_variants) if index is None else index
        for start in range(0, len(chosen), size):
            part = chosen[start : start + size]
            yield Chunk(part, np.arange(len(part)), self.values(part))

    def values(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Read, impute and scale the features of these variants.

        Parameters
        ----------
        index : (C,) intp
            Rows of the variant table.

        Returns
        -------
        (N, C) float64, Fortran order
            In sd of genotype, or in copies of A1 (``treatment.scale``).
        """
        values = self._filled(self._raw(index))
        if self.treatment.scale != "none":
            values -= self.variants.mean[index]
        if self.treatment.scale == "standardize":
            values /= self.variants.sd[index]
        return values

    def dosages(self, index: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Read and impute the copies of A1 of these variants.

        Parameters
        ----------
        index : (C,) intp
            Rows of the variant table.

        Returns
        -------
        dosages : (N, C) float64
            In copies of A1, missing calls filled.
        called : (N, C) bool
            Those that were not missing.
        """
        raw = self._raw(index)
        return self._filled(raw), ~np.isnan(np.take(raw, self.reference.analysed, axis=0))

    def _raw(self, index: NDArray[np.intp]) -> NDArray[np.float32]:
        return self.source.read(self.reference.file_index, self.variants.file_index[index])

    def _filled(self, raw: NDArray[np.float32]) -> NDArray[np.float64]:
        return qc.impute(raw, self.reference, self.treatment.impute == "family").values
