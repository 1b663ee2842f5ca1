"""``goals merge``."""

from __future__ import annotations

import click

from goalscli.cli import options as opt


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, metavar="PREFIX.part-K-of-N.h5…")
@opt.out_prefix
@opt.overwrite
def command(parts: tuple[str, ...], out: str, overwrite: bool) -> None:
    """Merge all parts of a scan (goals scan --part K/N), in any order, into PREFIX.scores.h5.

    The result is that of an unsplit scan, bit for bit. A part that is missing, given twice or of another scan is named.
    """
    with opt.session({}, f"{out}.merge.log"):
        from goalscli.jobs.merge import merge

        click.echo(merge(parts, out, overwrite=overwrite))
