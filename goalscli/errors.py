"""What can go wrong by the user's hand: each error says what, where and what to do about it.

The command line prints one line and exits with ``exit_code``; from Python these are ordinary exceptions.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

LISTED = 20
"""Bad lines of one file that are told one by one; of the rest the number."""


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

    Attributes
    ----------
    others : tuple of GoalsError
        Further errors of the same input, found in the same go.
    """

    exit_code = 2
    others: tuple[GoalsError, ...] = ()

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


class Problems:
    """Gathers the errors of steps that can go on without each other, each told once.

    Parameters
    ----------
    limit : int, optional
        Errors kept; those beyond are only counted.

    Attributes
    ----------
    found : list of GoalsError
    n : int
        How often something was noted, repeats and what is beyond the limit included.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.found: list[GoalsError] = []
        self.n = 0
        self._told: set[str] = set()

    def add(self, errors: Iterable[GoalsError]) -> None:
        """Note errors and those that they bring along."""
        for error in (each for one in errors for each in (one, *one.others)):
            self.n += 1
            if (self.limit is None or len(self.found) < self.limit) and str(error) not in self._told:
                self._told.add(str(error))
                self.found.append(error)

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Note an error raised inside, and go on after the block."""
        try:
            yield
        except GoalsError as error:
            self.add([error])

    def attempt(self, step: Callable[[], T]) -> T | None:
        """Return what the step returns; None where anything was noted during it."""
        before, value = self.n, None
        with self.catching():
            value = step()
        return value if self.n == before else None

    def raise_any(self, where: str | Path | None = None) -> None:
        """Raise the first error, which carries the others; nothing where there is none."""
        if not self.found:
            return
        first, *others = self.found
        if self.n > len(self.found) and self.limit is not None:
            text = f"{self.n} such lines, of which {len(self.found)} are listed"
            others.append(InputError(text, where=where, remedy="mend all of them"))
        first.others = tuple(others)
        raise first


def is_locked(error: Exception) -> bool:
    """Whether HDF5 could not lock a file: another process has it open, or its file system knows no locks."""
    return "unable to lock file" in str(error)


def told(error: Exception) -> str:
    """Say in one line what the system said; HDF5 hides a full disk or a lock in several.

    Parameters
    ----------
    error : Exception
        An OSError, or what h5py raises in its place.
    """
    text = str(error)
    if "errno = 28" in text or getattr(error, "errno", None) == errno.ENOSPC:
        return "no space left on the device"
    if is_locked(error):
        number = int(found[1]) if (found := re.search(r"errno = (\d+)", text)) else 0
        # These two are what flock says of a file that another process holds; the rest is said of the file system.
        if number in (errno.EAGAIN, errno.EACCES):
            return "another process has locked it"
        return f"its file system does not lock files: {os.strerror(number)}"
    return getattr(error, "strerror", None) or text.splitlines()[0]


def mended(error: Exception, otherwise: str) -> str:
    """Return the remedy of a file that cannot be opened or written: locks get lost or stuck on network file systems."""
    if not is_locked(error):
        return otherwise
    return (
        "wait for another goals that has it open; if there is none, set HDF5_USE_FILE_LOCKING=FALSE "
        "in the environment, or use a folder on another disk"
    )
