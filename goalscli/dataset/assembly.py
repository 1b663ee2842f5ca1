"""From a genotype source and columns of tables to an aligned, filtered dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goalscli import qc
from goalscli.dataset.aligned import Dataset, SampleTable, Treatment, VariantTable
from goalscli.errors import InputError
from goalscli.genotypes.source import GenotypeSource, Strings
from goalscli.phenotypes import Covariate, Covariates, covariate_matrix
from goalscli.runtime import LOG, Progress


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
    """

    phenotype: NDArray[np.float64]
    covariates: Sequence[Covariate]
    family: Strings
    group: Strings
    trait: str


def make_dataset(
    source: GenotypeSource,
    phenotype: ArrayLike,
    *,
    covariates: ArrayLike | None = None,
    family: ArrayLike | None = None,
    group: ArrayLike | None = None,
    filters: qc.Filters = qc.Filters(),  # noqa: B008 (frozen)
    treatment: Treatment = Treatment(),  # noqa: B008 (frozen)
    intercept: bool = True,
    trait: str = "trait",
) -> Dataset:
    """Make a dataset of genotypes and arrays in the genotypes' sample order.

    Parameters
    ----------
    source : GenotypeSource
        From :func:`goalscli.from_array`, :func:`goalscli.from_snpreader` or a reader of files.
    phenotype : (n,) array
        NaN where missing.
    covariates : (n, q) array, optional
        Numbers, NaN where missing.
    family, group : (n,) array of str, optional
        For imputation (the source's FID where None) and for pictures by group (the family where None).
    filters, treatment, intercept
        See :func:`assemble`.
    trait : str
        Its name.

    Raises
    ------
    InputError
        An array of another length than the source has samples; else as :func:`assemble`.
    """
    n = len(source.samples)
    values = np.asarray(phenotype, dtype=np.float64)
    fixed = np.empty((n, 0)) if covariates is None else np.asarray(covariates, dtype=np.float64).reshape(n, -1)
    families = source.samples.fid if family is None else np.array([str(f) for f in np.asarray(family)], dtype=object)
    groups = families if group is None else np.array([str(g) for g in np.asarray(group)], dtype=object)
    for name, array in (("phenotype", values), ("family", families), ("group", groups)):
        if array.shape != (n,):
            raise InputError(f"{name} has shape {array.shape}, but there are {n} samples")
    told = [Covariate(f"covariate{k + 1}", column, categorical=False) for k, column in enumerate(fixed.T)]
    return assemble(source, Columns(values, told, families, groups, trait), filters, treatment, intercept=intercept)


def assemble(
    source: GenotypeSource,
    columns: Columns,
    filters: qc.Filters,
    treatment: Treatment,
    *,
    intercept: bool = True,
    check_samples: Callable[[int], None] = lambda n: None,
) -> Dataset:
    """Filter, align and standardise; in this order: mind, trait and covariates present, geno, maf, monomorphic.

    Parameters
    ----------
    source : GenotypeSource
    columns : Columns
    filters : qc.Filters
    treatment : Treatment
    intercept : bool
        Fit a mean.
    check_samples : callable
        Told the greatest possible number of samples before genotypes are read; may refuse it.

    Raises
    ------
    InputError
        No sample or variant is left (the filter table is shown), or the trait is constant.
    """
    account = qc.Accounting(len(source.samples), len(source.variants))
    candidates = np.arange(len(source.variants))
    present = ~np.isnan(columns.phenotype) & _complete(columns.covariates, len(source.samples))
    _require_samples(int(present.sum()), columns.trait, account)
    check_samples(int(present.sum()))
    genotyped = np.arange(len(source.samples))
    reference, stats = _pass(source, columns, treatment, genotyped, candidates, present)
    called = stats.sample_missing <= filters.mind + 1e-12
    account.remove(f"mind {filters.mind:g}", samples=int(np.count_nonzero(~called)))
    account.remove("trait or covariate missing", samples=int(np.count_nonzero(called & ~present)))
    if not called.all():
        reference, stats = _pass(source, columns, treatment, genotyped[called], candidates, present)
    rows = reference.file_index[reference.analysed]
    _require_samples(len(rows), columns.trait, account)
    y, mean, sd = _standardised(columns.phenotype[rows], columns.trait)
    covariates = _fixed_effects(columns, rows, intercept)
    keep = qc.keep_variants(stats, len(rows), filters, account)
    _require_variants(keep, account)
    _log_imputation(stats, keep)
    return Dataset(
        source=source,
        reference=reference,
        samples=SampleTable(
            source.samples.fid[rows], source.samples.iid[rows], columns.family[rows], columns.group[rows]
        ),
        variants=_variant_table(source, stats, np.flatnonzero(keep), len(rows)),
        phenotype=y,
        covariates=covariates,
        trait=columns.trait,
        trait_mean=mean,
        trait_sd=sd,
        treatment=treatment,
        accounting=account,
    )


def _fixed_effects(columns: Columns, rows: NDArray[np.intp], intercept: bool) -> Covariates:
    """Covariates of the analysed samples, those that others determine left out with a warning."""
    covariates = covariate_matrix([c.take(rows) for c in columns.covariates], intercept, n=len(rows))
    if covariates.dropped:
        LOG.warning("warning: covariates dropped, since earlier ones determine them: %s", ", ".join(covariates.dropped))
    return covariates


def _require_variants(keep: NDArray[np.bool_], account: qc.Accounting) -> None:
    if not keep.any():
        raise InputError(
            f"no variant passes the filters\n{account.table().rstrip()}",
            remedy="relax --maf or --geno, see the table above",
        )


def _require_samples(n: int, trait: str, account: qc.Accounting) -> None:
    if n < 2:
        raise InputError(
            f"{n} sample(s) have the trait, covariates and enough genotypes; 2 are needed\n{account.table().rstrip()}",
            where=trait,
            remedy="check the missing values of the trait and covariates",
        )


def _pass(
    source: GenotypeSource,
    columns: Columns,
    treatment: Treatment,
    genotyped: NDArray[np.intp],
    candidates: NDArray[np.intp],
    present: NDArray[np.bool_],
) -> tuple[qc.Reference, qc.VariantStatistics]:
    reference = qc.Reference(genotyped, qc.family_codes(columns.family[genotyped]), np.flatnonzero(present[genotyped]))
    with Progress("quality control", len(candidates)) as progress:
        stats = qc.variant_statistics(source, candidates, reference, treatment.impute == "family", progress.advance)
    return reference, stats


def _complete(covariates: Sequence[Covariate], n: int) -> NDArray[np.bool_]:
    present = np.ones(n, dtype=bool)
    for covariate in covariates:
        present &= covariate.present
    return present


def _standardised(raw: NDArray[np.float64], trait: str) -> tuple[NDArray[np.float64], float, float]:
    mean, sd = float(raw.mean()), float(raw.std(ddof=1))
    if sd <= 1e-12 * max(1.0, abs(mean)):
        raise InputError(
            f"the trait is constant ({raw[0]:g} in all {len(raw)} analysed samples)",
            where=trait,
            remedy="choose another column with --pheno-name",
        )
    return (raw - mean) / sd, mean, sd


def _variant_table(
    source: GenotypeSource, stats: qc.VariantStatistics, kept: NDArray[np.intp], n_samples: int
) -> VariantTable:
    table = source.variants
    return VariantTable(
        chrom=table.chrom[kept],
        pos=table.pos[kept],
        id=table.id[kept],
        a1=table.a1[kept],
        a2=table.a2[kept],
        a1_freq=stats.a1_freq[kept],
        missing_rate=1 - stats.n_obs[kept] / n_samples,
        n_obs=stats.n_obs[kept],
        mean=stats.mean[kept],
        sd=stats.sd[kept],
        file_index=kept,
    )


def _log_imputation(stats: qc.VariantStatistics, keep: NDArray[np.bool_]) -> None:
    family, overall = int(stats.by_family[keep].sum()), int(stats.by_overall[keep].sum())
    LOG.info(
        "imputed %d missing calls: %d by the family's mean, %d by the mean of all",
        family + overall,
        family,
        overall,
    )
