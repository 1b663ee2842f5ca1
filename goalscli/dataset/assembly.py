"""From a genotype source and columns of tables to an aligned, filtered dataset."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goalscli import qc
from goalscli.dataset.aligned import Dataset, RandomEffect, SampleTable, Treatment, VariantTable
from goalscli.dataset.columns import Columns, Selected
from goalscli.dataset.trait import StandardTrait, standardised
from goalscli.errors import InputError, Problems
from goalscli.genotypes.source import GenotypeSource
from goalscli.phenotypes import Covariate, Covariates, covariate_matrix
from goalscli.runtime import LOG, Progress


def make_dataset(
    source: GenotypeSource,
    phenotype: ArrayLike,
    *,
    covariates: ArrayLike | None = None,
    family: ArrayLike | None = None,
    group: ArrayLike | None = None,
    random_effect: ArrayLike | None = None,
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
    random_effect : (n,) array of str, optional
        Levels of a random effect (cage, litter); None, NaN or empty where missing.
    filters : Filters
        Missingness, allele frequency and Hardy–Weinberg thresholds.
    treatment : Treatment
        Imputation, scaling, the trait's transform.
    intercept : bool
        Fit a mean.
    trait : str
        Its name.

    Returns
    -------
    Dataset
        The N samples with a trait and covariates, and the J variants, that passed the filters.

    Raises
    ------
    InputError
        An array of another length than the source has samples, no sample or variant left, or a constant trait.
    """
    n = len(source.samples)
    values = np.asarray(phenotype, dtype=np.float64)
    fixed = np.empty((n, 0)) if covariates is None else np.asarray(covariates, dtype=np.float64).reshape(n, -1)
    families = source.samples.fid if family is None else np.array([str(f) for f in np.asarray(family)], dtype=object)
    groups = families if group is None else np.array([str(g) for g in np.asarray(group)], dtype=object)
    levels = np.array(
        [None] * n if random_effect is None else [_level(v) for v in np.asarray(random_effect)], dtype=object
    )
    for name, array in (("phenotype", values), ("family", families), ("group", groups), ("random_effect", levels)):
        if array.shape != (n,):
            raise InputError(f"{name} has shape {array.shape}, but there are {n} samples")
    told = [Covariate(f"covariate{k + 1}", column, categorical=False) for k, column in enumerate(fixed.T)]
    random = None if random_effect is None else Covariate("random effect", levels, categorical=True)
    columns = Columns(values, told, families, groups, trait, random)
    return assemble(source, columns, filters, treatment, intercept=intercept)


def _level(value: object) -> str | None:
    """None for None, NaN and the empty string."""
    return None if value is None or value != value or value == "" else str(value)


def assemble(
    source: GenotypeSource,
    columns: Columns,
    filters: qc.Filters,
    treatment: Treatment,
    *,
    intercept: bool = True,
    check_samples: Callable[[int], None] = lambda n: None,
    selected: Selected | None = None,
) -> Dataset:
    """Filter, align and standardise; order: lists, mind, all columns present, geno, maf, mac, hwe, monomorphic.

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
    selected : Selected, optional
        The samples and variants to look at; others are not read. All where None.

    Raises
    ------
    InputError
        No sample or variant is left (the filter table is shown), or the trait or random effect cannot be fitted.
    """
    account = qc.Accounting(len(source.samples), len(source.variants))
    selected = Selected.everything(source) if selected is None else selected
    for step, samples, variants in selected.steps:
        account.remove(step, samples=samples, variants=variants)
    genotyped, candidates, present = selected.samples, selected.variants, columns.present
    _require_samples(int(present[genotyped].sum()), columns, account)
    _require_variants(len(candidates), account)
    check_samples(int(present[genotyped].sum()))
    test = _to_test(source, candidates) if filters.hwe else None
    reference, stats = _pass(source, columns, treatment, genotyped, candidates, present, test)
    called = stats.sample_missing <= filters.mind + 1e-12
    account.remove(f"mind {filters.mind:g}", samples=int(np.count_nonzero(~called)))
    lacking = int(np.count_nonzero(called & ~present[genotyped]))
    account.remove(f"{columns.needed('or')} missing", samples=lacking)
    if not called.all():
        reference, stats = _pass(source, columns, treatment, genotyped[called], candidates, present, test)
    rows = reference.file_index[reference.analysed]
    _require_samples(len(rows), columns, account)
    problems = Problems()
    trait, covariates, random = _explained(columns, rows, treatment.rank_int, intercept, problems)
    keep = qc.keep_variants(stats, len(rows), filters, account)
    with problems.catching():
        _require_variants(int(keep.sum()), account)
    problems.raise_any()
    assert trait is not None
    assert covariates is not None
    _log_imputation(stats, keep)
    return Dataset(
        source=source,
        reference=reference,
        samples=SampleTable(
            source.samples.fid[rows], source.samples.iid[rows], columns.family[rows], columns.group[rows]
        ),
        variants=_variant_table(source, candidates, stats, keep, len(rows)),
        phenotype=trait.values,
        covariates=covariates,
        trait=columns.trait,
        trait_mean=trait.mean,
        trait_sd=trait.sd,
        treatment=treatment,
        accounting=account,
        random=random,
    )


def _explained(
    columns: Columns, rows: NDArray[np.intp], rank_int: bool, intercept: bool, problems: Problems
) -> tuple[StandardTrait | None, Covariates | None, RandomEffect | None]:
    """Trait, fixed effects and random effect of the analysed samples; what is wrong goes to ``problems``."""
    trait = problems.attempt(lambda: standardised(columns.phenotype[rows], columns.trait, rank_int))
    covariates = problems.attempt(lambda: _fixed_effects(columns, rows, intercept))
    random = None
    if covariates is not None:
        with problems.catching():
            random = _random_effect(columns, rows, covariates)
    return trait, covariates, random


def _to_test(source: GenotypeSource, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which candidates the Hardy–Weinberg test is made for."""
    test = qc.diploid(source.variants.chrom)[candidates]
    if not test.all():
        left = dict.fromkeys(source.variants.chrom[candidates[~test]])
        LOG.info("--hwe: %d variants of chromosome %s not tested", np.count_nonzero(~test), ", ".join(left))
    return test


def _fixed_effects(columns: Columns, rows: NDArray[np.intp], intercept: bool) -> Covariates:
    """Covariates of the analysed samples, those that others determine left out with a warning."""
    covariates = covariate_matrix([c.take(rows) for c in columns.covariates], intercept, n=len(rows))
    if covariates.dropped:
        LOG.warning("warning: covariates dropped, since earlier ones determine them: %s", ", ".join(covariates.dropped))
    return covariates


def _random_effect(columns: Columns, rows: NDArray[np.intp], covariates: Covariates) -> RandomEffect | None:
    """Levels of the analysed samples, refused where there is nothing to estimate; None without a random effect."""
    if columns.random is None:
        return None
    n, name = len(rows), columns.random.name
    found, codes = np.unique(columns.random.values[rows].astype(str), return_inverse=True)
    if len(found) < 2:
        raise InputError(
            f"{len(found)} level ({found[0]}) of the random effect in {n} analysed samples; 2 are needed",
            where=name,
            remedy="choose another column, or leave the random effect out",
        )
    if len(found) == n:
        raise InputError(
            f"{n} levels of the random effect for {n} analysed samples: one sample a level is the same as noise",
            where=name,
            remedy="choose a column whose levels hold several samples, or leave the random effect out",
        )
    effect = RandomEffect(name, found.astype(object), codes.astype(np.intp))
    design = effect.design()
    basis = np.linalg.qr(covariates.matrix)[0]
    if np.linalg.norm(design - basis @ (basis.T @ design)) < 1e-8 * np.linalg.norm(design):
        raise InputError(
            f"the covariates determine all {len(found)} levels of the random effect",
            where=name,
            remedy="leave out those covariates or the random effect",
        )
    return effect


def _require_variants(n: int, account: qc.Accounting) -> None:
    if not n:
        raise InputError(
            f"no variant passes the filters\n{account.table().rstrip()}",
            remedy="relax --maf, --geno or whichever filter of the table took most",
        )


def _require_samples(n: int, columns: Columns, account: qc.Accounting) -> None:
    if n < 2:
        needed = columns.needed("and")
        lists = [f"--{row[0]}" for row in account.rows if row[0] in ("keep", "remove")]
        raise InputError(
            f"{n} sample(s) have {needed} present and enough genotypes; 2 are needed\n{account.table().rstrip()}",
            where=columns.trait,
            remedy=f"check {' and '.join([*lists, f'the missing values of {needed}'])}",
        )


def _pass(
    source: GenotypeSource,
    columns: Columns,
    treatment: Treatment,
    genotyped: NDArray[np.intp],
    candidates: NDArray[np.intp],
    present: NDArray[np.bool_],
    test: NDArray[np.bool_] | None,
) -> tuple[qc.Reference, qc.VariantStatistics]:
    reference = qc.Reference(genotyped, qc.family_codes(columns.family[genotyped]), np.flatnonzero(present[genotyped]))
    with Progress("quality control", len(candidates)) as progress:
        by_family = treatment.impute == "family"
        stats = qc.variant_statistics(source, candidates, reference, by_family, progress.advance, test=test)
    return reference, stats


def _variant_table(
    source: GenotypeSource,
    candidates: NDArray[np.intp],
    stats: qc.VariantStatistics,
    keep: NDArray[np.bool_],
    n_samples: int,
) -> VariantTable:
    table, kept = source.variants, candidates[keep]
    return VariantTable(
        chrom=table.chrom[kept],
        pos=table.pos[kept],
        id=table.id[kept],
        a1=table.a1[kept],
        a2=table.a2[kept],
        a1_freq=stats.a1_freq[keep],
        missing_rate=1 - stats.n_obs[keep] / n_samples,
        n_obs=stats.n_obs[keep],
        mean=stats.mean[keep],
        sd=stats.sd[keep],
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
