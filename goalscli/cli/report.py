"""``goals report``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("report")
@click.argument("scores", metavar="SCORES.scores.h5")
@click.option("--out", metavar="FILE.html", required=True, help="The page to write.")
@opt.overwrite
@click.option("--n-top", type=int, default=20, show_default=True, help="Rows of the table of top variants.")
@click.option("--n-loci", type=int, default=2, show_default=True, help="Loci drawn by group.")
@click.option(
    "--n-groups", type=int, default=8, show_default=True, help="Groups with the least, and with the greatest, means."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the permutations in the pictures by group.")
@opt.scan_model
@opt.moved
@opt.talk
def command(scores: str, out: str, overwrite: bool, **options: Any) -> None:
    """Write a scan into one HTML page: settings, filters, variance components, pictures, top variants, provenance.

    The page needs no other file and no network. Without the model, sections that need it are left out and say so.
    """
    with opt.session(options, None):
        from goalscli.jobs.report import ReportSettings, report

        click.echo(report(scores, out, ReportSettings(**options), overwrite=overwrite))
