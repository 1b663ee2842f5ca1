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
@click.option(
    "--gram", "parts", multiple=True, metavar="FILE", help="Parts of goals gram, or a pattern with *; may be repeated."
)
@opt.out_prefix
@opt.overwrite
@opt.common
def command(out: str, overwrite: bool, parts: tuple[str, ...], **options: Any) -> None:
    """Fit a Gaussian process to all genotypes: PREFIX.model.h5 and PREFIX.qc.tsv.

    Filters, imputes by family, standardises, takes the median bandwidth and estimates signal and noise by REML.
    """
    with opt.session(options, f"{out}.fit.log") as threads:
        from goalscli.cli.requests import fit_request
        from goalscli.jobs.fit import fit

        request = fit_request(options)
        if parts:
            from goalscli.jobs.gram import GramParts

            computed = GramParts(parts)
            models = fit(
                request,
                out,
                base=lambda dataset: computed.base(dataset, request.model.kernel),
                overwrite=overwrite,
                threads=threads,
            )
        else:
            models = fit(request, out, overwrite=overwrite, threads=threads)
        for path in models:
            click.echo(path)
