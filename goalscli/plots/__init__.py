"""Pictures of scores: they receive arrays and return a matplotlib ``Figure``; `save` writes it to a file.

Importing this package does not import matplotlib; drawing does. No display is needed or used.
"""

from __future__ import annotations

from goalscli.plots.genome import chromosome_order, top_loci
from goalscli.plots.groups import between_group_share, permutation_reference, select_groups
from goalscli.plots.interactive import Fact, interactive_manhattan
from goalscli.plots.local import GroupBox, LocalPanel, local
from goalscli.plots.manhattan import manhattan
from goalscli.plots.style import save

__all__ = [
    "Fact",
    "GroupBox",
    "LocalPanel",
    "between_group_share",
    "chromosome_order",
    "interactive_manhattan",
    "local",
    "manhattan",
    "permutation_reference",
    "save",
    "select_groups",
    "top_loci",
]
