"""What a report holds: the data it draws on, and one function a section."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.model_file import KIND as MODEL_KIND
from goalscli.jobs.plot.local import MOST_PANELS
from goalscli.jobs.report import markup
from goalscli.jobs.results import RANKINGS, Scores
from goalscli.plots.style import plural
from goalscli.runtime import LOG
from goalscli.store import opened, read_attributes
from goalscli.tables import top

HEAD = ("#CHROM", "POS", "ID", "A1", "A2", "A1_FREQ", "EFFECT", "EFFECT_SD", "Z", "NEG_LOG10_P", "Z_LOCO",
        "NEG_LOG10_P_LOCO", "SPREAD", "RATE", "PSI")  # fmt: skip
"""Columns of ``goals top`` that the report's table has, as far as they were computed."""

WORDS = ("#CHROM", "ID", "A1", "A2", "filter")


@dataclass(frozen=True)
class ReportSettings:
    """Settings of a report.

    Attributes
    ----------
    n_top : int
        Rows of the table of top variants.
    n_loci : int
        Loci drawn by group, 20 at most.
    n_groups : int
        Groups with the least, and as many with the greatest, means in these pictures.
    model : str, optional
        The model of the scan; PREFIX.model.h5 beside the scores, if there, where None.
    genotypes : str, optional
        PLINK prefix or file of genotypes that have moved since the fit.
    seed : int
        Of the permutations in the pictures by group.
    """

    n_top: int = 20
    n_loci: int = 2
    n_groups: int = 8
    model: str | None = None
    genotypes: str | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        most = {"n_loci": MOST_PANELS}
        for name, least in (("n_top", 1), ("n_loci", 1), ("n_groups", 1), ("seed", 0)):
            number, option = getattr(self, name), f"--{name.replace('_', '-')}"
            if number < least:
                raise SettingsError(f"{number} is too low", where=option, remedy=f"give {least} or more")
            if number > most.get(name, number):
                raise SettingsError(f"{number} is too many", where=option, remedy=f"give {most[name]} at most")


@dataclass(frozen=True, eq=False)
class Source:
    """What a report is made of: a scan, its model's attributes where it is there, and the settings."""

    read: Scores
    settings: ReportSettings
    model: Mapping[str, Any] | None
    absent: str = ""


def source_of(read: Scores, settings: ReportSettings) -> Source:
    """Find the scan's model.

    Raises
    ------
    InputError
        The model that was given is missing, no model, or that of another scan.
    """
    path = read.model_path(settings.model)
    try:
        return Source(read, settings, _model(path, read))
    except InputError as error:
        if settings.model is not None:
            raise
        LOG.warning("warning: without the model, the report leaves out filters and variance components: %s", error)
        absent = f"Left out, since the model file is not at hand ({path.name}: {error.problem}). Give --model."
        return Source(read, settings, None, absent)


def _model(path: Path, read: Scores) -> dict[str, Any]:
    with opened(path, MODEL_KIND) as file:
        attributes = read_attributes(file)
        if "random" in file:
            attributes["random_name"] = str(file["random"].attrs["name"])
    read.check_model(path, attributes["digest"])
    return attributes


def lead(source: Source) -> str:
    """What stands above all sections."""
    read = source.read
    record = read.attributes["provenance"]
    rows = {
        "trait": read.attributes["phenotype"],
        "samples": len(read.samples["iid"]),
        "variants": len(read.variants["id"]),
        "scores": ", ".join(read.columns),
        **{
            name: read.score_attributes["goals"][key]
            for key, name in (("lambda_gc", "λGC"), ("loco_lambda_gc", "λGC without the chromosome"))
            if key in read.score_attributes.get("goals", {})
        },
        "date of the scan": str(record["created"]).replace("T", " ").replace("+00:00", " UTC"),
        "software": f"{record['software']['name']} {record['software']['version']}",
        "scores file": read.path.name,
    }
    return markup.facts("The scan", rows)


def settings(source: Source) -> str:
    """Settings of the scan and of the fit; those left at nothing are left out."""
    told = source.read.attributes
    scan = dict(_flat(told["settings"])) | {"unit of the shift": told["shift_unit"], "threads": int(told["threads"])}
    content = markup.facts("Of the scan", scan)
    if source.model is None:
        return content + markup.paragraph(source.absent.replace("Left out", "Settings of the fit left out"))
    names = source.model["covariate_names"]
    fit = dict(_flat(source.model["settings"])) | {"covariates in the model": ", ".join(names) or "none"}
    return content + markup.facts("Of the fit", fit)


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}: ")
        elif value is not None:
            yield f"{above}{name}".replace("_", " "), value


def filters(source: Source) -> str:
    """The table of what each filter removed."""
    if source.model is None:
        return markup.paragraph(source.absent)
    _, *rows = [line.split("\t") for line in source.model["filter_table"].splitlines()]
    head = ("filter", "samples removed", "samples left", "variants removed", "variants left")
    cells = [(name, *map(int, counts)) for name, *counts in rows]
    return markup.table("In the order in which they are applied", head, cells, words=WORDS)


def variances(source: Source) -> str:
    """Variance components, their standard errors where there are any."""
    model = source.model
    if model is None:
        return markup.paragraph(source.absent)
    rows = {
        "share of variance that genotypes explain, additive and not (pve)": _with_se(model["pve"], model["pve_se"]),
        "signal variance s": model["signal_variance"],
        "noise variance σ²": model["noise_variance"],
    }
    if "random_name" in model:
        share = _with_se(model["random_share"], model["random_share_se"])
        rows |= {
            f"share of {model['random_name']}": share,
            f"variance of {model['random_name']}": model["random_variance"],
        }
    rows |= {
        "kernel": model["kernel"],
        "θ, inverse squared bandwidth": model["theta"],
        "log-likelihood (REML)": model["log_likelihood"],
        "mean of the trait": model["trait_mean"],
        "sd of the trait, the unit of all effects": model["trait_sd"],
    }
    content = markup.facts("Variances are in units of the trait's variance", rows)
    if model["at_bound"]:
        content += markup.paragraph(f"At a bound of the search: {model['at_bound']}. There is no standard error then.")
    return content + markup.paragraph(
        "pve is no heritability: it counts additive effects and interactions, and what genotypes only stand for, "
        "such as a shared cage."
    )


def _with_se(value: float, se: float) -> str:
    return f"{value:.3f} (se {se:.3f})" if math.isfinite(se) else f"{value:.3f} (no standard error)"


def top_variants(source: Source) -> str:
    """The top variants, with the counts of samples by the sign of their local effect."""
    read, n = source.read, source.settings.n_top
    _, column = next((score, column) for score, column in RANKINGS.values() if score in read.columns)
    table = top(read.table(), n, column)
    head = [name for name in HEAD if name in table]
    rows = [list(row) for row in table[head].itertuples(index=False)]
    note = ""
    if "goals" in read.columns:
        local = read.stored_local(table.index.to_numpy())
        if local is None:
            note = "Local scores of these variants are not stored, so samples are not counted by sign."
        else:
            head += ["RAISED", "LOWERED"]
            effects = -np.sign(read.xi) * np.sign(local)
            counts = zip((effects > 0).sum(axis=1), (effects < 0).sum(axis=1), strict=True)
            rows = [[*row, *map(int, pair)] for row, pair in zip(rows, counts, strict=True)]
            note = "RAISED and LOWERED count the samples whose trait more A1 raises or lowers, by their local score."
    cells = [[value.item() if isinstance(value, np.generic) else value for value in row] for row in rows]
    content = markup.table(f"The {plural(len(cells), 'variant')} of greatest |{column}|", head, cells, words=WORDS)
    return content + (markup.paragraph(note) if note else "")


def provenance(source: Source) -> str:
    """Where it all comes from: commands, files, digests, versions."""
    content, model = "", source.model
    records = [("scan", source.read.attributes["provenance"])] + (
        [] if model is None else [("fit", model["provenance"])]
    )
    for what, record in records:
        made = record["environment"]
        rows = {
            "command": record["command"],
            "date": record["created"],
            "software": f"{record['software']['name']} {record['software']['version']}, Python {made['python']}",
            "packages": ", ".join(f"{name} {version}" for name, version in sorted(made["packages"].items())),
            "linear algebra": ", ".join(made["blas"]),
            "platform": made["platform"],
            "threads": int(made["threads"]),
        }
        content += markup.facts(f"The {what}", rows)
    files = {"model of the scan": source.read.attributes["model_digest"]}
    if model is not None:
        described = model["genotypes"]
        files |= {str(described.get(key, key)): digest for key, digest in model["genotype_digests"].items()}
        files |= {k: v for k, v in model["provenance"]["inputs"].items() if k not in described}
    content += markup.facts("Files and their digests (SHA-256 of size and content)", files)
    return content + markup.paragraph(
        "Fit and scan draw no random numbers.",
        f"Seed of the permutations in the pictures by group: {source.settings.seed}.",
    )


HOW_TO_READ = (
    "EFFECT is what one unit more of the counted allele A1 does to the trait, in sd of the trait; a positive one "
    "raises it. It is joint and shrunken, since all variants are in the model at once: not the beta of a GWAS of "
    "single variants.",
    "SCORE, in the files, has the opposite sign: EFFECT = −SCORE / ξ, with the shift ξ of the settings below.",
    "EFFECT_SD is the uncertainty left about the effect once the data are seen. Z is not EFFECT / EFFECT_SD.",
    "Z and p test the score against the polygenic null: the trait is what the fitted model says of it, and this "
    "variant's score is what such traits give by chance. The LOCO columns leave the variant's chromosome out of the "
    "null.",
    "Variants that are inherited together (in linkage disequilibrium) share what their region does. A peak is a "
    "region, and its highest variant need not be the causal one.",
    "λGC below 1 is no fault where there are large effects: each is tested against a background that contains it.",
    "SPREAD is the sd of local effects over samples: large beside EFFECT where the effect depends on other genotypes.",
    "Local scores are effects of single changes: over the variants of a sample they need not sum to its prediction.",
    "RATE is a variant's share of the total relevance; 1 / (number of variants) if all were alike. ψ is the mean "
    "squared slope of the fitted function.",
)


def how_to_read(source: Source) -> str:
    """Words that keep a reader from error."""
    absent = {"rate", "psi"} - set(source.read.columns)
    told = [each for each in HOW_TO_READ if not (each.startswith("RATE") and len(absent) == 2)]
    return markup.points(told)
