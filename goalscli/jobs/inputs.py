"""From named files to an aligned dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from goalscli.dataset import Columns, Dataset, Treatment, assemble
from goalscli.errors import InputError, Problems, SettingsError
from goalscli.genotypes.joined import CHROM, expand, join_sources
from goalscli.genotypes.plink import open_plink
from goalscli.genotypes.source import GenotypeSource
from goalscli.jobs.sample_tables import TableReader, Tables
from goalscli.jobs.selection import Selection, select
from goalscli.qc import Filters

__all__ = ["GenotypeFiles", "Selection", "Tables", "output_prefixes", "read_datasets", "read_plink"]


@dataclass(frozen=True)
class GenotypeFiles:
    """One genotype data set, in exactly one format.

    ``bfile``, ``pfile``, ``bgen`` and ``bimbam`` may also be lists ("a,b") or have {chrom} in their names, for data
    split by chromosome; all files must have the same samples.

    Attributes
    ----------
    bfile, bed, bim, fam : str, optional
        A PLINK 1 fileset: a prefix, or its three files singly.
    bgen : str, optional
        A BGEN file.
    sample : str, optional
        The .sample file of a BGEN, or the list of IDs of a BIMBAM file.
    ref_first : bool
        The first allele of a BGEN variant is the reference and the second is counted.
    pfile, pgen, pvar, psam : str, optional
        A PLINK 2 fileset: a prefix, or its three files singly.
    bimbam, anno : str, optional
        A BIMBAM mean genotype file and its SNP annotation.
    """

    bfile: str | None = None
    bed: str | None = None
    bim: str | None = None
    fam: str | None = None
    bgen: str | None = None
    sample: str | None = None
    ref_first: bool = False
    pfile: str | None = None
    pgen: str | None = None
    pvar: str | None = None
    psam: str | None = None
    bimbam: str | None = None
    anno: str | None = None

    def open(self) -> GenotypeSource:
        """Open and check the files.

        Raises
        ------
        SettingsError
            No format named, or several, or an option of another format.
        InputError
            As the readers.
        """
        kinds = {
            name: [option for option in options if getattr(self, option) is not None]
            for name, options in (
                ("plink", ("bfile", "bed", "bim", "fam")),
                ("pgen", ("pfile", "pgen", "pvar", "psam")),
                ("bgen", ("bgen",)),
                ("bimbam", ("bimbam",)),
            )
        }
        named = [name for name, options in kinds.items() if options]
        if len(named) != 1:
            given = ", ".join(f"--{option}" for name in named for option in kinds[name])
            raise SettingsError(
                f"{len(named)} genotype data sets named ({given})" if named else "no genotypes named",
                remedy="give one of --bfile PREFIX, --bgen FILE, --pfile PREFIX or --bimbam FILE",
            )
        for option, present, owners in (
            ("--sample", self.sample is not None, ("bgen", "bimbam")),
            ("--ref-first", self.ref_first, ("bgen",)),
            ("--anno", self.anno is not None, ("bimbam",)),
        ):
            if present and named[0] not in owners:
                wanted = " or ".join(f"--{owner}" for owner in owners)
                raise SettingsError(f"goes with {wanted} only", where=option, remedy=f"leave {option} out")
        return self._open(named[0])

    def _open(self, kind: str) -> GenotypeSource:
        """Open each file of a list or pattern; companions (.sample, annotation) may have {chrom} in their names too."""
        option, suffix = {
            "plink": ("bfile", ".bed"), "pgen": ("pfile", ".pgen"), "bgen": ("bgen", ""), "bimbam": ("bimbam", ""),
        }[kind]  # fmt: skip
        text = getattr(self, option)
        if text is None:
            return self._open_one(kind)
        names = expand(text, suffix, f"--{option}")
        if len(names) == 1 and names[0][0] == text:
            return self._open_one(kind)
        companions = {name: value for name in ("sample", "anno") if (value := getattr(self, name)) is not None}
        parts = []
        for name, chrom in names:
            changes: dict[str, Any] = {option: name, **{k: v.replace(CHROM, chrom) for k, v in companions.items()}}
            parts.append(replace(self, **changes)._open_one(kind))
        return join_sources(parts)

    def _open_one(self, kind: str) -> GenotypeSource:
        if kind == "bgen":
            from goalscli.genotypes.bgen import open_bgen

            assert self.bgen is not None
            return open_bgen(self.bgen, sample=self.sample, ref_first=self.ref_first)
        if kind == "bimbam":
            from goalscli.genotypes.bimbam import open_bimbam

            assert self.bimbam is not None
            return open_bimbam(self.bimbam, anno=self.anno, samples=self.sample)
        if kind == "pgen":
            from goalscli.genotypes.pgen import open_pgen

            return open_pgen(self.pfile, pgen=self.pgen, pvar=self.pvar, psam=self.psam)
        return open_plink(self.bfile, bed=self.bed, bim=self.bim, fam=self.fam)


def read_datasets(
    genotypes: GenotypeFiles,
    tables: Tables,
    filters: Filters = Filters(),  # noqa: B008 (frozen)
    treatment: Treatment = Treatment(),  # noqa: B008 (frozen)
    *,
    selection: Selection = Selection(),  # noqa: B008 (frozen)
    intercept: bool = True,
    check_samples: Callable[[int], None] = lambda n: None,
) -> list[Dataset]:
    """Read, join, filter and align: one dataset a trait.

    ``check_samples`` is told the greatest number of samples before genotypes are read, and may refuse it.

    Raises
    ------
    InputError
        A file is missing or malformed, a column unknown, nothing matches, or nothing is left. What else is wrong with
        the lists and tables is in its ``others``.
    """
    source, problems = genotypes.open(), Problems()
    selected = select(source, selection, problems, iid_only=tables.iid_only)
    reader = TableReader(source.samples, tables, problems)
    covariates, family, group, random = reader.covariates(), reader.family(), reader.group(), reader.random()
    traits = reader.traits(source.files)
    reader.unused()
    problems.raise_any()
    return [
        assemble(
            source,
            Columns(values, covariates, family, group, name, random),
            filters,
            treatment,
            intercept=intercept,
            check_samples=check_samples,
            selected=selected,
        )
        for name, values in traits
    ]


def read_plink(
    prefix: str | Path,
    *,
    pheno: str | None = None,
    pheno_name: str | None = None,
    filters: Filters = Filters(),  # noqa: B008 (frozen)
    treatment: Treatment = Treatment(),  # noqa: B008 (frozen)
    selection: Selection = Selection(),  # noqa: B008 (frozen)
    intercept: bool = True,
    **tables: str | bool | None,
) -> Dataset:
    """Read a PLINK fileset and one trait.

    Parameters
    ----------
    prefix : str or Path
        PREFIX.bed, PREFIX.bim, PREFIX.fam.
    pheno, pheno_name : str, optional
        Phenotype table and column; the sixth .fam column where no table is given.
    filters : Filters
        Missingness, allele frequency and Hardy–Weinberg thresholds.
    treatment : Treatment
        Imputation, scaling, the trait's transform.
    selection : Selection
        Lists of samples and variants, chromosomes, a range of positions.
    intercept : bool
        Fit a mean.
    **tables
        Further fields of :class:`Tables`: ``covar``, ``covar_name``, ``cat_covar_name``, ``groups``,
        ``group_column``, ``family_column``, ``random_effect``, ``missing_code``, ``iid_only``.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError, SettingsError
        As :func:`read_datasets`; more than one trait named.
    """
    described = Tables(pheno=pheno, pheno_name=pheno_name, **tables)  # type: ignore[arg-type]
    files = GenotypeFiles(bfile=str(prefix))
    datasets = read_datasets(files, described, filters, treatment, selection=selection, intercept=intercept)
    if len(datasets) != 1:
        raise SettingsError(f"{len(datasets)} traits named", where="pheno_name", remedy="name one")
    return datasets[0]


def output_prefixes(out: str, traits: Sequence[str]) -> list[str]:
    """PREFIX for one trait, PREFIX.TRAIT for several.

    Raises
    ------
    InputError
        Of several traits, one's name cannot be part of a file's.
    """
    if len(traits) > 1 and (odd := [trait for trait in traits if "/" in trait or "\\" in trait]):
        raise InputError(
            f"trait {odd[0]!r} cannot be part of the name of a file",
            where="--pheno-name",
            remedy="rename the column, or give the trait alone",
        )
    return [out] if len(traits) == 1 else [f"{out}.{trait}" for trait in traits]
