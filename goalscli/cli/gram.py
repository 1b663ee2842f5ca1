"""``goals gram``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("gram")
@opt.genotypes
@opt.tables
@opt.selection
@opt.treatment
@opt.model
@click.option("--part", metavar="K/N", required=True, help="The variants of part K of N.")
@opt.out_prefix
@opt.overwrite
@opt.common
def command(out: str, overwrite: bool, part: str, **options: Any) -> None:
    """Accumulate the Gram matrix over one part of the variants: PREFIX.gram-K-of-N.h5.

    For array jobs: goals fit --gram PREFIX.gram-*.h5, with the same options, sums the parts.
    """
    with opt.session(options, f"{out}.gram-{part.replace('/', '-of-')}.log") as threads:
        from goalscli.cli.requests import fit_request, parse_part
        from goalscli.jobs.gram import gram

        for path in gram(fit_request(options), parse_part(part), out, overwrite=overwrite, threads=threads):
            click.echo(path)
