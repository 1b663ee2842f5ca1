"""Tables under their final name only when whole."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pandas as pd

from goalscli.errors import OutputError, told


def write_table(table: pd.DataFrame, path: Path) -> Path:
    """Write a tab-separated table, floats in full and NA where empty; an existing file is replaced.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    partial = Path(f"{path}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(partial, sep="\t", index=False, na_rep="NA", lineterminator="\n")
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise OutputError(
            f"cannot be written ({told(error)})", where=path, remedy="make room there, or choose another prefix"
        ) from error
    return path
