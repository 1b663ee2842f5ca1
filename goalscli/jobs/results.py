"""``goals top``, ``goals export`` and ``goals info``: what a finished file holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.model_file import KIND as MODEL_KIND
from goalscli.jobs.scanned import KIND as SCORES_KIND
from goalscli.jobs.scanned import Scanned
from goalscli.jobs.scanned import only_variants as only_variants
from goalscli.jobs.scores_file import PART_KIND
from goalscli.store import atomic, opened, read_attributes, refuse_existing, strings
from goalscli.tables import score_table, top, tsv

POSTERIOR_KIND = "goalscli-posterior"


@dataclass(frozen=True, eq=False)
class Scores(Scanned):
    """A scores file in memory, local scores excepted.

    Attributes
    ----------
    samples : mapping of str to (N,) array
        See :class:`goalscli.jobs.scanned.Scanned` for the others.
    """

    samples: Mapping[str, NDArray[Any]] = field(kw_only=True)

    def table(self) -> pd.DataFrame:
        """Return the table of ``goals top``, one row a variant: :func:`goalscli.tables.score_table`."""
        xi = self.xi if "goals" in self.columns else 1.0
        return score_table(self.variants, self.columns, xi)

    def stored_local(self, index: NDArray[np.intp]) -> NDArray[np.float32] | None:
        """Read local scores from the file.

        Parameters
        ----------
        index : (C,) intp
            Rows of the variants.

        Returns
        -------
        (C, N) float32 or None
            Trait sd, in the paper's sign; None where not all are stored.
        """
        with opened(self.path, SCORES_KIND) as file:
            if "goals/local" not in file:
                return None
            rows = file["goals/local_index"][:] if "goals/local_index" in file else np.arange(len(self.variants["id"]))
            place = np.searchsorted(rows, index)
            if (place >= len(rows)).any() or (rows[place] != index).any():
                return None
            return np.stack([file["goals/local"][k] for k in place])


def read_scores(path: str | Path) -> Scores:
    """Read a finished scores file.

    Parameters
    ----------
    path : str or Path
        PREFIX.scores.h5.

    Returns
    -------
    Scores
        Its arrays, local scores excepted, in the paper's sign f(x) - f(x + xi).

    Raises
    ------
    InputError
        Missing, unfinished, or of another kind.
    """
    with opened(path, SCORES_KIND) as file:
        names = [name for name in read_attributes(file)["settings"]["scores"] if name in file]
        return Scores(
            path=Path(path),
            attributes=read_attributes(file),
            variants=_arrays(file["variants"]),
            samples=_arrays(file["samples"]),
            columns={name: _columns(file[name]) for name in names},
            score_attributes={name: read_attributes(file[name]) for name in names},
        )


def _columns(group: h5py.Group) -> dict[str, NDArray[np.float64]]:
    return {n: d[:] for n, d in group.items() if d.ndim == 1 and n != "local_index"}


def _arrays(group: h5py.Group) -> dict[str, NDArray[Any]]:
    return {n: strings(d) if h5py.check_string_dtype(d.dtype) else d[:] for n, d in group.items()}


RANKINGS = {
    "z": ("goals", "Z"),
    "score": ("goals", "SCORE"),
    "p": ("goals", "NEG_LOG10_P"),
    "rms": ("goals", "RMS"),
    "spread": ("goals", "SPREAD"),
    "loco": ("goals", "Z_LOCO"),
    "rate": ("rate", "RATE"),
    "psi": ("psi", "PSI"),
    "excess": ("psi", "PSI_EXCESS"),
}
"""What ``goals top --by`` takes: the score and the column of the table."""


def top_table(path: str | Path, n: int, by: str | None = None) -> str:
    """Return the ``n`` top variants as TSV text, by |z| or what else the scan computed.

    Raises
    ------
    SettingsError
        No such ranking.
    InputError
        The scan did not compute what it ranks by.
    """
    if by is not None and by not in RANKINGS:
        raise SettingsError(f"no ranking {by!r}", where="--by", remedy=f"give one of: {', '.join(RANKINGS)}")
    if n < 1:
        raise SettingsError(f"{n} variants", where="--n", remedy="give 1 or more")
    read = read_scores(path)
    if by is None:
        by = next((name for name, (score, _) in RANKINGS.items() if score in read.columns), "z")
    score, column = RANKINGS[by]
    read.score(score)
    table = read.table()
    if column not in table:
        raise InputError("holds no scores without the chromosome", where=path, remedy="scan with --loco")
    return tsv(top(table, n, column))


def export(path: str | Path, out: str | Path, *, overwrite: bool = False) -> Path:
    """Write every variant's row to a TSV, or to Parquet where the name ends so.

    Raises
    ------
    SettingsError
        Parquet is asked for and its extra is not installed.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    table = read_scores(path).table()
    with atomic(out) as partial:
        if out.suffix == ".parquet":
            try:
                table.to_parquet(partial, index=False)
            except ImportError as error:
                raise SettingsError(
                    "Parquet needs the extra",
                    where=out,
                    remedy="pip install 'goalscli[parquet]', or write a .tsv",
                ) from error
        else:
            partial.write_text(tsv(table))
    return out


def info(path: str | Path) -> Iterator[str]:
    """Yield the lines that say what a model or scores file holds."""
    with opened(path, (MODEL_KIND, SCORES_KIND, PART_KIND, POSTERIOR_KIND)) as file:
        told = read_attributes(file)
        sizes = {name: file[name].shape for name in _datasets(file)}
        inner = {name: read_attributes(group) for name, group in file.items() if len(group.attrs)}
    record = told.pop("provenance", {})
    yield f"{path}: {told.pop('format')} (format version {told.pop('format_version')})"
    yield f"samples\t{sizes['samples/iid'][0]}"
    yield f"variants\t{sizes['variants/id'][0]}"
    filters = told.pop("filter_table", "")
    for name, value in sorted(told.items()):
        yield f"{name}\t{value}"
    for group, attributes in sorted(inner.items()):
        for name, value in sorted(attributes.items()):
            yield f"{group}/{name}\t{value}"
    for name, shape in sorted(sizes.items()):
        yield f"array\t{name}\t{' x '.join(map(str, shape))}"
    for name, value in sorted(record.items()):
        yield f"provenance\t{name}\t{value}"
    yield from filters.splitlines()


def _datasets(file: h5py.File) -> list[str]:
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names
