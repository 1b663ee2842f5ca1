"""``goals scan``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("scan")
@click.argument("model", metavar="MODEL.model.h5")
@opt.moved
@opt.scan
@click.option("--part", metavar="K/N", help="Score part K of N only (array jobs): PREFIX.part-K-of-N.h5.")
@click.option("--out", metavar="PREFIX", help="Where the result goes. Default: beside the model.")
@opt.overwrite
@opt.common
def command(model: str, genotypes: str | None, part: str | None, out: str | None, **options: Any) -> None:
    """Score every variant: PREFIX.scores.h5; or, with --part, some of them, to be merged by goals merge.

    Interrupted (a time limit, Ctrl-C), it goes on with --resume to the very same result.
    """
    from goalscli.runtime import scan_prefix

    prefix = scan_prefix(model) if out is None else out
    # Parts run at the same time: a log for each.
    log = "scan" if part is None else f"part-{part.replace('/', '-of-')}"
    with opt.session(options, f"{prefix}.{log}.log") as threads:
        from goalscli.cli.requests import scan_request, scan_run
        from goalscli.jobs.scan import scan

        how = scan_run(options, threads, options.pop("memory"), genotypes)
        click.echo(scan(model, scan_request(options, part), out, how))
