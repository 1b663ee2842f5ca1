"""Imputation by family, and the one pass over the genotypes that tells what the filters need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from goalscli.genotypes.source import GenotypeSource, Strings
from goalscli.qc.filters import Accounting, Filters
from goalscli.qc.hardy import hardy_weinberg

READ_VARIANTS = 1024
"""Variants read at once in the passes over all genotypes."""


@dataclass(frozen=True)
class Reference:
    """The genotyped samples from which means for imputation are taken, and their families.

    Attributes
    ----------
    file_index : (m,) intp
        Rows of the genotype file.
    family : (m,) int32
        Family number; -1 where the sample has none.
    analysed : (n,) intp
        Positions of the analysed samples among these m.
    """

    file_index: NDArray[np.intp]
    family: NDArray[np.int32]
    analysed: NDArray[np.intp]


def family_codes(family: Strings) -> NDArray[np.int32]:
    """Number the families from 0; "0", "" and None (PLINK's "no family") become -1."""
    codes = np.full(len(family), -1, dtype=np.int32)
    known = np.array([f not in (None, "", "0") for f in family], dtype=bool)
    if known.any():
        codes[known] = np.unique(family[known].astype(str), return_inverse=True)[1]
    return codes


@dataclass(frozen=True)
class Imputed:
    """One block after imputation.

    Attributes
    ----------
    values : (n, C) float64, Fortran order
        Dosages of the analysed samples, none missing (a variant that nobody has called is all zero).
    n_obs : (C,) int64
        Analysed samples with a call.
    dosage_sum : (C,) float64
        Sum of the called dosages.
    by_family, by_overall : (C,) int64
        Cells filled with a family's mean and with the mean of all.
    """

    values: NDArray[np.float64]
    n_obs: NDArray[np.int64]
    dosage_sum: NDArray[np.float64]
    by_family: NDArray[np.int64]
    by_overall: NDArray[np.int64]


def impute(raw: NDArray[np.float32], reference: Reference, by_family: bool) -> Imputed:
    """Fill missing calls by the mean of the family's genotyped members, or of all where the family has none.

    Parameters
    ----------
    raw : (m, C) float32
        Dosages of the reference samples, NaN where missing.
    reference : Reference
    by_family : bool
        False takes the mean of all for every missing call.
    """
    # Along the contiguous axis: rows of a Fortran-ordered block are ten times slower to pick.
    analysed = raw if len(reference.analysed) == len(raw) else np.take(raw.T, reference.analysed, axis=1).T
    values = analysed.astype(np.float64, order="F")
    missing = np.isnan(values)
    n = len(values)
    gaps = np.flatnonzero(missing.any(axis=0))
    n_obs = np.full(values.shape[1], n, dtype=np.int64)
    n_family, n_overall = np.zeros_like(n_obs), np.zeros_like(n_obs)
    if not len(gaps):
        return Imputed(values, n_obs, values.sum(axis=0), n_family, n_overall)
    n_obs[gaps] -= missing[:, gaps].sum(axis=0)
    sums = np.where(missing, 0.0, values).sum(axis=0)
    block = raw[:, gaps].astype(np.float64)
    called = ~np.isnan(block)
    block[~called] = 0.0
    count = called.sum(axis=0)
    overall = np.divide(block.sum(axis=0), count, out=np.zeros(len(gaps)), where=count > 0)
    fill, known = np.broadcast_to(overall, (n, len(gaps))), np.zeros((n, len(gaps)), dtype=bool)
    if by_family and (reference.family >= 0).any():
        members = _family_indicator(reference.family)
        counts, totals = members @ called.astype(np.float64), members @ block
        means = np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)
        family = reference.family[reference.analysed]
        known = (family >= 0)[:, None] & (counts[family] > 0)
        fill = np.where(known, means[family], overall)
    hole = missing[:, gaps]
    values[:, gaps] = np.where(hole, fill, values[:, gaps])
    n_family[gaps], n_overall[gaps] = (hole & known).sum(axis=0), (hole & ~known).sum(axis=0)
    return Imputed(values, n_obs, sums, n_family, n_overall)


def _family_indicator(family: NDArray[np.int32]) -> sparse.csr_array:
    rows = np.flatnonzero(family >= 0)
    shape = (int(family.max()) + 1, len(family))
    return sparse.csr_array((np.ones(len(rows)), (family[rows], rows)), shape=shape)


@dataclass(frozen=True)
class VariantStatistics:
    """What one pass over the genotypes tells, a row a candidate variant.

    Attributes
    ----------
    n_obs : (J,) int64
        Analysed samples with a call.
    a1_freq : (J,) float64
        Frequency of a1 among those calls (0 where there is none).
    mean, sd : (J,) float64
        Of the imputed dosages over the analysed samples; divisor N - 1.
    by_family, by_overall : (J,) int64
        Cells filled with a family's mean and with the mean of all.
    sample_missing : (m,) float64
        Share of missing calls of each reference sample over these variants.
    hwe_p : (J,) float64
        Exact Hardy–Weinberg p of the analysed samples' calls, rounded to whole copies; 1 where not tested.
    """

    n_obs: NDArray[np.int64]
    a1_freq: NDArray[np.float64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    by_family: NDArray[np.int64]
    by_overall: NDArray[np.int64]
    sample_missing: NDArray[np.float64]
    hwe_p: NDArray[np.float64]


def variant_statistics(
    source: GenotypeSource,
    variants: NDArray[np.intp],
    reference: Reference,
    by_family: bool,
    advance: Callable[[int], None] = lambda n: None,
    *,
    test: NDArray[np.bool_] | None = None,
) -> VariantStatistics:
    """Pass once over the genotypes of the candidate variants (file rows ``variants``).

    ``test``, (J,) bool, tells which of them to test for Hardy–Weinberg equilibrium; none where it is None.
    """
    j, m = len(variants), len(reference.file_index)
    counts, moments, hwe_p = np.zeros((3, j), dtype=np.int64), np.zeros((3, j)), np.ones(j)
    sample_missing = np.zeros(m, dtype=np.int64)
    for start in range(0, j, READ_VARIANTS):
        part = slice(start, min(start + READ_VARIANTS, j))
        raw = source.read(reference.file_index, variants[part])
        sample_missing += np.isnan(raw).sum(axis=1)
        if test is not None:
            hwe_p[part][test[part]] = _test(raw[:, test[part]], reference)
        block = impute(raw, reference, by_family)
        counts[:, part] = block.n_obs, block.by_family, block.by_overall
        mean = block.values.mean(axis=0)
        centred = np.subtract(block.values, mean, out=block.values)
        sd = np.sqrt(np.einsum("ij,ij->j", centred, centred) / max(1, len(centred) - 1))
        moments[:, part] = block.dosage_sum / np.maximum(2 * block.n_obs, 1), mean, sd
        advance(part.stop - part.start)
    # Rounding leaves a constant column of imputed means with an sd of 1e-17: that is constant.
    moments[2, moments[2] < 1e-10] = 0.0
    return VariantStatistics(
        n_obs=counts[0],
        a1_freq=moments[0],
        mean=moments[1],
        sd=moments[2],
        by_family=counts[1],
        by_overall=counts[2],
        sample_missing=sample_missing / max(1, j),
        hwe_p=hwe_p,
    )


def _test(raw: NDArray[np.float32], reference: Reference) -> NDArray[np.float64]:
    copies = np.rint(np.take(raw.T, reference.analysed, axis=1))
    return hardy_weinberg(*(np.count_nonzero(copies == c, axis=1) for c in (0, 1, 2)))


def keep_variants(stats: VariantStatistics, n_samples: int, filters: Filters, account: Accounting) -> NDArray[np.bool_]:
    """Apply geno, maf, mac, hwe and the monomorphic filter in that order, accounting for each.

    mac and hwe are told only where asked for.

    Returns
    -------
    (J,) bool
        True for the variants to keep.
    """
    # Shares like 0.05 are not exact in binary: PLINK's "at or above" needs this much slack.
    slack = 1e-12
    missing = 1 - stats.n_obs / n_samples
    minor = np.minimum(stats.a1_freq, 1 - stats.a1_freq)
    keep = np.ones(len(missing), dtype=bool)
    steps = [
        (f"geno {filters.geno:g}", missing <= filters.geno + slack),
        (f"maf {filters.maf:g}", minor >= filters.maf - slack),
    ]
    if filters.mac:
        # Sums of dosages of 8 or 16 bits come close to whole numbers, not onto them.
        steps.append((f"mac {filters.mac}", 2 * stats.n_obs * minor >= filters.mac - 1e-4))
    if filters.hwe:
        steps.append((f"hwe {filters.hwe:g}", stats.hwe_p >= filters.hwe))
    steps.append(("monomorphic", stats.sd > 0))
    for step, good in steps:
        account.remove(step, variants=int(np.count_nonzero(keep & ~good)))
        keep &= good
    return keep
