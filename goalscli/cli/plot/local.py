"""``goals plot local``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt
from goalscli.cli.plot.together import refuse_given

_OF_GROUPS = ("n_groups", "min_group_size", "permutations", "seed")
_OF_SAMPLES = ("zoom",)


@click.command("local")
@click.argument("scores", metavar="SCORES.scores.h5")
@opt.out_picture
@opt.overwrite
@click.option(
    "--by",
    type=click.Choice(["group", "sample"]),
    default="group",
    show_default=True,
    help="Boxes of the groups with the least and greatest means, or all samples in order of their effects.",
)
@opt.snps
@click.option("--n", "--top", "top", type=int, default=2, show_default=True, help="Loci to draw where none is named.")
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
@click.option("--zoom", is_flag=True, help="With --by sample: fit the axis to the effects; 0 may not be on it.")
@opt.scan_model
@opt.moved
@opt.talk
def command(scores: str, out: str, overwrite: bool, by: str, snps: tuple[str, ...], **options: Any) -> None:
    """Draw local effects by group (cage, family), or of all samples."""
    with opt.session(options, None):
        if snps:
            refuse_given(("top",), "--snp")
        refuse_given(_OF_SAMPLES if by == "group" else _OF_GROUPS, f"--by {by}")
        from goalscli.jobs.plot import LocalPlot, plot_local, plot_local_samples

        if by == "group":
            opt.pick(options, *_OF_SAMPLES)
            click.echo(plot_local(scores, out, LocalPlot(snps=snps, **options), overwrite=overwrite))
        else:
            opt.pick(options, *_OF_GROUPS)
            click.echo(plot_local_samples(scores, out, snps=snps, overwrite=overwrite, **options))
