"""``goals info``."""

from __future__ import annotations

import click


@click.command("info")
@click.argument("file", metavar="FILE.h5")
def command(file: str) -> None:
    """Say what a model or scores file holds: settings, variances, counts, where it comes from."""
    from goalscli.jobs.results import info

    for line in info(file):
        click.echo(line)
