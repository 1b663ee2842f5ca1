"""Options shared by commands, each named once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def _stack(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


genotypes = _stack(
    click.option("--bfile", metavar="PREFIX", help="PLINK fileset PREFIX.bed, PREFIX.bim, PREFIX.fam."),
    click.option("--bed", metavar="FILE", help="The .bed file, where the three have different names."),
    click.option("--bim", metavar="FILE", help="The .bim file."),
    click.option("--fam", metavar="FILE", help="The .fam file."),
    click.option("--pfile", metavar="PREFIX", help="PLINK 2 fileset PREFIX.pgen, PREFIX.pvar, PREFIX.psam."),
    click.option("--pgen", metavar="FILE", help="The .pgen file, where the three have different names."),
    click.option("--pvar", metavar="FILE", help="The .pvar file."),
    click.option("--psam", metavar="FILE", help="The .psam file."),
    click.option("--bgen", metavar="FILE", help="BGEN file (1.2 or 1.3)."),
    click.option(
        "--sample", metavar="FILE", help="The .sample file of --bgen, or a list of IDs, one a line, for --bimbam."
    ),
    click.option("--ref-first", is_flag=True, help="Count the second allele of each BGEN variant, not the first."),
    click.option("--bimbam", metavar="FILE", help="BIMBAM mean genotypes, as GEMMA reads them."),
    click.option("--anno", metavar="FILE", help="Positions of the variants of --bimbam."),
)

moved = click.option(
    "--bfile",
    "--pfile",
    "--bgen",
    "--bimbam",
    "genotypes",
    metavar="PREFIX|FILE",
    help="The genotypes, where they have moved since the fit.",
)

missing_code = click.option(
    "--missing-code",
    metavar="CODE",
    default="-9",
    show_default=True,
    help="Number read as missing beside NA; 'none' keeps real -9.",
    callback=lambda context, option, value: None if value.lower() == "none" else value,
)
iid_only = click.option("--iid-only", is_flag=True, help="Match tables to genotypes by IID alone.")

tables = _stack(
    click.option(
        "--pheno",
        metavar="FILE",
        help="Phenotype table with FID and IID, or IID. Default: the .fam's sixth column.",
    ),
    click.option("--pheno-name", metavar="A[,B]", help="Trait column(s). May be left out if there is one."),
    click.option("--covar", metavar="FILE", help="Covariate table."),
    click.option("--covar-name", metavar="A,PC1-PC10", help="Numeric covariates. Default: all columns of --covar."),
    click.option("--cat-covar-name", metavar="A,B", help="Categorical covariates."),
    click.option("--groups", metavar="FILE", help="Table of the samples' cage, family, environment."),
    click.option(
        "--group-column",
        metavar="NAME",
        help="Column of --groups for pictures by group. Default: the family.",
    ),
    click.option("--family-column", metavar="NAME", help="Column of --groups for imputation. Default: the FID."),
    click.option(
        "--random-effect",
        metavar="NAME",
        help="Column of --groups (cage, litter) as a random effect of its own.",
    ),
    missing_code,
    iid_only,
)

selection = _stack(
    click.option("--keep", metavar="FILE", help="Only the samples of this list: FID and IID, or IID, one a line."),
    click.option("--remove", metavar="FILE", help="Not the samples of this list."),
    click.option(
        "--extract",
        metavar="FILE",
        help="Only the variants of this list: an ID a line, or CHROM:POS or CHROM:POS:A1:A2 where the ID is '.'.",
    ),
    click.option("--exclude", metavar="FILE", help="Not the variants of this list."),
    click.option("--chr", metavar="A,B-C", help="Only these chromosomes: 1-4,X or chr7,22."),
    click.option(
        "--from-bp", type=int, metavar="N", help="Only from this position on, of the one chromosome of --chr."
    ),
    click.option("--to-bp", type=int, metavar="N", help="Only up to this position."),
)

treatment = _stack(
    click.option(
        "--mind",
        type=float,
        default=0.1,
        show_default=True,
        help="Remove samples with more missing calls than this share.",
    ),
    click.option(
        "--geno",
        type=float,
        default=0.1,
        show_default=True,
        help="Remove variants with more missing calls than this share.",
    ),
    click.option(
        "--maf",
        type=float,
        default=0.05,
        show_default=True,
        help="Remove variants with a minor allele frequency below this.",
    ),
    click.option("--mac", type=int, default=0, metavar="N", help="Remove variants with fewer minor alleles than this."),
    click.option(
        "--hwe",
        type=float,
        default=0.0,
        metavar="P",
        help="Remove variants with an exact Hardy-Weinberg p below this; X, Y and MT are not tested.",
    ),
    click.option(
        "--impute",
        type=click.Choice(["family", "mean"]),
        default="family",
        show_default=True,
        help="Fill missing calls by the family's mean or that of all.",
    ),
    click.option(
        "--scale",
        type=click.Choice(["standardize", "center", "none"]),
        default="standardize",
        show_default=True,
        help="Dosages to mean 0 and sd 1, to mean 0 only, or as they are.",
    ),
    click.option(
        "--rank-int",
        is_flag=True,
        help="Rank-based inverse normal transform of the trait.",
    ),
    click.option("--no-intercept", is_flag=True, help="Fit no mean."),
)

model = _stack(
    click.option("--model", type=click.Choice(["exact"]), default="exact", show_default=True, help="The model."),
    click.option(
        "--kernel",
        type=click.Choice(["rbf", "laplacian", "cauchy", "matern32", "matern52", "linear"]),
        default="rbf",
        show_default=True,
        help="The covariance function.",
    ),
    click.option(
        "--bandwidth",
        metavar="median|1/J|FLOAT",
        default="median",
        show_default=True,
        help="Rule for the bandwidth; a number is taken as theta.",
    ),
    click.option("--theta", type=float, metavar="FLOAT", help="Inverse squared bandwidth, instead of a rule."),
    click.option(
        "--signal", metavar="reml|FLOAT", default="reml", show_default=True, help="Signal variance, in trait variances."
    ),
    click.option(
        "--noise", metavar="reml|FLOAT", default="reml", show_default=True, help="Noise variance, in trait variances."
    ),
)

shift = _stack(
    click.option(
        "--xi", type=float, default=1.0, show_default=True, help="Shift of each variant, in --xi-unit; not 0."
    ),
    click.option(
        "--xi-unit",
        type=click.Choice(["x", "allele"]),
        default="x",
        show_default=True,
        help="Unit of the shift: x, the model's feature (sd of genotype), or allele.",
    ),
)

scan = _stack(
    shift,
    click.option(
        "--scores",
        metavar="A[,B]",
        default="goals",
        show_default=True,
        help="goals, rate, psi, or several of them.",
    ),
    click.option(
        "--loco", is_flag=True, help="Also test each variant against a null without its own chromosome (goals score)."
    ),
    click.option(
        "--rate-form",
        type=click.Choice(["paper", "released"]),
        default="paper",
        show_default=True,
        help="RATE by the paper's formula, or as the authors' released code computes it.",
    ),
    click.option(
        "--rate-projection",
        type=click.Choice(["pinv", "covariance"]),
        default="pinv",
        show_default=True,
        help="RATE's effect sizes: least squares, or the covariance of genotype and f.",
    ),
    click.option(
        "--local",
        metavar="none|top:K|all|FILE",
        default="top:100",
        show_default=True,
        help="Variants whose local scores are kept.",
    ),
    click.option(
        "--precision",
        type=click.Choice(["single", "double"]),
        default="single",
        show_default=True,
        help="Precision of the matrix products.",
    ),
    click.option(
        "--chunk-size",
        type=int,
        metavar="N",
        help="Variants read and written at once. Default: by memory. Does not change the result.",
    ),
    click.option("--resume", is_flag=True, help="Go on where an interrupted scan stopped."),
)

out_prefix = click.option("--out", metavar="PREFIX", required=True, help="Where results go; folders are made.")
out_file = click.option("--out", metavar="FILE", required=True, help="The file to write.")
out_picture = click.option("--out", metavar="FILE", required=True, help="The .png, .pdf or .svg file to write.")
genes = click.option(
    "--genes", metavar="FILE", help="Genes for labels: GTF, GFF3 or BED, plain or gzipped, of the same genome."
)
overwrite = click.option("--overwrite", is_flag=True, help="Replace results that exist.")

snps = click.option(
    "--snp", "snps", multiple=True, metavar="ID", help="Variant to draw; may be given again. Default: the top loci."
)
centre = click.option("--centre", is_flag=True, help="Draw differences from each variant's mean.")
scan_model = click.option("--model", metavar="FILE", help="The scan's model. Default: beside the scores.")

talk = _stack(
    click.option("--threads", type=int, metavar="N", help="Default: the CPUs this process may use."),
    click.option("-q", "--quiet", is_flag=True, help="Warnings and errors only."),
    click.option("-v", "--verbose", is_flag=True, help="More detail."),
)

common = _stack(
    click.option(
        "--memory",
        type=float,
        metavar="GB",
        help="Refuse work that needs more. Default: the machine's or container's limit.",
    ),
    talk,
)


@contextmanager
def session(options: dict[str, Any], log: str | None) -> Iterator[int]:
    """Take the common options out of ``options`` and put them in force; yields the number of threads.

    Threads are set before anything loads BLAS, so a command imports its job inside this block.
    """
    from goalscli import __version__
    from goalscli.runtime import LOG, graceful_termination, logging_to, use_threads

    threads = use_threads(options.pop("threads", None))
    quiet, verbose = options.pop("quiet", False), options.pop("verbose", False)
    with graceful_termination(), logging_to(log, quiet=quiet, verbose=verbose):
        if log is not None:
            LOG.info("goals %s, %d thread(s)", __version__, threads)
        yield threads


def pick(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Take these out of ``options``."""
    return {name: options.pop(name) for name in names}
