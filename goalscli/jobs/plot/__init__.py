"""``goals plot``: pictures of a scores file, each imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goalscli.jobs.plot.beeswarm import plot_beeswarm
    from goalscli.jobs.plot.dependence import Environment, plot_dependence
    from goalscli.jobs.plot.genome import plot_manhattan
    from goalscli.jobs.plot.heatmap import plot_heatmap
    from goalscli.jobs.plot.interactive import plot_interactive
    from goalscli.jobs.plot.local import LocalPlot, plot_local
    from goalscli.jobs.plot.qq import plot_qq
    from goalscli.jobs.plot.region import RegionPlot, plot_region
    from goalscli.jobs.plot.samples import plot_local_samples

_WHERE = {
    "Environment": "dependence",
    "LocalPlot": "local",
    "RegionPlot": "region",
    "plot_beeswarm": "beeswarm",
    "plot_dependence": "dependence",
    "plot_heatmap": "heatmap",
    "plot_interactive": "interactive",
    "plot_local": "local",
    "plot_local_samples": "samples",
    "plot_manhattan": "genome",
    "plot_qq": "qq",
    "plot_region": "region",
}

__all__ = [
    "Environment",
    "LocalPlot",
    "RegionPlot",
    "plot_beeswarm",
    "plot_dependence",
    "plot_heatmap",
    "plot_interactive",
    "plot_local",
    "plot_local_samples",
    "plot_manhattan",
    "plot_qq",
    "plot_region",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
