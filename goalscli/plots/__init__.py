"""Pictures of scores: they receive arrays and return a matplotlib ``Figure``; `save` writes it to a file.

Importing this package does not import matplotlib; drawing does. No display is needed or used.
"""

from __future__ import annotations

from goalscli.plots.genome import chromosome_order, top_loci
from goalscli.plots.groups import between_group_share, permutation_reference, select_groups
from goalscli.plots.local import GroupBox, LocalPanel, local
from goalscli.plots.manhattan import GenomePanel, manhattan, manhattan_panels
from goalscli.plots.style import save

__all__ = [
    "GenomePanel",
    "GroupBox",
    "LocalPanel",
    "between_group_share",
    "chromosome_order",
    "local",
    "manhattan",
    "manhattan_panels",
    "permutation_reference",
    "save",
    "select_groups",
    "top_loci",
]
