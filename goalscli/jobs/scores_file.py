"""The layout of a scores file, whole or in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.jobs.scanned import KIND as KIND
from goalscli.scores import Score
from goalscli.store import Writer

PART_KIND = "goalscli-scores-part"

_VARIANTS = (
    ("chrom", "chromosome, as in the genotype file", ""),
    ("pos", "position", "base pairs"),
    ("id", "variant ID", ""),
    ("a1", "counted allele", ""),
    ("a2", "other allele", ""),
    ("a1_freq", "frequency of a1 among the analysed samples' calls", "1"),
    ("missing_rate", "share of the analysed samples without a call", "1"),
    ("n_obs", "analysed samples with a call", "1"),
)
_SAMPLES = ("fid", "iid", "family", "group")


def begin(
    path: Path,
    kind: str,
    attributes: Mapping[str, Any],
    variants: Mapping[str, NDArray[Any]],
    samples: Mapping[str, NDArray[Any]],
    scores: Sequence[Score],
    *,
    local_rows: int | None,
) -> Writer:
    """Create the file with every array allocated, so that filling it moves no metadata.

    Parameters
    ----------
    path, kind, attributes
        As of :meth:`goalscli.store.Writer.create`.
    variants, samples : mapping of str to (J,), (N,) array
    scores : sequence of Score
    local_rows : int, optional
        Variants whose local scores are kept; None for all.
    """
    writer = Writer.create(path, kind, attributes, resumable=True)
    try:
        _lay_out(writer, variants, samples, scores, local_rows)
    except BaseException:
        # Without its arrays there is nothing in it to go on with.
        writer.discard()
        raise
    return writer


def _lay_out(
    writer: Writer,
    variants: Mapping[str, NDArray[Any]],
    samples: Mapping[str, NDArray[Any]],
    scores: Sequence[Score],
    local_rows: int | None,
) -> None:
    j, n = len(variants["id"]), len(samples["iid"])
    for name, description, unit in _VARIANTS:
        writer.add(f"variants/{name}", variants[name], description, unit)
    for name in _SAMPLES:
        writer.add(f"samples/{name}", samples[name], f"{name} of each analysed sample", "")
    for score in scores:
        for column in score.fields:
            writer.allocate(f"{score.name}/{column.name}", (j,), "f8", column.description, column.unit)
        if not score.keeps_local or local_rows == 0:
            continue
        writer.allocate(
            f"{score.name}/local",
            (j if local_rows is None else local_rows, n),
            "f4",
            "posterior mean of f(x) - f(x + xi e_j) of each sample",
            "trait sd",
        )
        if local_rows is not None:
            about = "row of /variants of each row of local"
            writer.allocate(f"{score.name}/local_index", (local_rows,), "i8", about, "1")
    writer.begin(j)


def columns_of(table: Any, rows: slice | NDArray[np.intp] = slice(None)) -> dict[str, NDArray[Any]]:
    """Arrays of a table of variants or samples, as :func:`begin` takes them."""
    names = [name for name, _, _ in _VARIANTS] if hasattr(table, "chrom") else _SAMPLES
    return {name: getattr(table, name)[rows] for name in names}
