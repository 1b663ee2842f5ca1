"""``goals check``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.command("check")
@opt.genotypes
@opt.tables
@opt.selection
@opt.treatment
@opt.model
@click.option("--overwrite", is_flag=True, help="As for goals fit; no matter here, since nothing is written.")
@opt.common
def command(overwrite: bool, **options: Any) -> None:
    """Say everything that is wrong with the inputs of a fit, and what it would use; write nothing.

    Takes the options of goals fit but --out. Exit code 0 where the fit would run, else 2.
    """
    with opt.session(options, None):
        from goalscli.cli.requests import fit_request
        from goalscli.errors import InputError, Problems
        from goalscli.jobs.check import check

        problems = Problems()
        report = check(fit_request(options, problems), problems)
        click.echo(report.text())
        if report.problems:
            raise InputError(f"{len(report.problems)} problem(s) found", remedy="mend what is listed above")
