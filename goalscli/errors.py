"""What can go wrong by the user's hand: each error says what, where and what to do about it.

The command line prints one line and exits with ``exit_code``; from Python these are ordinary exceptions.
"""

from __future__ import annotations

from pathlib import Path


class GoalsError(Exception):
    """Base of all errors that the user can mend.

    Parameters
    ----------
    problem : str
        What is wrong, with the counts that show it.
    where : str or Path, optional
        The file (``file:line`` where there is a line), option, variant or sample at fault.
    remedy : str, optional
        What to do about it.
    """

    exit_code = 2

    def __init__(self, problem: str, *, where: str | Path | None = None, remedy: str | None = None) -> None:
        self.problem, self.where, self.remedy = problem, where, remedy
        text = problem if where is None else f"{where}: {problem}"
        super().__init__(text if remedy is None else f"{text}; {remedy}")


class InputError(GoalsError):
    """A file or table that cannot be read as what it should be."""


class SettingsError(GoalsError):
    """Options that do not exist, do not go together, or do not fit the data."""


class ResourceError(GoalsError):
    """More memory than there is."""


class OutputError(GoalsError):
    """A result that exists already, cannot be written, or belongs to another run."""
