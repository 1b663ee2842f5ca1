"""p-values under the polygenic null: related samples, every variant causal, twenty replicates a heritability."""

from __future__ import annotations

import numpy as np
import pytest

from goalscli import qc
from goalscli.dataset import Columns, Treatment, assemble
from goalscli.genotypes.memory import MemorySource
from goalscli.models.exact import ExactGP
from goalscli.scanning import scan
from goalscli.scores.goals import Goals
from goalscli.simulate import CohortSettings, TraitSettings, mean_imputed, simulate_cohort, simulate_trait

REPLICATES = 20


def replicate(heritability: float, seed: int) -> tuple[float, float, int]:
    cohort = simulate_cohort(CohortSettings(n_samples=400, n_variants=2000, n_chromosomes=10, n_founders=20, seed=seed))
    source = MemorySource(cohort.dosages, cohort.samples, cohort.variants)
    settings = TraitSettings(infinitesimal=True, variance_explained=heritability, seed=1000 + seed)
    trait = simulate_trait(mean_imputed(source), source.variants, None, settings)
    empty = np.full(len(source.samples), "", dtype=object)
    columns = Columns(trait.phenotype, [], source.samples.fid, empty, "trait")
    dataset = assemble(source, columns, qc.Filters(), Treatment())
    result = scan(ExactGP().fit(dataset), dataset, [Goals()])
    share = float(np.mean(result.columns["goals/neg_log10_p"] > -np.log10(0.05)))
    return share, float(result.attributes["goals"]["lambda_gc"]), dataset.n_variants


@pytest.mark.slow
@pytest.mark.parametrize("heritability", [0.0, 0.3, 0.6])
def test_type_one_error_and_lambda(heritability, capsys):
    told = np.array([replicate(heritability, seed) for seed in range(REPLICATES)])
    assert told[:, 2].min() >= 1500
    mean, se = told.mean(0), told.std(0, ddof=1) / np.sqrt(REPLICATES)
    with capsys.disabled():
        print(
            f"\nheritability {heritability}: share of p < 0.05 {mean[0]:.4f} (se {se[0]:.4f}), "
            f"lambda_GC {mean[1]:.3f} (se {se[1]:.3f}), {told[:, 2].mean():.0f} variants"
        )
    assert abs(mean[0] - 0.05) <= 0.01
    assert abs(mean[1] - 1) <= 0.1
