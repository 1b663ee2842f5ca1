"""Genotype readers: one module a format, all behind :class:`~goalscli.genotypes.source.GenotypeSource`."""

from __future__ import annotations

from typing import Any

from goalscli.genotypes.source import GenotypeSource, Samples, Variants

__all__ = ["GenotypeSource", "Samples", "Variants", "reopen"]


def reopen(description: dict[str, Any], override: str | None = None) -> GenotypeSource:
    """Open again what :meth:`GenotypeSource.describe` told of.

    Parameters
    ----------
    description : dict
        The format's name and its paths.
    override : str, optional
        For data that has moved: a prefix (PLINK 1, PLINK 2) or a file (BGEN, BIMBAM) to read instead, of the same
        format. Companions of a moved file are looked for beside it under their own names, then where they were.

    Raises
    ------
    InputError
        A file is missing, or the description is of data in memory.
    """
    from goalscli.errors import InputError
    from goalscli.genotypes import bgen, bimbam, pgen, plink
    from goalscli.genotypes.common import moved
    from goalscli.genotypes.joined import expand, join_sources

    def companion(name: str) -> str | None:
        old = description.get(name)
        return old if old is None or override is None else str(moved(old, override))

    kind = description.get("format")
    if kind == "joined":
        first = description["parts"][0]["format"]
        suffix = {"plink": ".bed", "pgen": ".pgen"}.get(first, "")
        moved_to = [None] * len(description["parts"]) if override is None else expand(override, suffix, "genotypes")
        if len(moved_to) != len(description["parts"]):
            raise InputError(
                f"{override} stands for {len(moved_to)} files, but the model was fitted on {len(description['parts'])}",
                remedy="give as many, as a list or with {chrom}",
            )
        pairs = zip(description["parts"], moved_to, strict=True)
        return join_sources([reopen(part, None if place is None else place[0]) for part, place in pairs])
    if kind == "bgen":
        main = description["bgen"] if override is None else override
        return bgen.open_bgen(main, sample=companion("sample"), ref_first=bool(description["ref_first"]))
    if kind == "bimbam":
        main = description["geno"] if override is None else override
        return bimbam.open_bimbam(main, anno=companion("anno"), samples=companion("sample"))
    if kind == "pgen":
        if override is not None:
            return pgen.open_pgen(override)
        return pgen.open_pgen(pgen=description["pgen"], pvar=description["pvar"], psam=description["psam"])
    if override is not None:
        return plink.open_plink(override)
    if kind != "plink":
        raise InputError(
            "this model was fitted on genotypes in memory",
            remedy="score it in the same Python session, or fit from files",
        )
    return plink.open_plink(bed=description["bed"], bim=description["bim"], fam=description["fam"])
