"""Labels as numbers: a million chromosome names are a few names and a number each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Coded:
    """Labels as numbers.

    Attributes
    ----------
    codes : (n,) intp
        Into ``names``.
    names : tuple of str
    """

    codes: NDArray[np.intp]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)


Labels = NDArray[np.object_] | Coded


def factorize(labels: Labels) -> tuple[NDArray[np.intp], list[str | None]]:
    """Number labels by first appearance.

    Parameters
    ----------
    labels : (n,) object of str, None or NaN, or Coded

    Returns
    -------
    codes : (n,) intp
    found : list of str or None
        The distinct labels; None stands for None and NaN.
    """
    if isinstance(labels, Coded):
        return labels.codes, list(labels.names)
    codes, found = _numbered(np.asarray(labels, dtype=object))
    return codes, [None if label is None or label != label else str(label) for label in found]


def _numbered(labels: NDArray[np.object_]) -> tuple[NDArray[np.intp], list[object]]:
    # Files are sorted by chromosome: what is looked up is a run of equal labels, not each one.
    starts = np.append(True, labels[1:] != labels[:-1])[: len(labels)]
    first = np.flatnonzero(starts)
    number: dict[object, int] = {}
    codes = np.fromiter((number.setdefault(label, len(number)) for label in labels[first]), np.intp, len(first))
    return np.repeat(codes, np.diff(np.append(first, len(labels)))), list(number)


def coded(labels: NDArray[np.object_]) -> Coded:
    """Number names; None and NaN become the empty name.

    Parameters
    ----------
    labels : (n,) object of str, bytes (UTF-8), None or NaN
    """
    codes, found = _numbered(labels)
    return Coded(codes, tuple(_name(label) for label in found))


def _name(label: object) -> str:
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    return "" if label is None or label != label else str(label)


def joined(parts: Sequence[Coded]) -> Coded:
    """One after the other, equal names under one number."""
    number: dict[str, int] = {}
    codes = []
    for part in parts:
        renumbered = [number.setdefault(name, len(number)) for name in part.names]
        codes.append(np.array(renumbered, dtype=np.intp)[part.codes])
    return Coded(np.concatenate(codes), tuple(number))
