"""Scores of all variants: the one loop that streams chunks, and a scan in memory."""

from __future__ import annotations

from goalscli.scanning.local_request import LocalRequest
from goalscli.scanning.loop import auto_chunk_size, bind, finish, finish_columns, local_score, local_scores, stream
from goalscli.scanning.memory import ScanResult, scan

__all__ = [
    "LocalRequest",
    "ScanResult",
    "auto_chunk_size",
    "bind",
    "finish",
    "finish_columns",
    "local_score",
    "local_scores",
    "scan",
    "stream",
]
