"""``goals simulate``: cohorts and traits with known truth."""

from __future__ import annotations

from pathlib import Path

from goalscli.genotypes.plink import open_plink
from goalscli.phenotypes import Missing, categorical, join, read_table, select_columns
from goalscli.runtime import LOG
from goalscli.simulate import CohortSettings, TraitSettings, mean_imputed, simulate_cohort, simulate_trait
from goalscli.simulate import write_cohort as _write_cohort
from goalscli.simulate import write_trait as _write_trait
from goalscli.store import refuse_existing


def cohort(settings: CohortSettings, out: str, *, overwrite: bool = False) -> tuple[Path, ...]:
    """Breed a cohort and write PREFIX.bed, .bim, .fam and PREFIX.groups.tsv."""
    refuse_existing([Path(f"{out}.{s}") for s in ("bed", "bim", "fam", "groups.tsv")], overwrite)
    return _write_cohort(simulate_cohort(settings), Path(out))


def trait(
    settings: TraitSettings,
    bfile: str,
    out: str | None = None,
    *,
    groups: str | None = None,
    cage_column: str = "cage",
    overwrite: bool = False,
) -> tuple[Path, Path]:
    """Draw a trait for a PLINK fileset and write PREFIX.NAME.pheno.tsv and PREFIX.NAME.truth.tsv.

    Parameters
    ----------
    settings : TraitSettings
    bfile : str
        PLINK prefix.
    out : str, optional
        PREFIX of the result; ``bfile`` where None.
    groups, cage_column : str, optional
        Table and column of the cages, for ``cage_share``.
    overwrite : bool
        Replace files that exist.
    """
    prefix = bfile if out is None else out
    refuse_existing([Path(f"{prefix}.{settings.name}.{s}.tsv") for s in ("pheno", "truth")], overwrite)
    source = open_plink(bfile)
    cages = None
    if groups is not None:
        table = read_table(groups, option="--groups")
        joined = join(source.samples.fid, source.samples.iid, table, option=f"--groups {groups}")
        (name,) = select_columns(table, cage_column)
        cages = joined.lay(categorical(table, name, Missing(None)))
    drawn = simulate_trait(mean_imputed(source), source.variants, cages, settings)
    for name, share in drawn.shares.items():
        LOG.info("%s of %s: %.4f of the trait's variance", "covariance" if "+" in name else "variance", name, share)
    return _write_trait(drawn, source.samples, Path(prefix))
