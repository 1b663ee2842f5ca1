"""Exact local and global variant importance from Gaussian process regression, with uncertainty.

The public names below are imported when first used, so that ``import goalscli`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "CohortSettings": "goalscli.simulate",
    "Dataset": "goalscli.dataset",
    "Environment": "goalscli.jobs.plot",
    "ExactGP": "goalscli.models.exact",
    "ExactPosterior": "goalscli.models.exact",
    "Filters": "goalscli.qc",
    "Goals": "goalscli.scores.goals",
    "GoalsError": "goalscli.errors",
    "LocalPlot": "goalscli.jobs.plot",
    "LocalRequest": "goalscli.scanning",
    "PosteriorRequest": "goalscli.jobs.posterior",
    "Psi": "goalscli.scores.psi",
    "Rate": "goalscli.scores.rate",
    "RegionPlot": "goalscli.jobs.plot",
    "ReportSettings": "goalscli.jobs.report",
    "ScanResult": "goalscli.scanning",
    "Selection": "goalscli.jobs.selection",
    "TraitSettings": "goalscli.simulate",
    "Treatment": "goalscli.dataset",
    "effect_table": "goalscli.tables",
    "from_array": "goalscli.genotypes.memory",
    "from_snpreader": "goalscli.genotypes.snpreader",
    "joint_posterior": "goalscli.jobs.posterior",
    "load_model": "goalscli.jobs.model_file",
    "make_dataset": "goalscli.dataset",
    "plot_beeswarm": "goalscli.jobs.plot",
    "plot_dependence": "goalscli.jobs.plot",
    "plot_heatmap": "goalscli.jobs.plot",
    "plot_interactive": "goalscli.jobs.plot",
    "plot_local": "goalscli.jobs.plot",
    "plot_local_samples": "goalscli.jobs.plot",
    "plot_manhattan": "goalscli.jobs.plot",
    "plot_qq": "goalscli.jobs.plot",
    "plot_region": "goalscli.jobs.plot",
    "read_plink": "goalscli.jobs.inputs",
    "read_scores": "goalscli.jobs.results",
    "report": "goalscli.jobs.report",
    "scan": "goalscli.scanning",
    "score_table": "goalscli.tables",
    "simulate_cohort": "goalscli.simulate",
    "simulate_trait": "goalscli.simulate",
}

__all__ = sorted([*_WHERE, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
