"""Models: each turns a dataset into a posterior of f (see :mod:`goalscli.posterior`)."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from goalscli.errors import SettingsError

MODELS: dict[str, str] = {"exact": "goalscli.models.exact:ExactGP"}
"""Name → "module:Class"; other packages add theirs by the entry point group ``goalscli.models``."""


def model(name: str) -> Any:
    """Return a model's class by name.

    Raises
    ------
    SettingsError
        There is none of that name.
    """
    known = MODELS | {point.name: point.value for point in entry_points(group="goalscli.models")}
    if name not in known:
        raise SettingsError(f"no model {name!r}", where="--model", remedy=f"give one of: {', '.join(sorted(known))}")
    module, _, attribute = known[name].partition(":")
    return getattr(import_module(module), attribute)
