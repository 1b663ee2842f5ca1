"""``goals plot manhattan``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("manhattan")
@click.argument("scores", nargs=-1, required=True, metavar="SCORES.scores.h5...")
@click.option("--out", metavar="FILE", required=True, help="The .png, .pdf, .svg or .html file to write.")
@opt.overwrite
@click.option(
    "--value",
    metavar="p|score|loco|rate|psi[,...]",
    help="-log10 p, the signed effect, -log10 p without the chromosome, RATE or psi; several give a panel each. "
    "Default: p, if there.",
)
@click.option("--n-labels", type=int, default=8, show_default=True, help="Loci to label at most, in each panel.")
@opt.genes
@click.option("--html", metavar="FILE.html", help="Also write the picture as a page to zoom and point at.")
@opt.talk
def command(scores: tuple[str, ...], out: str, html: str | None, **options: Any) -> None:
    """Draw all variants along the genome; several scans or values one above the other.

    Where --out ends in .html, the picture is a page to zoom and point at; it needs the extra "interactive".
    """
    with opt.session(options, None):
        from goalscli.jobs.plot import plot_manhattan

        click.echo(plot_manhattan(scores, out, html=html, **options))
        if html not in (None, out):
            click.echo(html)
