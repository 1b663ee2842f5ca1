"""``goals fit``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("fit")
@opt.genotypes
@opt.tables
@opt.selection
@opt.treatment
@opt.model
@opt.out_prefix
@opt.overwrite
@opt.common
def command(out: str, overwrite: bool, **options: Any) -> None:
    """Fit a Gaussian process to all genotypes: PREFIX.model.h5 and PREFIX.qc.tsv.

    Filters, imputes by family, standardises, takes the median bandwidth and estimates signal and noise by REML.
    """
    with opt.session(options, f"{out}.fit.log") as threads:
        from goalscli.cli.requests import fit_request
        from goalscli.jobs.fit import fit

        for path in fit(fit_request(options), out, overwrite=overwrite, threads=threads):
            click.echo(path)
