"""Genotype readers: one module a format, all behind :class:`~goalscli.genotypes.source.GenotypeSource`."""

from __future__ import annotations

from goalscli.genotypes.source import GenotypeSource, Samples, Variants

__all__ = ["GenotypeSource", "Samples", "Variants", "reopen"]


def reopen(description: dict[str, str], override: str | None = None) -> GenotypeSource:
    """Open again what :meth:`GenotypeSource.describe` told of.

    Parameters
    ----------
    description : dict
        The format's name and its paths.
    override : str, optional
        A PLINK prefix to read instead, for data that has moved.

    Raises
    ------
    InputError
        A file is missing, or the description is of data in memory.
    """
    from goalscli.errors import InputError
    from goalscli.genotypes import plink

    if override is not None:
        return plink.open_plink(override)
    if description.get("format") != "plink":
        raise InputError(
            "this model was fitted on genotypes in memory",
            remedy="score it in the same Python session, or fit from files",
        )
    return plink.open_plink(bed=description["bed"], bim=description["bim"], fam=description["fam"])
