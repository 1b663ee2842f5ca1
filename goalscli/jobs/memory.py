"""What a scan of a model's data takes, refused beforehand where it is too much."""

from __future__ import annotations

from collections.abc import Iterable

from goalscli.kernels import kernel
from goalscli.runtime import check_memory
from goalscli.scanning import auto_chunk_size
from goalscli.scores import Score


def check_scan_memory(
    n: int,
    kernel_name: str,
    scores: Iterable[Score],
    *,
    workers: int,
    chunk_size: int | None = None,
    memory_gb: float | None = None,
) -> None:
    """Refuse a scan that memory does not hold, or of which ``memory_gb`` GiB are too little.

    The N×N matrices of the model, the kernel and the scores in single and double precision, blocks of 256 variants for
    each worker and the chunks that are read ahead.

    Raises
    ------
    ResourceError
    """
    size = chunk_size or auto_chunk_size(n)
    matrices = 3.5 + 0.5 * kernel(kernel_name).matrices + sum(score.matrices for score in scores)
    needed = 8.0 * matrices * n**2 + 8.0 * n * (256 * 10 * workers + 6 * max(size, 256)) + 2**28
    check_memory(needed, f"a scan of {n} samples with {workers} thread(s)", memory_gb)
