"""The only scoring loop: read chunks in a thread, score blocks in workers, write in order.

Each worker scores blocks of 256 columns with a one-threaded BLAS, and a variant always lies in the same column, so the
bits of a result depend neither on the number of threads nor on how the variants were cut into chunks and resumed runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import BLOCK, Chunk, Dataset
from goalscli.errors import InputError, SettingsError
from goalscli.runtime import Progress, cpu_limit, single_threaded_blas
from goalscli.scores import Arrays, BoundScore, Field, LocalScore, Score, StagedScore

T = TypeVar("T")

TARGET_CHUNK_BYTES = 64 * 1024**2


@dataclass(frozen=True)
class LocalRequest:
    """Which variants' local scores to keep.

    Attributes
    ----------
    everything : bool
        All variants.
    top : int
        The ``top`` variants of greatest |z|, ties by file order.
    named : (K,) intp, optional
        These rows of the variant table, ascending.
    """

    everything: bool = False
    top: int = 0
    named: NDArray[np.intp] | None = None

    @property
    def count(self) -> int:
        """How many are chosen; 0 for none, and for all."""
        return self.top if self.named is None else len(self.named)

    def choose(self, ranking: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the chosen rows, once all variants are ranked.

        Parameters
        ----------
        ranking : (J,) float64
            What the variants are ranked by, in absolute value.

        Returns
        -------
        (K,) intp
            Ascending.
        """
        if self.named is not None:
            return self.named
        return np.sort(np.argsort(-np.abs(ranking), kind="stable")[: self.top])


class Sink(Protocol):
    """Where columns go; names are "score/column" and "score/local"."""

    def write(self, index: NDArray[np.intp], columns: Mapping[str, NDArray[Any]]) -> None:
        """Take the rows ``index`` of each named array."""


def auto_chunk_size(n_samples: int) -> int:
    """Variants read at once: whole blocks in about 64 MiB of float64."""
    blocks = TARGET_CHUNK_BYTES // (n_samples * 8 * BLOCK)
    return BLOCK * int(np.clip(blocks, 1, 8))


def bind(posterior: Any, dataset: Dataset, scores: Sequence[Any]) -> dict[str, BoundScore]:
    """Bind scores to a posterior, by name, side by side.

    Each in one thread of BLAS, so that no bit depends on the number of threads or on the other scores.
    """
    with single_threaded_blas(), ThreadPoolExecutor(max(1, min(len(scores), cpu_limit())), "binder") as pool:
        jobs = {score.name: pool.submit(score.bind, posterior, dataset) for score in scores}
        return {name: job.result() for name, job in jobs.items()}


def stream(
    bound: Mapping[str, BoundScore],
    dataset: Dataset,
    sink: Sink,
    index: NDArray[np.intp],
    *,
    keep_local: bool = False,
    chunk_size: int | None = None,
    threads: int | None = None,
) -> None:
    """Score the variants ``index`` and hand them to ``sink`` in order, a chunk at a time.

    Parameters
    ----------
    bound : mapping of str to BoundScore
    dataset : Dataset
    sink : Sink
    index : (C,) intp
        Ascending rows of the variant table.
    keep_local : bool
        Hand over "NAME/local", (C, N) float32, too.
    chunk_size : int, optional
        Variants read and written at once; :func:`auto_chunk_size` where None.
    threads : int, optional
        Workers; all CPUs we may use where None.

    Raises
    ------
    InputError
        A result is not finite; nothing of its chunk is written.
    """
    size = auto_chunk_size(dataset.n_samples) if chunk_size is None else chunk_size
    if size < 1:
        raise SettingsError(f"{size} variants a chunk", where="--chunk-size", remedy="give 1 or more")
    workers = cpu_limit() if threads is None else threads
    with (
        single_threaded_blas(),
        ThreadPoolExecutor(1, "reader") as reader,
        ThreadPoolExecutor(1, "preparer") as preparer,
        ThreadPoolExecutor(workers, "scorer") as pool,
        Progress("scan", len(index)) as progress,
    ):
        jobs = (
            (chunk.index, [(b.index, pool.submit(_score, ready, b, keep_local)) for b in chunk.blocks()])
            for ready, run in _stages(bound, index, preparer)
            for chunk in _ahead(reader, dataset.chunks(size, run))
        )
        # Blocks of the next chunk are queued while this one's are gathered, so that workers never wait for the disk.
        for rows, blocks in _lookahead(jobs, 1 + workers * BLOCK // size):
            columns = _join([job.result() for _, job in blocks], np.concatenate([place for place, _ in blocks]))
            sink.write(rows, columns)
            progress.advance(len(rows))


def _stages(
    bound: Mapping[str, BoundScore], index: NDArray[np.intp], preparer: ThreadPoolExecutor
) -> Iterator[tuple[Mapping[str, BoundScore], NDArray[np.intp]]]:
    """Cut the variants where a score needs another preparation; it is made while the stage before is scored."""
    labels = {name: score.stages for name, score in bound.items()}
    staged = {name: of[index] for name, of in labels.items() if of is not None}
    cuts = sorted({int(c) + 1 for of in staged.values() for c in np.flatnonzero(of[1:] != of[:-1])})

    def prepared() -> Iterator[tuple[Mapping[str, BoundScore], NDArray[np.intp]]]:
        ready: dict[str, tuple[str, BoundScore]] = {}
        for run in np.split(index, cuts) if len(index) else []:
            for name in staged:
                label = str(labels[name][run[0]])  # type: ignore[index]
                if name not in ready or ready[name][0] != label:
                    ready[name] = label, cast(StagedScore, bound[name]).at(label)
            yield {name: ready[name][1] if name in ready else score for name, score in bound.items()}, run

    return _ahead(preparer, prepared())


def _ahead(reader: ThreadPoolExecutor, items: Iterator[T]) -> Iterator[T]:
    """Fetch one item ahead in a thread of its own."""
    stop = object()
    pending: Future[Any] = reader.submit(next, items, stop)
    while (item := pending.result()) is not stop:
        pending = reader.submit(next, items, stop)
        yield item


def _lookahead(items: Iterator[T], depth: int) -> Iterator[T]:
    """Draw ``depth`` items before giving the first one on."""
    waiting: deque[T] = deque()
    for item in items:
        waiting.append(item)
        if len(waiting) > depth:
            yield waiting.popleft()
    yield from waiting


def _score(bound: Mapping[str, BoundScore], block: Chunk, keep_local: bool) -> Arrays:
    """Score one padded block with every score; the padding is left out here."""
    out: Arrays = {}
    full = len(block.index) == block.values.shape[1]
    kept = slice(None) if full and np.all(np.diff(block.columns) == 1) else block.columns
    for name, score in bound.items():
        # What overflows is refused below, by count, rather than warned of.
        with np.errstate(over="ignore", invalid="ignore"):
            if keep_local and score.options.keeps_local:
                columns, local = cast(LocalScore, score).with_local(block)
                out[f"{name}/local"] = local[kept]
            else:
                columns = score(block)
        for field in direct(score.options):
            values = columns[field.name][kept]
            if not np.isfinite(values).all():
                raise InputError(
                    f"{int(np.sum(~np.isfinite(values)))} values of {name}/{field.name} are not finite",
                    remedy="check --xi, --theta, --signal and --noise",
                )
            out[f"{name}/{field.name}"] = values
    return out


def _join(blocks: Sequence[Arrays], order: NDArray[np.intp]) -> Arrays:
    """Put the blocks of a chunk together again, in the chunk's order."""
    if len(blocks) == 1:
        return blocks[0]
    joined = {k: np.concatenate([b[k] for b in blocks]) for k in blocks[0]}
    if np.all(np.diff(order) > 0):
        return joined
    place = np.argsort(order)
    return {k: v[place] for k, v in joined.items()}


def direct(score: Score) -> list[Field]:
    """Return the columns that a call returns."""
    return [field for field in score.fields if not field.derived]


def local_score(bound: Mapping[str, BoundScore]) -> tuple[str, LocalScore] | None:
    """Return the first score that has values for each sample, with its name."""
    return next(((name, cast(LocalScore, score)) for name, score in bound.items() if score.options.keeps_local), None)


def finish(
    bound: Mapping[str, BoundScore], read: Callable[[str], NDArray[Any]]
) -> tuple[Arrays, dict[str, Mapping[str, Any]]]:
    """Run each score's own finish on columns that ``read`` gives: changed columns ("score/column"), and attributes."""
    return finish_columns({name: (score.options, score.notes) for name, score in bound.items()}, read)


def finish_columns(
    scores: Mapping[str, tuple[Score, Mapping[str, Any]]], read: Callable[[str], NDArray[Any]]
) -> tuple[Arrays, dict[str, Mapping[str, Any]]]:
    """Do the same without the posterior, from the scores' settings and notes (of parts to be merged)."""
    changed: Arrays = {}
    attributes: dict[str, Mapping[str, Any]] = {}
    for name, (score, notes) in scores.items():
        needed = {field.name: read(f"{name}/{field.name}") for field in direct(score)}
        columns, attributes[name] = score.finish(needed, notes)
        changed |= {f"{name}/{key}": values for key, values in columns.items()}
    return changed, attributes


def local_scores(score: LocalScore, dataset: Dataset, index: NDArray[np.intp]) -> Iterator[NDArray[np.float32]]:
    """Compute local scores of a few variants, bit for bit those of the scan.

    Yields
    ------
    (C, N) float32
        Rows in the order of ``index`` (ascending), at most 256 at a time.
    """
    with single_threaded_blas():
        for chunk in dataset.chunks(BLOCK, index):
            rows = np.empty((len(chunk.index), dataset.n_samples), dtype=np.float32)
            for block in chunk.blocks():
                rows[np.searchsorted(chunk.index, block.index)] = score.local(block)[block.columns]
            yield rows


@dataclass(frozen=True, eq=False)
class ScanResult:
    """A scan in memory.

    Attributes
    ----------
    columns : mapping of str to (J,) float64
        "goals/score", "goals/sd", …
    attributes : mapping of str to mapping
        By score: λ_GC, how p was calibrated, …
    local_index : (K,) intp
        Rows of the variant table whose local scores were kept, ascending.
    local : mapping of str to (K, N) float32
        By score; empty where none was asked for or no score has any.
    dataset : Dataset
    """

    columns: Mapping[str, NDArray[np.float64]]
    attributes: Mapping[str, Mapping[str, Any]]
    local_index: NDArray[np.intp]
    local: Mapping[str, NDArray[np.float32]]
    dataset: Dataset


class _Memory:
    """A sink of arrays in memory."""

    def __init__(self, n_variants: int) -> None:
        self._n, self.arrays = n_variants, {}  # type: int, dict[str, NDArray[Any]]

    def write(self, index: NDArray[np.intp], columns: Mapping[str, NDArray[Any]]) -> None:
        for name, values in columns.items():
            if name not in self.arrays:
                self.arrays[name] = np.empty((self._n, *values.shape[1:]), dtype=values.dtype)
            self.arrays[name][index] = values

    def read(self, name: str) -> NDArray[Any]:
        return self.arrays[name]


def scan(
    posterior: Any,
    dataset: Dataset,
    scores: Sequence[Any],
    *,
    local: LocalRequest = LocalRequest(),
    chunk_size: int | None = None,
    threads: int | None = None,
) -> ScanResult:
    """Score every variant of ``dataset`` in memory.

    Parameters
    ----------
    posterior : Posterior
        From a model's ``fit``.
    dataset : Dataset
    scores : sequence of score settings
        E.g. ``[Goals(xi=1.0)]``.
    local : LocalRequest
        Which variants' local scores to keep.
    chunk_size : int, optional
        Variants read at once; as many as about 64 MiB hold where None. It changes no bit.
    threads : int, optional
        Workers; all CPUs we may use where None.

    Returns
    -------
    ScanResult
        Columns in trait sd and the paper's sign f - g; J rows.

    Raises
    ------
    InputError
        A result is not finite.
    SettingsError
        A score needs what the posterior does not offer (psi and a kernel without derivatives, say).
    """
    bound = bind(posterior, dataset, scores)
    sink = _Memory(dataset.n_variants)
    everything = np.arange(dataset.n_variants)
    stream(bound, dataset, sink, everything, keep_local=local.everything, chunk_size=chunk_size, threads=threads)
    changed, attributes = finish(bound, sink.read)
    index, kept = np.empty(0, np.intp), {}
    found = local_score(bound)
    if found is not None:
        name, score = found
        if local.everything:
            index, kept = everything, {name: sink.arrays.pop(f"{name}/local")}
        elif local.count:
            index = local.choose(sink.read(f"{name}/{score.options.ranking}"))
            kept = {name: np.concatenate(list(local_scores(score, dataset, index)))}
    return ScanResult(sink.arrays | changed, attributes, index, kept, dataset)
