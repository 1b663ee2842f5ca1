"""A finished scan's columns, read when asked for: a picture needs few of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.runtime import scan_prefix
from goalscli.store import opened, read_attributes, strings

KIND = "goalscli-scores"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scanned:
    """What every view of a scores file has.

    Attributes
    ----------
    path : Path
    attributes : mapping
        Root attributes: phenotype, settings, model_digest, provenance, …
    variants : mapping of str to (J,) array
    columns : mapping of str to mapping of str to (J,) float64
        By score: goals, rate, psi, as far as they were computed.
    score_attributes : mapping of str to mapping
        By score: lambda_gc, delta, …
    """

    path: Path
    attributes: Mapping[str, Any]
    variants: Mapping[str, NDArray[Any]]
    columns: Mapping[str, Mapping[str, Floats]]
    score_attributes: Mapping[str, Mapping[str, Any]]

    def score(self, name: str) -> Mapping[str, Floats]:
        """Columns of one score.

        Parameters
        ----------
        name : str
            goals, rate or psi.

        Returns
        -------
        mapping of str to (J,) float64
            Names and units as in the file.

        Raises
        ------
        InputError
            The scan did not compute it.
        """
        if name not in self.columns:
            raise InputError(
                f"holds no {name} score, but {', '.join(self.columns)}",
                where=self.path,
                remedy=f"scan with --scores {','.join([*self.columns, name])}",
            )
        return self.columns[name]

    @property
    def goals(self) -> Mapping[str, Floats]:
        """Columns of the goals score."""
        return self.score("goals")

    @property
    def xi(self) -> float:
        """The shift of the goals score."""
        return float(self.attributes["settings"]["scores"]["goals"]["xi"])

    @property
    def unit(self) -> str:
        """Words for one unit of the shift: "sd of genotype" or "copy of A1"."""
        return str(self.attributes["shift_unit"])

    def labels(self, rows: NDArray[np.intp]) -> list[str]:
        """IDs of these variants, chrom:pos where they have none, in the order of ``rows``."""
        return _labels(self.variants["id"][rows], self.variants["chrom"][rows], self.variants["pos"][rows])

    def model_path(self, given: str | Path | None = None) -> Path:
        """Where the scan's model is: as given, or PREFIX.model.h5 beside the scores."""
        return Path(given or f"{scan_prefix(str(self.path).removesuffix('.h5').removesuffix('.scores'))}.model.h5")

    def check_model(self, path: str | Path, digest: str) -> None:
        """Refuse the model of another scan.

        Raises
        ------
        InputError
        """
        if digest != self.attributes["model_digest"]:
            raise InputError(f"is not the model of {self.path}", where=path, remedy="give the model of this scan")


def _labels(ids: Iterable[str], chrom: Iterable[str], pos: Iterable[int]) -> list[str]:
    return [f"{c}:{p}" if name in (".", "") else str(name) for name, c, p in zip(ids, chrom, pos, strict=True)]


class _Arrays(Mapping[str, NDArray[Any]]):
    """The one-dimensional arrays of a group by name, each read once, when it is asked for."""

    def __init__(self, path: Path, group: str, names: Sequence[str]) -> None:
        self._path, self._group, self._names = path, group, tuple(names)
        self._read: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._read:
            with opened(self._path, KIND) as file:
                data = file[self._group][name]
                self._read[name] = strings(data) if h5py.check_string_dtype(data.dtype) else data[:]
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        # Mapping's own would read the array.
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, eq=False)
class OpenScores(Scanned):
    """A scores file of which only what is asked for is read.

    Attributes
    ----------
    n_samples, n_variants : int
    """

    n_samples: int = field(kw_only=True)
    n_variants: int = field(kw_only=True)

    def raw(self, name: str) -> NDArray[Any]:
        """Return a column of the variant table as stored: text as UTF-8 bytes, twice as fast to read as str."""
        with opened(self.path, KIND) as file:
            values: NDArray[Any] = file["variants"][name][:]
        return values

    def labels(self, rows: NDArray[np.intp]) -> list[str]:
        """IDs of these variants, chrom:pos where they have none, in the order of ``rows``."""
        distinct, place = np.unique(np.asarray(rows, dtype=np.intp), return_inverse=True)
        if not len(distinct):
            return []
        with opened(self.path, KIND) as file:
            found = {name: file["variants"][name][distinct] for name in ("id", "chrom", "pos")}
        ids, chrom = ([value.decode() for value in found[name]] for name in ("id", "chrom"))
        names = _labels(ids, chrom, found["pos"])
        return [names[k] for k in place]


def open_scores(path: str | Path) -> OpenScores:
    """Open a finished scores file; arrays are read when they are asked for.

    Raises
    ------
    InputError
        Missing, unfinished, or of another kind.
    """
    path = Path(path)
    with opened(path, KIND) as file:
        attributes = read_attributes(file)
        names = [name for name in attributes["settings"]["scores"] if name in file]
        columns = {
            name: _Arrays(path, name, [n for n, d in file[name].items() if d.ndim == 1 and n != "local_index"])
            for name in names
        }
        return OpenScores(
            path=path,
            attributes=attributes,
            variants=_Arrays(path, "variants", list(file["variants"])),
            columns=columns,
            score_attributes={name: read_attributes(file[name]) for name in names},
            n_samples=len(file["samples/iid"]),
            n_variants=len(file["variants/pos"]),
        )


def only_variants(scores: Scanned, ids: list[str], option: str = "--snp") -> NDArray[np.intp]:
    """Rows of the named variants, in the order of the names; ``option`` gave them, for messages.

    Raises
    ------
    InputError
        A name that no analysed variant bears, or that several do.
    """
    rows = []
    for name in ids:
        found = np.flatnonzero(scores.variants["id"] == name)
        if len(found) != 1:
            hint = _alike(name, scores.variants["id"]) if not len(found) else ""
            raise InputError(
                f"{name!r} is the ID of {len(found)} analysed variants{hint}",
                where=option,
                remedy="give the ID of one; goals export lists them, and filters of the fit may have removed others",
            )
        rows.append(int(found[0]))
    return np.array(rows, dtype=np.intp)


def _alike(name: str, ids: NDArray[np.object_]) -> str:
    """Say which IDs differ in capitals alone, or else have the longest beginning in common."""
    folded = [other for other in map(str, ids) if other.casefold() == name.casefold()]
    near = folded or sorted(
        (other for other in map(str, ids) if other[:4] == name[:4]),
        key=lambda other: next((k for k, (a, b) in enumerate(zip(other, name, strict=False)) if a != b), len(name)),
        reverse=True,
    )
    return f" (alike: {', '.join(near[:3])})" if near else ""
