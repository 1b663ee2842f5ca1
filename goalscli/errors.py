"""What can go wrong by the user's hand: each error says what, where and what to do about it.

The command line prints one line and exits with ``exit_code``; from Python these are ordinary exceptions.
"""

from __future__ import annotations

import errno
import os
import re
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
