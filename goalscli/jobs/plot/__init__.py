"""``goals plot``: pictures of a scores file. Each is imported when first used: some read no model, none needs all."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goalscli.jobs.plot.genome import plot_manhattan
    from goalscli.jobs.plot.local import LocalPlot, plot_local
    from goalscli.jobs.plot.qq import plot_qq
    from goalscli.jobs.plot.region import RegionPlot, plot_region

_WHERE = {
    "LocalPlot": "local",
    "RegionPlot": "region",
    "plot_local": "local",
    "plot_manhattan": "genome",
    "plot_qq": "qq",
    "plot_region": "region",
}

__all__ = ["LocalPlot", "RegionPlot", "plot_local", "plot_manhattan", "plot_qq", "plot_region"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
