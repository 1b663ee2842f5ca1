"""``goals plot beeswarm``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt
from goalscli.cli.plot.together import refuse_given


@click.command("beeswarm")
@click.argument("scores", metavar="SCORES.scores.h5")
@opt.out_picture
@opt.overwrite
@opt.snps
@click.option("--n", type=int, default=10, show_default=True, help="Loci to draw where no variant is named.")
@opt.centre
@opt.scan_model
@opt.moved
@opt.talk
def command(scores: str, out: str, overwrite: bool, **options: Any) -> None:
    """Draw local effects of the top variants, every sample a point in the colour of its genotype."""
    with opt.session(options, None):
        if options["snps"]:
            refuse_given(("n",), "--snp")
        from goalscli.jobs.plot import plot_beeswarm

        click.echo(plot_beeswarm(scores, out, overwrite=overwrite, **options))
