"""``goals export``."""

from __future__ import annotations

import click

from goalscli.cli import options as opt


@click.command("export")
@click.argument("scores", metavar="SCORES.scores.h5")
@opt.out_file
@opt.overwrite
def command(scores: str, out: str, overwrite: bool) -> None:
    """Write every variant's row, in file order, as TSV, or Parquet if FILE ends in .parquet."""
    from goalscli.jobs.results import export

    click.echo(export(scores, out, overwrite=overwrite))
