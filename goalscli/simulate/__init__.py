"""Data with known truth: cohorts (founders, families, cages) and traits (Eqs. 17-18)."""

from __future__ import annotations

from goalscli.simulate.cohort import Cohort, CohortSettings, simulate_cohort, write_cohort
from goalscli.simulate.trait import Trait, TraitSettings, mean_imputed, simulate_trait, write_trait

__all__ = [
    "Cohort",
    "CohortSettings",
    "Trait",
    "TraitSettings",
    "mean_imputed",
    "simulate_cohort",
    "simulate_trait",
    "write_cohort",
    "write_trait",
]
