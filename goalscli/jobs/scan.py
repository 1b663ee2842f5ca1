"""``goals scan``: score every variant of a model's data into PREFIX.scores.h5, resumable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from goalscli.dataset import Dataset
from goalscli.errors import InputError, SettingsError
from goalscli.jobs.model_file import KIND as MODEL_KIND
from goalscli.jobs.model_file import load_model
from goalscli.jobs.variants import find_variants, read_ids
from goalscli.kernels import kernel
from goalscli.provenance import provenance
from goalscli.runtime import LOG, check_memory, cpu_limit, scan_prefix
from goalscli.scanning import LocalRequest, auto_chunk_size, bind, finish, local_score, local_scores, stream
from goalscli.scores import BoundScore
from goalscli.scores.goals import Goals
from goalscli.store import Writer, check_equal, opened, read_attributes, refuse_existing, resumable

KIND = "goalscli-scores"


@dataclass(frozen=True)
class ScanRequest:
    """Everything that determines a scan of a given model.

    Attributes
    ----------
    scores : tuple
        Score settings, e.g. ``(Goals(),)``.
    local : str
        "none", "top:K", "all" or a file of variant IDs: whose local scores are kept.
    precision : "single" or "double"
        Of the matrix products.
    """

    scores: tuple[Any, ...] = (Goals(),)
    local: str = "top:100"
    precision: Literal["single", "double"] = "single"


@dataclass(frozen=True)
class ScanRun:
    """How a scan is carried out; none of it changes a bit of the result."""

    genotypes: str | None = None
    chunk_size: int | None = None
    threads: int | None = None
    memory_gb: float | None = None
    overwrite: bool = False
    resume: bool = False

    def __post_init__(self) -> None:
        if self.chunk_size is not None and self.chunk_size < 1:
            raise SettingsError(f"{self.chunk_size} variants a chunk", where="--chunk-size", remedy="give 1 or more")


@dataclass(frozen=True)
class _Plan:
    path: Path
    dataset: Dataset
    bound: Mapping[str, BoundScore]
    local: LocalRequest
    must_equal: Mapping[str, Any] = field(default_factory=dict)


def parse_local(text: str, dataset: Dataset) -> LocalRequest:
    """Turn none, top:K, all or a file of variant IDs into a request.

    Raises
    ------
    SettingsError
        None of these.
    InputError
        An ID of the file is not among the analysed variants.
    """
    if text == "none":
        return LocalRequest()
    if text == "all":
        return LocalRequest(everything=True)
    if text.startswith("top:"):
        count = text[4:]
        if not count.isdigit() or int(count) < 1:
            raise SettingsError(f"{text!r} is no number of variants", where="--local", remedy="give e.g. top:100")
        return LocalRequest(top=min(int(count), dataset.n_variants))
    path = Path(text)
    where = f"--local {path}"
    if not path.is_file():
        raise SettingsError(
            f"{text!r} is neither none, top:K, all nor a file",
            where="--local",
            remedy="give a file with one variant ID a line",
        )
    return LocalRequest(named=find_variants(dataset.variants.id, read_ids(path, where), where))


def scan(model: str | Path, request: ScanRequest, out: str | None = None, run: ScanRun = ScanRun()) -> Path:
    """Score every variant of a model's data.

    Parameters
    ----------
    model : str or Path
        PREFIX.model.h5.
    request : ScanRequest
    out : str, optional
        PREFIX of the result; that of the model where None.
    run : ScanRun

    Returns
    -------
    Path
        PREFIX.scores.h5.

    Raises
    ------
    OutputError
        The result exists, or the unfinished one to resume is of another run.
    """
    path = Path(f"{scan_prefix(model) if out is None else out}.scores.h5")
    if path.exists() and run.resume:
        _check_complete(path, model, request)
        LOG.info("%s is complete", path)
        return path
    refuse_existing([path], run.overwrite)
    dataset, posterior, attributes = load_model(model, run.genotypes)
    n, size = dataset.n_samples, run.chunk_size or auto_chunk_size(dataset.n_samples)
    workers = run.threads or cpu_limit()
    matrices = 3.5 + 0.5 * kernel(posterior.kernel).matrices + sum(s.matrices for s in request.scores)
    needed = 8.0 * matrices * n**2 + 8.0 * n * (256 * 10 * workers + 6 * max(size, 256)) + 2**28
    check_memory(needed, f"a scan of {n} samples with {workers} thread(s)", run.memory_gb)
    local = parse_local(request.local, dataset)
    bound = bind(posterior.with_precision(request.precision), dataset, request.scores)
    plan = _Plan(path, dataset, bound, local, _identity(attributes, request, bound, local))
    resuming = run.resume and resumable(path)
    with Writer.resume(path, KIND, plan.must_equal) if resuming else _begin(plan, attributes, workers) as writer:
        left = np.flatnonzero(~writer.done())
        if resuming:
            LOG.info("resuming: %d of %d variants are done", dataset.n_variants - len(left), dataset.n_variants)
        try:
            stream(
                bound,
                dataset,
                writer,
                left,
                keep_local=local.everything,
                chunk_size=run.chunk_size,
                threads=workers,
            )
        except InputError:
            # The same settings would fail again: there is nothing to resume.
            if not resuming:
                writer.discard()
            raise
        _finish(plan, writer)
    LOG.info("wrote %s", path)
    return path


def _identity(
    attributes: Mapping[str, Any], request: ScanRequest, bound: Mapping[str, BoundScore], local: LocalRequest
) -> dict[str, Any]:
    """What a resumed scan must have in common with the interrupted one."""
    settings = {
        "scores": {name: dict(score.settings) for name, score in bound.items()},
        "local": request.local if local.named is None else [int(i) for i in local.named],
        "precision": request.precision,
    }
    return {"model_digest": attributes["digest"], "settings": settings}


def _check_complete(path: Path, model: str | Path, request: ScanRequest) -> None:
    """A complete result satisfies --resume only if it is the one asked for."""
    with opened(model, MODEL_KIND) as file:
        digest = file.attrs["digest"]
    with opened(path, KIND) as file:
        found = read_attributes(file)
    wanted: dict[str, Any] = {
        "scores": {s.name: s.settings() for s in request.scores},
        "precision": request.precision,
    }
    # A list of variants was stored as rows; whether a file still names the same ones is not asked again.
    wanted["local"] = request.local if isinstance(found["settings"]["local"], str) else found["settings"]["local"]
    check_equal(path, found, {"model_digest": digest, "settings": wanted})


def _begin(plan: _Plan, model: Mapping[str, Any], threads: int) -> Writer:
    """Create the file with every array allocated, so that filling it moves no metadata."""
    dataset, local = plan.dataset, plan.local
    j, n = dataset.n_variants, dataset.n_samples
    writer = Writer.create(plan.path, KIND, plan.must_equal)
    allele = plan.must_equal["settings"]["scores"].get("goals", {}).get("xi_unit") == "allele"
    per_copy = allele or dataset.treatment.scale != "standardize"
    unit = "copy of A1" if per_copy else "sd of genotype"
    writer.set_attributes("/", {"phenotype": dataset.trait, "threads": threads, "shift_unit": unit})
    record = provenance(plan.must_equal["settings"], {"model": model["digest"], **model["genotypes"]}, threads)
    writer.set_attributes("/", {"provenance": record})
    table = dataset.variants
    for name, description, unit in (
        ("chrom", "chromosome, as in the genotype file", ""),
        ("pos", "position", "base pairs"),
        ("id", "variant ID", ""),
        ("a1", "counted allele", ""),
        ("a2", "other allele", ""),
        ("a1_freq", "frequency of a1 among the analysed samples' calls", "1"),
        ("missing_rate", "share of the analysed samples without a call", "1"),
        ("n_obs", "analysed samples with a call", "1"),
    ):
        writer.add(f"variants/{name}", getattr(table, name), description, unit)
    for name in ("fid", "iid", "family", "group"):
        writer.add(f"samples/{name}", getattr(dataset.samples, name), f"{name} of each analysed sample", "")
    for name, score in plan.bound.items():
        for column in score.fields:
            writer.allocate(f"{name}/{column.name}", (j,), "f8", column.description, column.unit)
        if score.keeps_local and (local.everything or local.count):
            rows = j if local.everything else local.count
            writer.allocate(
                f"{name}/local",
                (rows, n),
                "f4",
                "posterior mean of f(x) - f(x + xi e_j) of each sample",
                "trait sd",
            )
        if score.keeps_local and local.count:
            writer.allocate(f"{name}/local_index", (local.count,), "i8", "row of /variants of each row of local", "1")
    writer.begin(j)
    return writer


def _finish(plan: _Plan, writer: Writer) -> None:
    """What needs every variant: local scores of the chosen ones, and each score's own finish."""
    found = local_score(plan.bound)
    if found is not None and plan.local.count:
        name, score = found
        index = plan.local.choose(writer.read(f"{name}/{score.ranking}"))
        start = 0
        for local in local_scores(score, plan.dataset, index):
            writer.fill(f"{name}/local", slice(start, start + len(local)), local)
            start += len(local)
        writer.fill(f"{name}/local_index", slice(0, len(index)), index)
    changed, attributes = finish(plan.bound, writer)
    for name, values in changed.items():
        writer.fill(name, slice(0, len(values)), values)
    for name, told in attributes.items():
        writer.set_attributes(name, told)
        for key, value in told.items():
            LOG.info("%s, %s: %s", name, key, f"{value:.4g}" if isinstance(value, float) else value)
    writer.finish()
