"""The trait that genotype files bring along, and traits that look like codes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.genotypes.source import Samples
from goalscli.phenotypes import Table
from goalscli.runtime import LOG

_FIGURE = re.compile(r"[+-]?\.?[0-9]|[+-]?inf", re.IGNORECASE)
"""How what is meant as a number begins."""
_NO_TRAIT = frozenset({"na", "nan", ".", ""})


def own_trait(samples: Samples, files: Sequence[Path]) -> Table:
    """Make a table of the .fam's sixth column, or PHENO1 of a .psam.

    Parameters
    ----------
    samples : Samples
    files : sequence of Path
        The genotypes' own; the .fam or .psam among them is named in messages.

    Returns
    -------
    Table
        With the one column PHENO1, words replaced by NA.

    Raises
    ------
    InputError
        The genotypes hold no trait, or no sample has one.
    """
    path = next((f for f in files if f.suffix in (".fam", ".psam")), None)
    if path is None:
        raise InputError(
            "no trait: genotypes of this format hold none",
            where=next(iter(files), None),
            remedy="give a table of traits with --pheno",
        )
    what = "PHENO1" if path.suffix == ".psam" else "the sixth column"
    # Words there are commonly placeholders, not traits: PLINK reads them as missing too.
    words = [text for text in samples.phenotype if text.casefold() not in _NO_TRAIT and not _FIGURE.match(text)]
    if words:
        told = ", ".join(dict.fromkeys(words[:3]))
        LOG.warning("warning: %d words (%s) in %s of %s read as missing", len(words), told, what, path)
    cells = np.array([v if _FIGURE.match(v) else "NA" for v in samples.phenotype], dtype=object)
    if (cells == "NA").all():
        raise InputError(
            f"none of the {len(samples)} samples has a trait in {what}",
            where=path,
            remedy="give a table of traits with --pheno (a .psam may be one)",
        )
    lines = np.arange(1, len(samples) + 1)
    LOG.info("no --pheno: the trait is %s of %s", what, path)
    return Table(path=path, fid=samples.fid, iid=samples.iid, columns={"PHENO1": cells}, lines=lines)


def tell_of_codes(name: str, values: NDArray[np.float64]) -> None:
    """Say that a trait which looks like case and control is taken as numbers all the same.

    Parameters
    ----------
    name : str
    values : (n,) float64
        NaN where missing.
    """
    found = np.unique(values[~np.isnan(values)]).tolist()
    if len(found) == 2:
        LOG.info("trait %s has two values, %g and %g (case and control?): they are taken as numbers", name, *found)
    elif found == [0, 1, 2]:
        LOG.warning(
            "warning: trait %s has the values 0, 1 and 2, taken as numbers; where 0 is missing (PLINK's case and "
            "control), give --missing-code 0",
            name,
        )
