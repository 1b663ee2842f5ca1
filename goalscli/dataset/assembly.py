"""From a genotype source and columns of tables to an aligned, filtered dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from goalscli import qc
from goalscli.dataset.aligned import Dataset, RandomEffect, SampleTable, Treatment, VariantTable
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
) -> Dataset:
    """Filter, align and standardise; order: mind, all columns present, geno, maf, monomorphic.

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
        No sample or variant is left (the filter table is shown), or the trait or random effect cannot be fitted.
    """
    account = qc.Accounting(len(source.samples), len(source.variants))
    candidates = np.arange(len(source.variants))
    present = columns.present
    _require_samples(int(present.sum()), columns, account)
    check_samples(int(present.sum()))
    genotyped = np.arange(len(source.samples))
    reference, stats = _pass(source, columns, treatment, genotyped, candidates, present)
    called = stats.sample_missing <= filters.mind + 1e-12
    account.remove(f"mind {filters.mind:g}", samples=int(np.count_nonzero(~called)))
    account.remove(f"{columns.needed('or')} missing", samples=int(np.count_nonzero(called & ~present)))
    if not called.all():
        reference, stats = _pass(source, columns, treatment, genotyped[called], candidates, present)
    rows = reference.file_index[reference.analysed]
    _require_samples(len(rows), columns, account)
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
        random=_random_effect(columns, rows, covariates),
    )


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


def _require_variants(keep: NDArray[np.bool_], account: qc.Accounting) -> None:
    if not keep.any():
        raise InputError(
            f"no variant passes the filters\n{account.table().rstrip()}",
            remedy="relax --maf or --geno, see the table above",
        )


def _require_samples(n: int, columns: Columns, account: qc.Accounting) -> None:
    if n < 2:
        needed = columns.needed("and")
        raise InputError(
            f"{n} sample(s) have {needed} present and enough genotypes; 2 are needed\n{account.table().rstrip()}",
            where=columns.trait,
            remedy=f"check the missing values of {needed}",
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


def _standardised(raw: NDArray[np.float64], trait: str) -> tuple[NDArray[np.float64], float, float]:
    if (raw == raw[0]).all():
        raise InputError(
            f"the trait is constant ({raw[0]:g} in all {len(raw)} analysed samples)",
            where=trait,
            remedy="choose another column with --pheno-name",
        )
    if not np.isfinite(raw).all():
        raise InputError("infinite values", where=trait, remedy="give finite numbers, NaN where missing")
    # In units of the largest, squares neither overflow nor vanish; a power of two leaves the digits as they are.
    unit = float(np.ldexp(1.0, int(np.frexp(np.abs(raw).max())[1]) - 1))
    scaled = raw / unit
    mean, sd = float(scaled.mean()), float(scaled.std(ddof=1))
    if sd <= 1e-12 or sd * unit < np.finfo(np.float64).tiny:
        raise InputError(
            f"the trait varies too little to tell from rounding ({raw.min():g} to {raw.max():g}, sd {sd * unit:g})",
            where=trait,
            remedy="give it in other units, or as a difference from a constant",
        )
    return (scaled - mean) / sd, mean * unit, sd * unit


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
