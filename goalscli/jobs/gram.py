"""``goals gram``: the Gram matrix in parts, each over some of the variants, for ``goals fit --gram`` to sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset
from goalscli.errors import InputError
from goalscli.jobs.features import identity
from goalscli.jobs.fit import FitRequest
from goalscli.jobs.inputs import output_prefixes
from goalscli.jobs.scan_request import Part
from goalscli.provenance import provenance
from goalscli.runtime import LOG, cpu_limit
from goalscli.store import Writer, opened, read_attributes, refuse_existing

KIND = "goalscli-gram"


def gram(
    request: FitRequest, part: Part, out: str, *, overwrite: bool = False, threads: int | None = None
) -> list[Path]:
    """Accumulate the distances (or inner products) of one part of the variants.

    Parameters
    ----------
    request : FitRequest
        That of the fit. Quality control reads all genotypes, as the fit does.
    part : Part
    out : str
        PREFIX; for several traits PREFIX.TRAIT.
    overwrite : bool
        Replace results that exist.
    threads : int, optional
        Recorded.

    Returns
    -------
    list of Path
        PREFIX.gram-K-of-N.h5, one a trait.
    """
    datasets = request.datasets()
    prefixes = output_prefixes(out, [dataset.trait for dataset in datasets])
    paths = [Path(f"{prefix}.gram-{part.number}-of-{part.count}.h5") for prefix in prefixes]
    refuse_existing(paths, overwrite)
    for dataset, path in zip(datasets, paths, strict=True):
        _one(request, dataset, part, path, threads or cpu_limit())
    return paths


def _one(request: FitRequest, dataset: Dataset, part: Part, path: Path, threads: int) -> None:
    rows = part.rows(dataset.n_variants)
    index = np.arange(rows.start, rows.stop)
    base = request.model.base(dataset, index)
    attributes = {
        "kernel": request.model.kernel,
        "identity": identity(dataset),
        "trait": dataset.trait,
        "part": part.number,
        "parts": part.count,
        "first_variant": rows.start,
        "all_variants": dataset.n_variants,
        "provenance": provenance(request.settings(), dataset.source.describe(), threads),
    }
    writer = Writer.create(path, KIND, attributes)
    try:
        with writer:
            writer.add("base", base, "what the kernel rests on, summed over the variants of this part", "1")
            writer.finish()
    finally:
        path.with_name(path.name + ".partial").unlink(missing_ok=True)
    LOG.info("wrote %s", path)


@dataclass(frozen=True)
class _Part:
    path: Path
    attributes: dict[str, Any]


class GramParts:
    """Files of ``goals gram``, of one trait or several.

    Parameters
    ----------
    patterns : sequence of str
        Files, or patterns with *.

    Raises
    ------
    InputError
        No file fits, or one is not of ``goals gram``.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        names: dict[str, None] = {}
        for pattern in patterns:
            found = [pattern] if Path(pattern).exists() else sorted(glob(pattern))
            if not found:
                raise InputError(f"{pattern}: no such file", where="--gram", remedy="run goals gram --part K/N first")
            names |= dict.fromkeys(found)
        self.parts = []
        for name in names:
            with opened(name, KIND) as file:
                self.parts.append(_Part(Path(name), read_attributes(file)))

    def base(self, dataset: Dataset, kernel_name: str) -> NDArray[np.float64]:
        """Sum the parts that belong to a dataset, in their order, (N, N) float64, Fortran order.

        Raises
        ------
        InputError
            A part is missing, given twice, or of another kernel; or none is of this dataset.
        """
        wanted = identity(dataset)
        mine = sorted((p for p in self.parts if p.attributes["identity"] == wanted), key=lambda p: p.attributes["part"])
        if not mine:
            raise InputError(
                f"none of {len(self.parts)} file(s) is of these samples and variants of {dataset.trait}",
                where=f"--gram {self.parts[0].path}",
                remedy="give goals gram and goals fit the same genotypes, tables, filters and treatment",
            )
        # Traits of the same samples have the same matrix: one trait's files will do, its own where they are given.
        traits = [part.attributes["trait"] for part in mine]
        chosen = dataset.trait if dataset.trait in traits else traits[0]
        mine = [part for part in mine if part.attributes["trait"] == chosen]
        _check(mine, kernel_name)
        total: NDArray[np.float64] | None = None
        for part in mine:
            with opened(part.path, KIND) as file:
                base = file["base"][:].T
            total = base if total is None else np.add(total, base, out=total)
        assert total is not None
        return total


def _check(parts: Sequence[_Part], kernel_name: str) -> None:
    count = parts[0].attributes["parts"]
    seen: dict[int, Path] = {}
    for part in parts:
        told = part.attributes
        if told["kernel"] != kernel_name or told["parts"] != count:
            what = f"{told['kernel']} kernel, {told['parts']} parts; {kernel_name} kernel, {count} parts wanted"
            raise InputError(what, where=part.path, remedy="leave it out, or make it again")
        if told["part"] in seen:
            raise InputError(
                f"is part {told['part']}, as is {seen[told['part']]}", where=part.path, remedy="give each part once"
            )
        seen[told["part"]] = part.path
    missing = [k for k in range(1, count + 1) if k not in seen]
    if missing:
        raise InputError(
            f"{len(missing)} of {count} parts missing: {', '.join(map(str, missing[:10]))}",
            where=parts[0].path.parent,
            remedy=f"run goals gram --part K/{count} for each of them",
        )
