"""Make data_samples/: a small simulated cohort of mice with two traits, the same bytes at every run.

Usage: python scripts/make_data_samples.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from goalscli.genotypes.memory import MemorySource
from goalscli.simulate import (
    Cohort,
    CohortSettings,
    Trait,
    TraitSettings,
    mean_imputed,
    simulate_cohort,
    simulate_trait,
    write_cohort,
)

COHORT = CohortSettings(n_samples=600, n_variants=3000, n_chromosomes=6, x_chromosome=True, seed=2024)
WEIGHT = TraitSettings(
    n_causal=3,
    variance_explained=0.55,
    additive_share=0.7,
    cage_share=0.15,
    orthogonal=True,
    avoid_chromosomes=("X",),
    name="weight",
    seed=1,
)
MARKER = TraitSettings(n_causal=1, variance_explained=0.3, additive_share=1.0, orthogonal=True, name="marker", seed=2)
SEED = 7

README = """# Sample data

Simulated mice: no real animals, no real genes. Made by

    python scripts/make_data_samples.py

which writes the same bytes every time. All tables are tab-separated with one header line; NA is missing.

* `mice.bed`, `mice.bim`, `mice.fam`: {n} animals, {j} variants on chromosomes 1-6 and X, PLINK 1 binary.
  A1 is the minor allele. Males have 0 or 2 copies on X. {poor} variants have more than 10 % of their calls
  missing, {mono} do not vary.
* `mice.pheno.tsv` (FID IID weight marker): body weight in g ({weight_na} animals NA) and a blood marker in
  mg/l ({marker_na} animals NA).
* `mice.covar.tsv` (FID IID sex age batch): sex 1 male, 2 female; age in days, one for a family; batch B1-B4,
  without any effect.
* `mice.groups.tsv` (FID IID family sire dam cage sex): {families} families, {cages} cages of one sex;
  {mixed} cages hold several families. The parents are not in the data.
* `mice.truth.tsv`: what the traits are made of (below).

## What is true

    weight = 24 + 3 t + 2.5 (male) + 0.06 (age - 77)
    marker = 10 + 2 u

t and u have mean 0 and variance 1 over all {n} animals; `mice.truth.tsv` is about these, not g and mg/l.

* t: {weight_terms}
* u: {marker_terms}

Rows of `mice.truth.tsv`, by `role`:

* `additive`: a causal variant (id, chrom, pos, a1); `effect` in sd of t or u per sd of its copies of a1.
* `interaction`: two causal variants; `effect` per unit of the product of their standardised genotypes.
* `variance`: `share` of the variance of t or u due to the term named in `id`.
* `covariance`: `share` due to two terms varying together by chance; 0 here, up to rounding.

Causal variants:

{causal}
"""


def phenotypes(cohort: Cohort, weight: Trait, marker: Trait, covariates: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng([SEED, 1])
    male = cohort.sex == 1
    grams = 24 + 3 * weight.phenotype + 2.5 * male + 0.06 * (covariates["age"].to_numpy() - 77)
    table = covariates[["FID", "IID"]].assign(weight=grams.round(2), marker=(10 + 2 * marker.phenotype).round(3))
    for trait, count in (("weight", 12), ("marker", 7)):
        table.loc[rng.choice(len(table), size=count, replace=False), trait] = np.nan
    return table


def covariate_table(cohort: Cohort) -> pd.DataFrame:
    rng = np.random.default_rng([SEED, 0])
    family = pd.factorize(cohort.samples.fid)[0]
    age = rng.integers(56, 99, size=family.max() + 1)[family]
    batch = rng.integers(1, 5, size=family.max() + 1)[family]
    return pd.DataFrame({
        "FID": cohort.samples.fid, "IID": cohort.samples.iid, "sex": cohort.sex, "age": age,
        "batch": [f"B{b}" for b in batch],
    })  # fmt: skip


def truth_table(traits: tuple[Trait, ...]) -> pd.DataFrame:
    tables = []
    for trait in traits:
        table = trait.truth.copy()
        table.insert(0, "trait", trait.name)
        # Twelve digits hide the last bits, which differ between machines.
        table[["effect", "share"]] = table[["effect", "share"]].round(12) + 0.0
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def readme(cohort: Cohort, table: pd.DataFrame, truth: pd.DataFrame) -> str:
    missing = cohort.dosages < 0
    called = np.where(missing, 0, cohort.dosages)

    def terms(trait: str) -> str:
        rows = truth[(truth.trait == trait) & (truth.role == "variance") & (truth.share > 0)]
        return ", ".join(f"{term} {share:.3f}" for term, share in zip(rows.id, rows.share, strict=True))

    rows = truth[truth.role == "additive"]
    causal = [f"* {r.trait}: {r.id} (A1 {r.a1}), effect {r.effect:+.3f}" for r in rows.itertuples()]
    return README.format(
        n=len(cohort.samples),
        j=len(cohort.variants),
        poor=int((missing.mean(axis=0) > 0.1).sum()),
        mono=int((called.max(axis=0) == 0).sum()),
        weight_na=int(table.weight.isna().sum()),
        marker_na=int(table.marker.isna().sum()),
        families=len(set(cohort.samples.fid)),
        cages=len(set(cohort.cage)),
        mixed=int((pd.Series(cohort.samples.fid).groupby(cohort.cage).nunique() > 1).sum()),
        weight_terms=terms("weight"),
        marker_terms=terms("marker"),
        causal="\n".join(causal),
    )


def main(folder: Path) -> None:
    prefix = folder / "mice"
    cohort = simulate_cohort(COHORT)
    write_cohort(cohort, prefix)
    dosages = mean_imputed(MemorySource(cohort.dosages, cohort.samples, cohort.variants))
    weight, marker = (simulate_trait(dosages, cohort.variants, cohort.cage, s) for s in (WEIGHT, MARKER))
    covariates, truth = covariate_table(cohort), truth_table((weight, marker))
    pheno = phenotypes(cohort, weight, marker, covariates)
    for name, table in (("covar", covariates), ("pheno", pheno), ("truth", truth)):
        table.to_csv(f"{prefix}.{name}.tsv", sep="\t", index=False, na_rep="NA", lineterminator="\n")
    (folder / "README.md").write_text(readme(cohort, pheno, truth), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "data_samples")
