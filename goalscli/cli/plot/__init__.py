"""``goals plot``."""

from __future__ import annotations

import click

from goalscli.cli.lazy import LazyGroup

PICTURES = {
    "manhattan": ("goalscli.cli.plot.manhattan", "All variants along the genome."),
    "qq": ("goalscli.cli.plot.qq", "Observed against expected p."),
    "region": ("goalscli.cli.plot.region", "A stretch of a chromosome, coloured by LD, with genes."),
    "local": ("goalscli.cli.plot.local", "Local effects by group (cage, family), or of all samples."),
    "beeswarm": ("goalscli.cli.plot.beeswarm", "Local effects of the top variants, coloured by genotype."),
    "dependence": ("goalscli.cli.plot.dependence", "Local effects of a variant against a genotype or environment."),
    "heatmap": ("goalscli.cli.plot.heatmap", "Local effects of many variants in all samples, as colours."),
}


@click.group("plot", cls=LazyGroup, commands_at=PICTURES)
def command() -> None:
    """Draw a scan to a .png, .pdf or .svg file."""
