"""From parsed options to the jobs' settings."""

from __future__ import annotations

from typing import Any

from goalscli.cli.options import pick
from goalscli.dataset import Treatment
from goalscli.errors import Problems, SettingsError
from goalscli.jobs.fit import FitRequest
from goalscli.jobs.inputs import GenotypeFiles, Selection, Tables
from goalscli.jobs.scan_request import Part, ScanRequest, ScanRun
from goalscli.models.exact import ExactGP
from goalscli.qc import Filters
from goalscli.runtime import LOG
from goalscli.scores import score


def fit_request(options: dict[str, Any], problems: Problems | None = None) -> FitRequest:
    """Take the options of a fit out of ``options``.

    Parameters
    ----------
    options : dict
    problems : Problems, optional
        Takes what is wrong with the options; the request is then made without them. Where None, the first is raised.
    """
    found = Problems() if problems is None else problems
    genotypes = pick(
        options, "bfile", "bed", "bim", "fam", "pfile", "pgen", "pvar", "psam", "bgen", "sample", "ref_first", "bimbam",
        "anno",
    )  # fmt: skip
    named = pick(
        options, "pheno", "pheno_name", "covar", "covar_name", "cat_covar_name", "groups", "group_column",
        "family_column", "random_effect", "missing_code", "iid_only",
    )  # fmt: skip
    chosen = pick(options, "keep", "remove", "extract", "exclude", "chr", "from_bp", "to_bp")
    filters = pick(options, "mind", "geno", "maf", "mac", "hwe")
    treatment = pick(options, "impute", "scale", "rank_int")
    tables = found.attempt(lambda: Tables(**named))
    selection = found.attempt(lambda: Selection(**chosen))
    request = FitRequest(
        genotypes=GenotypeFiles(**genotypes),
        tables=Tables.usable(named) if tables is None else tables,
        selection=Selection.usable(chosen) if selection is None else selection,
        filters=found.attempt(lambda: Filters(**filters)) or Filters(mind=1, geno=1, maf=0),
        treatment=found.attempt(lambda: Treatment(**treatment)) or Treatment(),
        model=_model(options, found),
        intercept=not options.pop("no_intercept"),
    )
    if problems is None:
        found.raise_any()
    return request


def _model(options: dict[str, Any], problems: Problems) -> ExactGP:
    options.pop("model")
    memory = options.pop("memory")
    told: dict[str, Any] = {"kernel": options.pop("kernel"), "theta": options.pop("theta")}
    bandwidth = options.pop("bandwidth")
    if bandwidth in ("median", "1/J"):
        told["bandwidth"] = bandwidth
    else:
        with problems.catching():
            told["theta"] = _number(bandwidth, "--bandwidth", "median, 1/J or a number")
            LOG.info("--bandwidth %g is taken as theta, the inverse squared bandwidth", told["theta"])
    for name in ("signal", "noise"):
        text = options.pop(name)
        with problems.catching():
            told[name] = None if text == "reml" else _number(text, f"--{name}", "reml or a number")
    return problems.attempt(lambda: ExactGP(**told, memory_gb=memory)) or ExactGP(memory_gb=memory)


def scan_request(options: dict[str, Any], part: str | None = None) -> ScanRequest:
    """Take the options that determine a scan out of ``options``."""
    settings = {
        "goals": pick(options, "xi", "xi_unit", "loco"),
        "rate": {name: options.pop(f"rate_{name}") for name in ("form", "projection")},
    }
    names = [name.strip() for name in options.pop("scores").split(",")]
    if len(set(names)) < len(names):
        raise SettingsError(f"{','.join(names)} names a score twice", where="--scores", remedy="name each once")
    if settings["goals"]["loco"] and "goals" not in names:
        raise SettingsError("belongs to the goals score", where="--loco", remedy="add goals to --scores")
    scores = tuple(score(name)(**settings.get(name, {})) for name in names)
    wanted = None if part is None else parse_part(part)
    return ScanRequest(scores=scores, part=wanted, **pick(options, "local", "precision"))


def parse_part(text: str) -> Part:
    """Read K/N."""
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal()):
        raise SettingsError(f"{text!r} is no part", where="--part", remedy="give e.g. 3/20")
    return Part(int(number), int(count))


def scan_run(options: dict[str, Any], threads: int, memory: float | None, genotypes: str | None = None) -> ScanRun:
    """Take the options of how to carry a scan out of ``options``."""
    how = pick(options, "chunk_size", "overwrite", "resume")
    return ScanRun(threads=threads, memory_gb=memory, genotypes=genotypes, **how)


def _number(text: str, option: str, wanted: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"{text!r} is not a number", where=option, remedy=f"give {wanted}") from None
