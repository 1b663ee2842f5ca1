"""``goals plot region``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt
from goalscli.cli.plot.together import refuse_given


@click.command("region")
@click.argument("scores", metavar="SCORES.scores.h5")
@opt.out_picture
@opt.overwrite
@click.option("--snp", metavar="ID", help="Lead variant; its surroundings are drawn.")
@click.option("--region", metavar="CHROM:FROM-TO", help="Base pairs to draw; the lead is the strongest variant there.")
@click.option("--window", type=int, default=2_000_000, show_default=True, help="Base pairs on each side of --snp.")
@click.option("--value", metavar="p|score|loco|rate|psi", help="What to draw. Default: p, if there.")
@opt.genes
@opt.scan_model
@opt.moved
@opt.talk
def command(scores: str, out: str, overwrite: bool, **options: Any) -> None:
    """Draw a stretch of a chromosome, coloured by LD (r squared) with the lead variant, genes below.

    Either --snp or --region is needed.
    """
    with opt.session(options, None):
        if options["region"] is not None:
            refuse_given(("window",), "--region")
        from goalscli.jobs.plot import RegionPlot, plot_region

        click.echo(plot_region(scores, out, RegionPlot(**options), overwrite=overwrite))
