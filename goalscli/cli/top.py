"""``goals top``."""

from __future__ import annotations

import click


@click.command("top")
@click.argument("scores", metavar="SCORES.scores.h5")
@click.option("-n", "--n", type=int, default=20, show_default=True, help="How many variants.")
@click.option(
    "--by",
    metavar="z|score|rms|spread|p|loco|rate|psi|excess",
    help="Ranking, by absolute value. Default: z, or rate or psi where there is no z.",
)
def command(scores: str, n: int, by: str | None) -> None:
    """Print the top variants as a tab-separated table.

    EFFECT is a joint, shrunken effect of A1, not a marginal GWAS beta: trait sd per sd of genotype, or per copy of A1
    after --xi-unit allele or --scale none. Z and NEG_LOG10_P test it against the polygenic null; Z is not
    EFFECT/EFFECT_SD.
    """
    from goalscli.jobs.results import top_table

    click.echo(top_table(scores, n, by), nl=False)
