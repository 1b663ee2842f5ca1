"""``goals plot dependence``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt
from goalscli.cli.plot.together import refuse_given, together


@click.command("dependence")
@click.argument("scores", metavar="SCORES.scores.h5")
@opt.out_picture
@opt.overwrite
@click.option("--snp", metavar="ID", required=True, help="The variant whose local effects are drawn.")
@click.option("--against", metavar="ID", help="The variant whose genotype they are drawn against. Default: the same.")
@click.option("--table", metavar="FILE", help="Draw against a column of this table: FID and IID, or IID, and others.")
@click.option("--column", metavar="NAME", help="Column of --table: numbers, or categories if no cell is a number.")
@click.option("--categorical", is_flag=True, help="Take numbers of --column as categories.")
@opt.missing_code
@opt.iid_only
@opt.scan_model
@opt.moved
@opt.talk
def command(scores: str, out: str, snp: str, overwrite: bool, **options: Any) -> None:
    """Draw local effects of a variant against its genotype, another's, or a column of a table."""
    with opt.session(options, None):
        told = opt.pick(options, "table", "column", "categorical", "missing_code", "iid_only")
        together(told, "table", "column")
        if told["table"] is None:
            refuse_given(("categorical", "missing_code", "iid_only"), "genotypes")
        from goalscli.jobs.plot import Environment, plot_dependence

        column = None if told["table"] is None else Environment(**told)
        click.echo(plot_dependence(scores, out, snp, environment=column, overwrite=overwrite, **options))
