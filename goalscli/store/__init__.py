"""HDF5 files: named arrays filled by runs of variants, atomic finish, resume. Knows no model and no score.

A file lives under PATH.partial until :meth:`Writer.finish` renames it. Columns are contiguous and allocated when made,
so that filling them changes no HDF5 metadata: after a SIGKILL the file opens, and what was marked done is there.
"""

from __future__ import annotations

from goalscli.store.files import atomic, partial_path, refuse_existing
from goalscli.store.reading import check_equal, opened, read_attributes, strings
from goalscli.store.writer import DONE, Writer, resumable, runs

__all__ = [
    "DONE",
    "Writer",
    "atomic",
    "check_equal",
    "opened",
    "partial_path",
    "read_attributes",
    "refuse_existing",
    "resumable",
    "runs",
    "strings",
]
