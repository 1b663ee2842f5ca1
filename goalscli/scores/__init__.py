"""Scores: each binds to a posterior and maps a block of variants to named columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Chunk
from goalscli.errors import SettingsError

SCORES: dict[str, str] = {"goals": "goalscli.scores.goals:Goals"}
"""Name → "module:Class"; other packages add theirs by the entry point group ``goalscli.scores``."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Field:
    """One column of a score: its name, what it is and its unit; float64, one value a variant."""

    name: str
    description: str
    unit: str


class BoundScore(Protocol):
    """A score ready for one posterior and one dataset.

    Attributes
    ----------
    fields : tuple of Field
        The columns that a call returns.
    ranking : str
        The column by whose absolute value variants are ranked.
    settings : mapping
        What it was bound with, ready for JSON.
    """

    fields: tuple[Field, ...]
    ranking: str

    @property
    def settings(self) -> Mapping[str, Any]:
        """What it was bound with, ready for JSON."""

    def __call__(self, chunk: Chunk) -> Arrays:
        """Columns for a block: name → one float64 for each column of its values."""

    def with_local(self, chunk: Chunk) -> tuple[Arrays, NDArray[np.float32]]:
        """Return the same columns, and the local scores (C, N) float32."""

    def finish(self, columns: Mapping[str, NDArray[np.float64]]) -> tuple[Arrays, Mapping[str, Any]]:
        """What needs all variants at once: changed columns and attributes; called once, after any merge."""


def score(name: str) -> Any:
    """Return a score's class by name.

    Raises
    ------
    SettingsError
        There is none of that name.
    """
    known = SCORES | {point.name: point.value for point in entry_points(group="goalscli.scores")}
    if name not in known:
        raise SettingsError(f"no score {name!r}", where="--scores", remedy=f"give some of: {', '.join(sorted(known))}")
    module, _, attribute = known[name].partition(":")
    return getattr(import_module(module), attribute)
