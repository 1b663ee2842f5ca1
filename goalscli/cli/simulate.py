"""``goals simulate``."""

from __future__ import annotations

from typing import Any

import click

from goalscli.cli import options as opt


@click.group("simulate")
def command() -> None:
    """Make genotypes and traits with known truth."""


@command.command("cohort")
@opt.out_prefix
@opt.overwrite
@click.option("--n-samples", type=int, default=500, show_default=True, help="Samples.")
@click.option("--n-variants", type=int, default=2000, show_default=True, help="Variants.")
@click.option("--n-chromosomes", type=int, default=5, show_default=True, help="Autosomes.")
@click.option("--x-chromosome", is_flag=True, help="Add a chromosome X (males 0 or 2).")
@click.option("--n-founders", type=int, default=8, show_default=True, help="Outbred founders.")
@click.option("--n-generations", type=int, default=10, show_default=True, help="Generations of random mating.")
@click.option("--n-breeders", type=int, default=60, show_default=True, help="Animals in each generation.")
@click.option("--family-size", type=int, default=6, show_default=True, help="Mean litter.")
@click.option("--cage-size", type=int, default=4, show_default=True, help="Samples a cage, give or take one.")
@click.option("--missing-rate", type=float, default=0.005, show_default=True, help="Share of calls missing.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of all random numbers.")
@opt.talk
def cohort(out: str, overwrite: bool, **options: Any) -> None:
    """Breed a cohort: PREFIX.bed, PREFIX.bim, PREFIX.fam and PREFIX.groups.tsv (family, sire, dam, cage, sex)."""
    with opt.session(options, None):
        from goalscli.jobs.simulate import cohort as make
        from goalscli.simulate import CohortSettings

        for path in make(CohortSettings(**options), out, overwrite=overwrite):
            click.echo(path)


@command.command("trait")
@click.option("--bfile", metavar="PREFIX", required=True, help="PLINK fileset.")
@click.option("--out", metavar="PREFIX", help="Where results go. Default: beside the fileset.")
@opt.overwrite
@click.option("--name", default="trait", show_default=True, help="The trait's column, and part of the files' names.")
@click.option("--n-causal", type=int, default=10, show_default=True, help="Causal variants.")
@click.option("--variance-explained", type=float, default=0.6, show_default=True, help="Share of variance due to them.")
@click.option(
    "--additive-share",
    type=float,
    default=0.5,
    show_default=True,
    help="Share of that which is additive; the rest is pairwise interactions.",
)
@click.option(
    "--structure-share",
    type=float,
    default=0.0,
    show_default=True,
    help="Share of the rest due to the top ten principal components.",
)
@click.option(
    "--cage-share",
    type=float,
    default=0.0,
    show_default=True,
    help="Share of variance due to the cage; needs --groups.",
)
@click.option("--groups", metavar="FILE", help="Table with the cages.")
@click.option("--cage-column", default="cage", show_default=True, help="Their column.")
@click.option("--infinitesimal", is_flag=True, help="Every variant causal, additive only.")
@click.option("--orthogonal", is_flag=True, help="Make the shares exact in the sample.")
@click.option(
    "--avoid-chromosome",
    "avoid_chromosomes",
    multiple=True,
    metavar="CHR",
    help="No causal variant there; may be given again.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of all random numbers.")
@opt.talk
def trait(bfile: str, out: str | None, overwrite: bool, groups: str | None, cage_column: str, **options: Any) -> None:
    """Draw a trait: PREFIX.NAME.pheno.tsv, and the truth in PREFIX.NAME.truth.tsv."""
    with opt.session(options, None):
        from goalscli.jobs.simulate import trait as make
        from goalscli.simulate import TraitSettings

        settings = TraitSettings(**options)
        for path in make(settings, bfile, out, groups=groups, cage_column=cage_column, overwrite=overwrite):
            click.echo(path)
