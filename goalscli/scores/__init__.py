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

SCORES: dict[str, str] = {
    "goals": "goalscli.scores.goals:Goals",
    "rate": "goalscli.scores.rate:Rate",
    "psi": "goalscli.scores.psi:Psi",
}
"""Name → "module:Class"; other packages add theirs by the entry point group ``goalscli.scores``."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Field:
    """One column of a score; float64, one value a variant.

    Attributes
    ----------
    name, description, unit : str
    derived : bool
        Filled by ``finish``, not by a call.
    """

    name: str
    description: str
    unit: str
    derived: bool = False


class Score(Protocol):
    """Settings of a score; frozen."""

    @property
    def name(self) -> str:
        """How the command line calls it."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its columns."""

    @property
    def ranking(self) -> str:
        """The column by whose absolute value variants are ranked."""

    @property
    def keeps_local(self) -> bool:
        """Whether there is a value for each sample; what it binds to is a :class:`LocalScore` then."""

    @property
    def needs(self) -> str:
        """The method of a posterior on which it rests."""

    @property
    def matrices(self) -> int:
        """(N, N) float64 that it needs beside the posterior's own."""

    def settings(self) -> dict[str, Any]:
        """Keyword arguments that make it again, ready for JSON."""

    def bind(self, posterior: Any, dataset: Any) -> BoundScore:
        """Make ready for one posterior and one dataset."""

    def finish(
        self, columns: Mapping[str, NDArray[np.float64]], notes: Mapping[str, Any]
    ) -> tuple[Arrays, Mapping[str, Any]]:
        """What needs all variants at once: changed columns and attributes; called once, after any merge of parts.

        ``columns`` are all fields but the derived ones, ``notes`` those of the bound score.
        """


class BoundScore(Protocol):
    """A score ready for one posterior and one dataset."""

    @property
    def options(self) -> Score:
        """The settings it was bound with."""

    @property
    def stages(self) -> NDArray[np.object_] | None:
        """Labels (J,) of variants that need a preparation of their own, or None; such a score is a StagedScore."""

    @property
    def notes(self) -> Mapping[str, Any]:
        """What ``options.finish`` must know of the posterior, ready for JSON."""

    def __call__(self, chunk: Chunk) -> Arrays:
        """Columns for a block: name → one float64 for each column of its values; all fields but the derived ones."""


class LocalScore(BoundScore, Protocol):
    """A score with values for each sample."""

    def with_local(self, chunk: Chunk) -> tuple[Arrays, NDArray[np.float32]]:
        """Return the columns of a call, and the local scores (C, N) float32."""

    def local(self, chunk: Chunk) -> NDArray[np.float32]:
        """Return the local scores alone."""


class StagedScore(BoundScore, Protocol):
    """A score that prepares itself for each label of ``stages``."""

    def at(self, label: str) -> BoundScore:
        """Return the score ready for the variants of one label."""


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
