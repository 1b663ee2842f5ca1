"""Options of pictures that do or do not go together."""

from __future__ import annotations

from typing import Any

import click

from goalscli.errors import SettingsError


def refuse_given(names: tuple[str, ...], other: str) -> None:
    """Refuse options that the user gave and that mean nothing beside another.

    Raises
    ------
    SettingsError
        The first of them.
    """
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            raise SettingsError(f"means nothing with {other}", where=option, remedy="leave one of them out")


def together(given: dict[str, Any], one: str, other: str) -> None:
    """Refuse one of two options without the other.

    Raises
    ------
    SettingsError
        Which is missing.
    """
    for this, that in ((one, other), (other, one)):
        if given[this] is not None and given[that] is None:
            raise SettingsError(f"needs --{that}", where=f"--{this}", remedy=f"give --{that} as well")
