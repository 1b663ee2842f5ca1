"""``goals scan``: score every variant of a model's data into PREFIX.scores.h5, resumable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset
from goalscli.errors import InputError
from goalscli.jobs.memory import check_scan_memory
from goalscli.jobs.model_file import KIND as MODEL_KIND
from goalscli.jobs.model_file import load_model
from goalscli.jobs.scan_request import ScanRequest, ScanRun, parse_local
from goalscli.jobs.scores_file import begin, columns_of
from goalscli.provenance import provenance
from goalscli.runtime import LOG, cpu_limit, scan_prefix
from goalscli.scanning import LocalRequest, bind, finish, local_score, local_scores, stream
from goalscli.scores import Arrays, BoundScore
from goalscli.store import Writer, check_equal, opened, read_attributes, refuse_existing, resumable


@dataclass(frozen=True)
class _Plan:
    """A scan of some rows of the variant table; ``local`` counts within these."""

    path: Path
    request: ScanRequest
    dataset: Dataset
    rows: slice
    bound: Mapping[str, BoundScore]
    local: LocalRequest
    must_equal: Mapping[str, Any] = field(default_factory=dict)

    @property
    def local_rows(self) -> int | None:
        """Variants whose local scores are kept; None for all."""
        return None if self.local.everything else self.local.count


@dataclass(frozen=True)
class _Within:
    """A sink that counts rows from the part's first one."""

    writer: Writer
    start: int

    def write(self, index: NDArray[np.intp], columns: Mapping[str, NDArray[Any]]) -> None:
        self.writer.write(index - self.start, columns)


def scan(model: str | Path, request: ScanRequest, out: str | None = None, run: ScanRun = ScanRun()) -> Path:  # noqa: B008 (frozen)
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
    path = request.path(scan_prefix(model) if out is None else out)
    if path.exists() and run.resume:
        _check_complete(path, model, request)
        LOG.info("%s is complete", path)
        return path
    refuse_existing([path], run.overwrite)
    workers = run.threads or cpu_limit()
    dataset, posterior, attributes = load_model(
        model,
        run.genotypes,
        check_size=lambda n, kernel: check_scan_memory(
            n, kernel, request.scores, workers=workers, chunk_size=run.chunk_size, memory_gb=run.memory_gb
        ),
    )
    rows = slice(0, dataset.n_variants) if request.part is None else request.part.rows(dataset.n_variants)
    wanted = parse_local(request.local, dataset)
    bound = bind(posterior.with_precision(request.precision), dataset, request.scores)
    plan = _Plan(
        path, request, dataset, rows, bound, _within(wanted, rows), _identity(attributes, request, bound, wanted)
    )
    resuming = run.resume and resumable(path)
    opening = Writer.resume(path, request.kind, plan.must_equal) if resuming else _begin(plan, attributes, workers)
    with opening as writer:
        try:
            _score_left(plan, writer, run.chunk_size, workers, resuming)
        except InputError:
            # The same settings would fail again: there is nothing to resume.
            if not resuming:
                writer.discard()
            raise
        _finish(plan, writer)
    LOG.info("wrote %s", path)
    return path


def _score_left(plan: _Plan, writer: Writer, chunk_size: int | None, workers: int, resuming: bool) -> None:
    """Score the variants that are not marked done."""
    left, first, count = np.flatnonzero(~writer.done()), plan.rows.start, plan.rows.stop - plan.rows.start
    if resuming:
        LOG.info("resuming: %d of %d variants are done", count - len(left), count)
    stream(
        plan.bound,
        plan.dataset,
        _Within(writer, first),
        left + first,
        keep_local=plan.local.everything,
        chunk_size=chunk_size,
        threads=workers,
    )


def _within(local: LocalRequest, rows: slice) -> LocalRequest:
    """The part of a request that concerns these rows; the greatest |z| are taken of each part, more than are kept."""
    if local.named is not None:
        inside = local.named[(local.named >= rows.start) & (local.named < rows.stop)] - rows.start
        return LocalRequest(named=inside)
    return LocalRequest(everything=local.everything, top=min(local.top, rows.stop - rows.start))


def _identity(
    attributes: Mapping[str, Any], request: ScanRequest, bound: Mapping[str, BoundScore], local: LocalRequest
) -> dict[str, Any]:
    """What a resumed scan must have in common with the interrupted one."""
    settings = {
        "scores": {name: score.options.settings() for name, score in bound.items()},
        "local": request.local if local.named is None else [int(i) for i in local.named],
        "precision": request.precision,
    }
    return {"model_digest": attributes["digest"], "settings": settings, **_part(request)}


def _part(request: ScanRequest) -> dict[str, Any]:
    return {} if request.part is None else {"part": request.part.number, "parts": request.part.count}


def _check_complete(path: Path, model: str | Path, request: ScanRequest) -> None:
    """A complete result satisfies --resume only if it is the one asked for."""
    with opened(model, MODEL_KIND) as file:
        digest = file.attrs["digest"]
    with opened(path, request.kind) as file:
        found = read_attributes(file)
    wanted: dict[str, Any] = {
        "scores": {s.name: s.settings() for s in request.scores},
        "precision": request.precision,
    }
    # A list of variants was stored as rows; whether a file still names the same ones is not asked again.
    wanted["local"] = request.local if isinstance(found["settings"]["local"], str) else found["settings"]["local"]
    check_equal(path, found, {"model_digest": digest, "settings": wanted, **_part(request)})


def _begin(plan: _Plan, model: Mapping[str, Any], threads: int) -> Writer:
    dataset = plan.dataset
    allele = plan.must_equal["settings"]["scores"].get("goals", {}).get("xi_unit") == "allele"
    per_copy = allele or dataset.treatment.scale != "standardize"
    record = provenance(plan.must_equal["settings"], {"model": model["digest"], **model["genotypes"]}, threads)
    attributes: dict[str, Any] = {
        **plan.must_equal,
        "phenotype": dataset.trait,
        "threads": threads,
        "shift_unit": "copy of A1" if per_copy else "sd of genotype",
        "provenance": record,
    }
    if plan.request.part is not None:
        attributes |= {"first_variant": plan.rows.start, "all_variants": dataset.n_variants}
    return begin(
        plan.path,
        plan.request.kind,
        attributes,
        columns_of(dataset.variants, plan.rows),
        columns_of(dataset.samples),
        [score.options for score in plan.bound.values()],
        local_rows=plan.local_rows,
    )


def _finish(plan: _Plan, writer: Writer) -> None:
    """What needs every variant of the file: local scores of the chosen ones, and each score's own finish."""
    found = local_score(plan.bound)
    if found is not None and plan.local.count:
        name, score = found
        index = plan.local.choose(writer.read(f"{name}/{score.options.ranking}"))
        start = 0
        for local in local_scores(score, plan.dataset, index + plan.rows.start):
            writer.fill(f"{name}/local", slice(start, start + len(local)), local)
            start += len(local)
        writer.fill(f"{name}/local_index", slice(0, len(index)), index)
    if plan.request.part is None:
        conclude(writer, *finish(plan.bound, writer.read))
    else:
        # Left to the merge, which has no posterior.
        for name, bound in plan.bound.items():
            writer.set_attributes(name, {"notes": dict(bound.notes)})
    writer.finish()


def conclude(writer: Writer, changed: Arrays, attributes: Mapping[str, Mapping[str, Any]]) -> None:
    """Store what the scores' ``finish`` gave, and tell it."""
    for name, values in changed.items():
        writer.fill(name, slice(0, len(values)), values)
    for name, told in attributes.items():
        writer.set_attributes(name, told)
        for key, value in told.items():
            LOG.info("%s, %s: %s", name, key, f"{value:.4g}" if isinstance(value, float) else value)
