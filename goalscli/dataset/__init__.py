"""The aligned data of one trait, how they are put together, and the one way to iterate over treated genotypes."""

from __future__ import annotations

from goalscli.dataset.aligned import BLOCK, Chunk, Dataset, RandomEffect, SampleTable, Treatment, VariantTable
from goalscli.dataset.assembly import assemble, make_dataset
from goalscli.dataset.columns import Columns, Selected

__all__ = [
    "BLOCK",
    "Chunk",
    "Columns",
    "Dataset",
    "RandomEffect",
    "SampleTable",
    "Selected",
    "Treatment",
    "VariantTable",
    "assemble",
    "make_dataset",
]
