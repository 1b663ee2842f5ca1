"""Which traits have the same features, and what may be computed once for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset
from goalscli.errors import ResourceError
from goalscli.models.exact import ExactGP
from goalscli.provenance import canonical_json, digests
from goalscli.runtime import LOG, check_memory


def identity(dataset: Dataset) -> str:
    """SHA-256 of what determines the features: genotypes, samples, variants, treatment."""
    told = {"treatment": asdict(dataset.treatment), "digests": digests(dataset.source.files)}
    digest = hashlib.sha256(canonical_json(told).encode())
    for array in (dataset.variants.file_index, dataset.variants.mean, dataset.variants.sd):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update("\n".join([*dataset.samples.fid, *dataset.samples.iid]).encode())
    return digest.hexdigest()


def bases(model: ExactGP, datasets: Sequence[Dataset]) -> Iterator[NDArray[np.float64]]:
    """Yield what the kernel rests on, (N, N) float64 a dataset; computed once for neighbours with the same features.

    The matrix is kept for the next trait (8·N² bytes more) only where memory allows; the bits are the same either way.
    """
    marks = [identity(dataset) if len(datasets) > 1 else "" for dataset in datasets]
    kept: NDArray[np.float64] | None = None
    for i, dataset in enumerate(datasets):
        base = model.base(dataset) if kept is None else kept
        again = marks[i + 1 : i + 2] == marks[i : i + 1] and _room(model, dataset.n_samples)
        kept = base.copy(order="F") if again else None
        if again:
            LOG.info("trait %s has the same samples and variants: the Gram matrix is shared", datasets[i + 1].trait)
        yield base


def _room(model: ExactGP, n_samples: int) -> bool:
    try:
        check_memory(model.needed_memory(n_samples) + 8.0 * n_samples**2, "", model.memory_gb)
    except ResourceError:
        return False
    return True
