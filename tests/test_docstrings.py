"""Each public name tells of all its parameters, fields and results, in the form of numpydoc."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import goalscli

ROOT = Path(__file__).resolve().parents[1]
NAMES = [name for name in goalscli.__all__ if name != "__version__"]
SECTION = re.compile(r"^(\w+)\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)


def sections(documented: Any) -> dict[str, set[str]]:
    """The names that each section of a docstring lists: ``a, b : type`` at its margin."""
    found = {}
    for title, body in SECTION.findall(inspect.cleandoc(documented.__doc__ or "")):
        heads = [line.split(" : ")[0] for line in body.splitlines() if line[:1].strip()]
        found[title] = {name.strip().lstrip("*") for head in heads for name in head.split(",")}
    return found


def undocumented(function: Callable[..., Any]) -> set[str]:
    """Parameters of which the docstring says nothing."""
    asked = {name for name in inspect.signature(function).parameters if name not in ("self", "cls")}
    return asked - sections(function).get("Parameters", set())


def methods(kind: type) -> list[tuple[str, Any]]:
    return [
        (name, item)
        for name, item in vars(kind).items()
        if not name.startswith("_") and (inspect.isfunction(item) or isinstance(item, property))
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_tells_of_all_it_takes_and_gives(name: str) -> None:
    item = getattr(goalscli, name)
    assert item.__doc__
    if not inspect.isclass(item):
        assert undocumented(item) == set()
        assert "Returns" in sections(item)
        return
    told = sections(item)
    if dataclasses.is_dataclass(item):
        assert {field.name for field in dataclasses.fields(item)} - told.get("Attributes", set()) == set()
    else:
        assert {*inspect.signature(item.__init__).parameters} - {"self"} - told["Parameters"] == set()
    for method_name, method in methods(item):
        assert method.__doc__, method_name
        if inspect.isfunction(method):
            assert undocumented(method) == set(), method_name


def test_what_is_missing_is_seen() -> None:
    def told(a: int, b: int, *, c: int, **more: int) -> None:
        """Do.

        Parameters
        ----------
        a, b : int
            Numbers.
        **more
            Further ones.

        Returns
        -------
        c : int
        """

    assert undocumented(told) == {"c"}
    assert undocumented(lambda x: x) == {"x"}


@pytest.mark.skipif(find_spec("interrogate") is None, reason="interrogate is not installed (extra: docs)")
def test_every_public_name_of_the_package_has_a_docstring() -> None:
    # Thresholds and what does not count: [tool.interrogate] in pyproject.toml.
    done = subprocess.run(
        [sys.executable, "-m", "interrogate", "-v", "goalscli"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "minimum: 100.0%" in done.stdout
