"""Pictures of scores: they receive arrays and return a matplotlib ``Figure``; `save` writes it to a file.

Importing this package does not import matplotlib; drawing does. No display is needed or used.
"""

from __future__ import annotations

from goalscli.plots.beeswarm import SwarmRow, beeswarm
from goalscli.plots.dependence import Words, strips, trend
from goalscli.plots.effects import spread_in_words
from goalscli.plots.genome import bare_name, chromosome_order, natural_key, top_loci
from goalscli.plots.groups import between_group_share, permutation_reference, select_groups
from goalscli.plots.heatmap import heatmap
from goalscli.plots.interactive import Fact, interactive_manhattan
from goalscli.plots.local import GroupBox, LocalPanel, local
from goalscli.plots.manhattan import GenomePanel, manhattan, manhattan_panels
from goalscli.plots.means import correlation
from goalscli.plots.ordered import OrderedPanel, ordered
from goalscli.plots.ordering import alike_together
from goalscli.plots.style import save

__all__ = [
    "Fact",
    "GenomePanel",
    "GroupBox",
    "LocalPanel",
    "OrderedPanel",
    "SwarmRow",
    "Words",
    "alike_together",
    "bare_name",
    "beeswarm",
    "between_group_share",
    "chromosome_order",
    "correlation",
    "heatmap",
    "interactive_manhattan",
    "local",
    "manhattan",
    "manhattan_panels",
    "natural_key",
    "ordered",
    "permutation_reference",
    "save",
    "select_groups",
    "spread_in_words",
    "strips",
    "top_loci",
    "trend",
]
