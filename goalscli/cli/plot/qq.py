"""``goals plot qq``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("qq")
@click.argument("scores", nargs=-1, required=True, metavar="SCORES.scores.h5...")
@opt.out_picture
@opt.overwrite
@click.option(
    "--value",
    metavar="p|loco",
    default="p",
    show_default=True,
    help="-log10 p against the polygenic null, or without the chromosome.",
)
@opt.talk
def command(scores: tuple[str, ...], out: str, **options: Any) -> None:
    """Draw observed against expected -log10 p, with lambda GC; several scans in one picture.

    The band supposes independent variants; linkage disequilibrium widens it.
    """
    with opt.session(options, None):
        from goalscli.jobs.plot import plot_qq

        click.echo(plot_qq(scores, out, **options))
