"""``goals plot heatmap``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt
from goalscli.cli.plot.together import refuse_given


@click.command("heatmap")
@click.argument("scores", metavar="SCORES.scores.h5")
@opt.out_picture
@opt.overwrite
@opt.snps
@click.option("--n", type=int, default=30, show_default=True, help="Loci to draw where no variant is named.")
@click.option("--by-group", is_flag=True, help="Keep the samples of a group together.")
@opt.centre
@opt.scan_model
@opt.moved
@opt.talk
def command(scores: str, out: str, overwrite: bool, **options: Any) -> None:
    """Draw local effects of the top variants in all samples as colours, the like ones together."""
    with opt.session(options, None):
        if options["snps"]:
            refuse_given(("n",), "--snp")
        from goalscli.jobs.plot import plot_heatmap

        click.echo(plot_heatmap(scores, out, overwrite=overwrite, **options))
