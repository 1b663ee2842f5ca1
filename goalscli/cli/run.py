"""``goals run``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("run")
@opt.genotypes
@opt.tables
@opt.selection
@opt.treatment
@opt.model
@opt.scan
@click.option("--n-top", type=int, default=20, show_default=True, help="Rows of the top table.")
@click.option(
    "--n-groups",
    type=int,
    default=8,
    show_default=True,
    help="Groups drawn with the least, and with the greatest, means.",
)
@click.option("--report", "page", is_flag=True, help="Also write PREFIX.report.html, all in one page.")
@opt.out_prefix
@opt.overwrite
@opt.common
def command(out: str, n_top: int, n_groups: int, page: bool, **options: Any) -> None:
    """Do the whole job: fit, scan, top table, Manhattan plot and local effects by group.

    Writes PREFIX.model.h5, .qc.tsv, .scores.h5, .top.tsv, .manhattan.png and .local.png.
    """
    with opt.session(options, f"{out}.run.log") as threads:
        from goalscli.cli.requests import fit_request, scan_request, scan_run
        from goalscli.jobs.plot import LocalPlot
        from goalscli.jobs.run import run

        how = scan_run(options, threads, options["memory"])
        fitting, scanning = fit_request(options), scan_request(options)
        picture = LocalPlot(n_groups=n_groups)
        for path in run(fitting, scanning, out, how, n_top=n_top, picture=picture, page=page):
            click.echo(path)
