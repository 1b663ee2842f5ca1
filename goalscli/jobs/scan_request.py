"""What a scan is asked for, and how it is to be carried out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from goalscli.dataset import Dataset
from goalscli.errors import SettingsError
from goalscli.jobs.scores_file import KIND, PART_KIND
from goalscli.jobs.variants import find_variants, read_ids
from goalscli.scanning import LocalRequest
from goalscli.scores.goals import Goals


@dataclass(frozen=True)
class Part:
    """One of several parts of a scan, for array jobs.

    Attributes
    ----------
    number, count : int
        Part ``number`` of ``count``, from 1.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise SettingsError(f"no part {self.number} of {self.count}", where="--part", remedy="give 1/N … N/N")

    def rows(self, n_variants: int) -> slice:
        """Rows of the variant table; sizes of parts differ by 1 at most."""
        if self.count > n_variants:
            raise SettingsError(
                f"{self.count} parts of {n_variants} variants", where="--part", remedy="cut into fewer parts"
            )
        cuts = [n_variants * k // self.count for k in (self.number - 1, self.number)]
        return slice(*cuts)

    @property
    def suffix(self) -> str:
        """What stands between PREFIX and .h5."""
        return f"part-{self.number}-of-{self.count}"


@dataclass(frozen=True)
class ScanRequest:
    """Everything that determines a scan of a given model.

    Attributes
    ----------
    scores : tuple
        Score settings, e.g. ``(Goals(),)``.
    local : str
        "none", "top:K", "all" or a file of variant IDs: whose local scores are kept.
    precision : "single" or "double"
        Of the matrix products.
    part : Part, optional
        Score this part of the variants only, to be merged.
    """

    scores: tuple[Any, ...] = (Goals(),)
    local: str = "top:100"
    precision: Literal["single", "double"] = "single"
    part: Part | None = None

    @property
    def kind(self) -> str:
        """Format of the file that is written."""
        return KIND if self.part is None else PART_KIND

    def path(self, prefix: str) -> Path:
        """Name of the file that is written."""
        return Path(f"{prefix}.{'scores' if self.part is None else self.part.suffix}.h5")


@dataclass(frozen=True)
class ScanRun:
    """How a scan is carried out; none of it changes a bit of the result."""

    genotypes: str | None = None
    chunk_size: int | None = None
    threads: int | None = None
    memory_gb: float | None = None
    overwrite: bool = False
    resume: bool = False

    def __post_init__(self) -> None:
        if self.chunk_size is not None and self.chunk_size < 1:
            raise SettingsError(f"{self.chunk_size} variants a chunk", where="--chunk-size", remedy="give 1 or more")


def parse_local(text: str, dataset: Dataset) -> LocalRequest:
    """Turn none, top:K, all or a file of variant IDs into a request.

    Raises
    ------
    SettingsError
        None of these.
    InputError
        An ID of the file is not among the analysed variants.
    """
    if text == "none":
        return LocalRequest()
    if text == "all":
        return LocalRequest(everything=True)
    if text.startswith("top:"):
        count = text[4:]
        if not count.isdigit() or int(count) < 1:
            raise SettingsError(f"{text!r} is no number of variants", where="--local", remedy="give e.g. top:100")
        return LocalRequest(top=min(int(count), dataset.n_variants))
    path = Path(text)
    where = f"--local {path}"
    if not path.is_file():
        raise SettingsError(
            f"{text!r} is neither none, top:K, all nor a file",
            where="--local",
            remedy="give a file with one variant ID a line",
        )
    return LocalRequest(named=find_variants(dataset.variants.id, read_ids(path, where), where))
