"""``goals plot``: pictures of a scores file."""

from __future__ import annotations

from goalscli.jobs.plot.genome import plot_manhattan
from goalscli.jobs.plot.interactive import plot_interactive
from goalscli.jobs.plot.local import LocalPlot, plot_local

__all__ = ["LocalPlot", "plot_interactive", "plot_local", "plot_manhattan"]
