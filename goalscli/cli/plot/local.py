"""``goals plot local``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("local")
@click.argument("scores", metavar="SCORES.scores.h5")
@opt.out_file
@opt.overwrite
@click.option(
    "--snp",
    "snps",
    multiple=True,
    metavar="ID",
    help="Variant to draw; may be given again. Default: the top loci.",
)
@click.option("--top", type=int, default=2, show_default=True, help="Loci to draw where none is named.")
@click.option(
    "--n-groups",
    type=int,
    default=8,
    show_default=True,
    help="Groups with the least, and with the greatest, means.",
)
@click.option("--min-group-size", type=int, default=3, show_default=True, help="Leave smaller groups out.")
@click.option(
    "--permutations",
    type=int,
    default=200,
    show_default=True,
    help="For the reference of the between-group share.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the permutations.")
@click.option("--model", metavar="FILE", help="Where local scores were not stored. Default: beside the scores.")
@opt.moved
@opt.common
def command(scores: str, out: str, overwrite: bool, snps: tuple[str, ...], **options: Any) -> None:
    """Draw local effects by group (cage, family) for the groups with the least and the greatest means."""
    options.pop("memory")
    with opt.session(options, None):
        from goalscli.jobs.plot import LocalPlot, plot_local

        click.echo(plot_local(scores, out, LocalPlot(snps=snps, **options), overwrite=overwrite))
