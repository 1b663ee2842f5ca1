"""Where a result comes from: software, parameters, environment and the digests of its inputs."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from goalscli import __version__

_WHOLE = 256 * 1024**2
_PIECE = 1024**2
_PIECES = 64


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file's size and content.

    Files above 256 MiB are read in 64 evenly spaced pieces of 1 MiB (first and last bytes included), so that a
    biobank's genotypes are recognised in seconds; a change elsewhere in such a file that keeps its size goes unseen.
    """
    size = os.path.getsize(path)
    digest = hashlib.sha256(str(size).encode())
    with open(path, "rb") as handle:
        if size <= _WHOLE:
            while block := handle.read(_PIECE):
                digest.update(block)
        else:
            for piece in range(_PIECES):
                handle.seek((size - _PIECE) * piece // (_PIECES - 1))
                digest.update(handle.read(_PIECE))
    return digest.hexdigest()


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Map each file's suffix (bed, bim, fam) to its digest; a suffix that came before gets a number (txt, txt.2)."""
    seen: Counter[str] = Counter()
    out = {}
    for path in paths:
        suffix = path.suffix.lstrip(".")
        seen[suffix] += 1
        out[suffix if seen[suffix] == 1 else f"{suffix}.{seen[suffix]}"] = file_digest(path)
    return out


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, the same for equal settings."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def provenance(parameters: Mapping[str, Any], inputs: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """Return the record stored in every file we write.

    Parameters
    ----------
    parameters : mapping
        The settings of the run.
    inputs : mapping
        Paths and digests of what was read.
    threads : int
        Threads in use.
    """
    packages = {}
    for name in ("numpy", "scipy", "pandas", "h5py", "bed-reader", "bgen"):
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = "unknown"
    return {
        "schema": 1,
        "software": {"name": "goalscli", "version": __version__},
        "parameters": dict(parameters),
        "inputs": dict(inputs),
        "environment": {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "packages": packages,
            "threads": threads,
            "blas": sorted({_library(found) for found in threadpool_info() if found["user_api"] == "blas"}),
        },
        "command": " ".join(sys.argv),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _library(found: Mapping[str, Any]) -> str:
    """Name, version and processor type of a BLAS: what decides the last bits of a product."""
    return " ".join(str(found.get(name) or "unknown") for name in ("internal_api", "version", "architecture"))
