"""A scan whose results stay in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset
from goalscli.scanning.local_request import LocalRequest
from goalscli.scanning.loop import bind, finish, local_score, local_scores, stream


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
    local: LocalRequest = LocalRequest(),  # noqa: B008 (frozen)
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
