"""``goals plot``: pictures of a scores file."""

from __future__ import annotations

from goalscli.jobs.plot.beeswarm import plot_beeswarm
from goalscli.jobs.plot.dependence import Environment, plot_dependence
from goalscli.jobs.plot.genome import plot_manhattan
from goalscli.jobs.plot.heatmap import plot_heatmap
from goalscli.jobs.plot.interactive import plot_interactive
from goalscli.jobs.plot.local import LocalPlot, plot_local
from goalscli.jobs.plot.samples import plot_local_samples

__all__ = [
    "Environment",
    "LocalPlot",
    "plot_beeswarm",
    "plot_dependence",
    "plot_heatmap",
    "plot_interactive",
    "plot_local",
    "plot_local_samples",
    "plot_manhattan",
]
