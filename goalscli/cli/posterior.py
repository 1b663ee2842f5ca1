"""``goals posterior``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("posterior")
@click.argument("model", metavar="MODEL.model.h5")
@click.option("--snps", metavar="A[,B]|FILE", help="Variant IDs, or a file with one a line.")
@click.option("--top", type=int, metavar="K", help="The K variants of greatest |z| of a scan.")
@click.option("--scan", "scores", metavar="FILE", help="The scan for --top. Default: beside the model.")
@opt.shift
@click.option("--psi", is_flag=True, help="The posterior of psi too.")
@click.option("--draws", type=int, default=1000, show_default=True, help="Samples of the posterior.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the samples.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Probability of the credible intervals.")
@opt.moved
@click.option("--out", metavar="PREFIX", help="Where the results go. Default: beside the model.")
@opt.overwrite
@opt.common
def command(model: str, genotypes: str | None, out: str | None, overwrite: bool, **options: Any) -> None:
    """Joint posterior of a few variants' global scores, with local scores' sds and draws.

    Writes PREFIX.posterior.h5, PREFIX.posterior.tsv and PREFIX.correlation.tsv. Variants in linkage disequilibrium
    share what their region does: CORR, the posterior correlation of their effects, is negative where the data cannot
    tell which of them it is.
    """
    from goalscli.runtime import scan_prefix

    with opt.session(options, f"{scan_prefix(model) if out is None else out}.posterior.log") as threads:
        from goalscli.jobs.posterior import PosteriorRequest, joint_posterior

        memory = options.pop("memory")
        for path in joint_posterior(
            model,
            PosteriorRequest(**options),
            out,
            genotypes=genotypes,
            memory_gb=memory,
            overwrite=overwrite,
            threads=threads,
        ):
            click.echo(path)
