"""Genotypes in several files, one a chromosome say: the same samples, the variants one file after another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.source import GenotypeSource, Samples, Variants

CHROM = "{chrom}"


@dataclass(frozen=True, eq=False)
class JoinedSource:
    """Several sources as one (see :class:`goalscli.genotypes.source.GenotypeSource`)."""

    parts: tuple[GenotypeSource, ...]

    @property
    def samples(self) -> Samples:
        """Samples of the first file, which are those of all."""
        return self.parts[0].samples

    @cached_property
    def variants(self) -> Variants:
        """Variants of all files."""
        tables = [part.variants for part in self.parts]
        return Variants(*(np.concatenate([getattr(t, n) for t in tables]) for n in ("chrom", "id", "pos", "a1", "a2")))

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of all parts."""
        return tuple(file for part in self.parts for file in part.files)

    @cached_property
    def _ends(self) -> NDArray[np.intp]:
        return np.cumsum([len(part.variants) for part in self.parts])

    def read(self, samples: NDArray[np.intp], variants: NDArray[np.intp]) -> NDArray[np.float32]:
        """Dosages (len(samples), len(variants)) float32, Fortran order, from whichever files hold them."""
        owner = np.searchsorted(self._ends, variants, side="right")
        if len(variants) and (owner == owner[0]).all():
            only: NDArray[np.float32] = self.parts[owner[0]].read(samples, variants - self._start(owner[0]))
            return only
        out = np.empty((len(samples), len(variants)), dtype=np.float32, order="F")
        for k in np.unique(owner):
            at = np.flatnonzero(owner == k)
            out[:, at] = self.parts[k].read(samples, variants[at] - self._start(k))
        return out

    def _start(self, part: int) -> int:
        return int(self._ends[part]) - len(self.parts[part].variants)

    def describe(self) -> dict[str, Any]:
        """What reopens each part."""
        return {"format": "joined", "parts": [part.describe() for part in self.parts]}


def join_sources(parts: Sequence[GenotypeSource]) -> GenotypeSource:
    """Put sources one after another; a single one is returned as it is.

    Raises
    ------
    InputError
        Samples differ, or are in another order.
    """
    first = parts[0]
    for part in parts[1:]:
        same = np.array_equal(part.samples.fid, first.samples.fid) and np.array_equal(
            part.samples.iid, first.samples.iid
        )
        if not same:
            raise InputError(
                f"{len(part.samples)} samples, not those of {first.files[0]} ({len(first.samples)}) in the same order",
                where=part.files[0],
                remedy="give files of the same samples, e.g. made from one file by plink2 --chr",
            )
    return first if len(parts) == 1 else JoinedSource(tuple(parts))


def expand(text: str, suffix: str, option: str) -> list[tuple[str, str]]:
    """Names that a list ("a,b") or a pattern ("chr{chrom}") stands for, each with its chromosome ("" in a list).

    Parameters
    ----------
    text : str
        What was given: one name, several with commas between, or one with {chrom} in it.
    suffix : str
        What the files' names go on with (".bed" where prefixes are given, "" for files).
    option : str
        Named in errors.

    Raises
    ------
    InputError
        No file fits the pattern.
    """
    if CHROM not in text:
        # A file whose name has a comma is itself.
        names = [text] if Path(text + suffix).exists() else [name.strip() for name in text.split(",") if name.strip()]
        return [(name, "") for name in names]
    folder = Path(text).parent
    shape = re.compile("(.+)".join(re.escape(piece) for piece in (Path(text).name + suffix).split(CHROM)))
    found = [m[1] for entry in folder.glob("*") if (m := shape.fullmatch(entry.name)) and len(set(m.groups())) == 1]
    if not found:
        raise InputError(
            f"no file {text}{suffix} for any chromosome", where=option, remedy="check the folder and the pattern"
        )
    ordered = sorted(found, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name))
    return [(text.replace(CHROM, name), name) for name in ordered]
