"""From named files to an aligned dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from goalscli.dataset import Columns, Dataset, Treatment, assemble
from goalscli.errors import InputError, SettingsError
from goalscli.genotypes.joined import CHROM, expand, join_sources
from goalscli.genotypes.plink import open_plink
from goalscli.genotypes.source import GenotypeSource, Strings
from goalscli.phenotypes import (
    Covariate,
    Joined,
    Missing,
    Table,
    categorical,
    join,
    numeric,
    read_table,
    select_columns,
)
from goalscli.qc import Filters
from goalscli.runtime import LOG


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


@dataclass(frozen=True)
class Tables:
    """Which tables and columns describe the samples.

    Attributes
    ----------
    pheno : str, optional
        Phenotype table; the sixth .fam column where None.
    pheno_name : str, optional
        Trait column(s), comma-separated; may be left out where the table has one.
    covar, covar_name, cat_covar_name : str, optional
        Covariate table and its numeric and categorical columns ("age,PC1-PC10"); all columns, as numbers, where
        neither list is given.
    groups, group_column, family_column : str, optional
        Sample metadata; the column for pictures by group (default: the family) and the column for imputation
        (default: the FID).
    random_effect : str, optional
        A column of ``groups`` whose levels (cages, litters) are a random effect.
    missing_code : str, optional
        Read as missing in traits, covariates and the random effect beside NA, NaN, "." and empty; None keeps real -9.
    iid_only : bool
        Match tables on IID alone.
    """

    pheno: str | None = None
    pheno_name: str | None = None
    covar: str | None = None
    covar_name: str | None = None
    cat_covar_name: str | None = None
    groups: str | None = None
    group_column: str | None = None
    family_column: str | None = None
    random_effect: str | None = None
    missing_code: str | None = "-9"
    iid_only: bool = False

    def __post_init__(self) -> None:
        for option, value, needs, table in (
            ("--covar-name", self.covar_name, "--covar", self.covar),
            ("--cat-covar-name", self.cat_covar_name, "--covar", self.covar),
            ("--group-column", self.group_column, "--groups", self.groups),
            ("--family-column", self.family_column, "--groups", self.groups),
            ("--random-effect", self.random_effect, "--groups", self.groups),
            ("--pheno-name", self.pheno_name, "--pheno", self.pheno),
        ):
            if value is not None and table is None:
                raise SettingsError(f"needs {needs} FILE", where=option, remedy=f"give the table with {needs}")

    @property
    def files(self) -> tuple[Path, ...]:
        """The tables' paths."""
        return tuple(Path(p) for p in dict.fromkeys((self.pheno, self.covar, self.groups)) if p is not None)


def read_datasets(
    genotypes: GenotypeFiles,
    tables: Tables,
    filters: Filters = Filters(),  # noqa: B008 (frozen)
    treatment: Treatment = Treatment(),  # noqa: B008 (frozen)
    *,
    intercept: bool = True,
    check_samples: Callable[[int], None] = lambda n: None,
) -> list[Dataset]:
    """Read, join, filter and align: one dataset a trait.

    ``check_samples`` is told the greatest number of samples before genotypes are read, and may refuse it.

    Raises
    ------
    InputError
        A file is missing or malformed, a column unknown, nothing matches, or nothing is left.
    """
    source = genotypes.open()
    reader = _Reader(source, tables)
    covariates, family, group, random = reader.covariates(), reader.family(), reader.group(), reader.random()
    return [
        assemble(
            source,
            Columns(values, covariates, family, group, name, random),
            filters,
            treatment,
            intercept=intercept,
            check_samples=check_samples,
        )
        for name, values in reader.traits()
    ]


class _Reader:
    """Reads each table once and lays its columns along the samples of the genotype file."""

    def __init__(self, source: GenotypeSource, tables: Tables) -> None:
        self.source, self.tables = source, tables
        self.missing = Missing(tables.missing_code)
        self._cache: dict[str, tuple[Table, Joined]] = {}

    def _table(self, path: str, option: str) -> tuple[Table, Joined]:
        if path not in self._cache:
            table = read_table(path, option=option)
            samples = self.source.samples
            joined = join(samples.fid, samples.iid, table, iid_only=self.tables.iid_only, option=f"{option} {path}")
            n = int(np.count_nonzero(joined.rows >= 0))
            LOG.info("%s: %d of %d genotyped samples found, matched by %s", path, n, len(samples), joined.by)
            if joined.note:
                LOG.info("%s", joined.note)
            self._cache[path] = table, joined
        return self._cache[path]

    def traits(self) -> list[tuple[str, np.ndarray[tuple[int], np.dtype[np.float64]]]]:
        path = self.tables.pheno
        if path is None:
            table = _fam_table(self.source)
            names, rows = ["PHENO1"], np.arange(len(self.source.samples))
        else:
            table, joined = self._table(path, "--pheno")
            names, rows = self._trait_names(table, path), joined.rows
        out = []
        for name in names:
            column = numeric(table, name, self.missing)
            if column.n_code:
                code = self.tables.missing_code
                LOG.warning("warning: %d values %s of %s read as missing (--missing-code)", column.n_code, code, name)
            out.append((name, np.where(rows >= 0, column.values[rows], np.nan)))
        return out

    def _trait_names(self, table: Table, path: str) -> list[str]:
        if self.tables.pheno_name is not None:
            return select_columns(table, self.tables.pheno_name)
        names = list(table.columns)
        if len(names) != 1:
            listed = ", ".join(names[:20]) or "none"
            raise InputError(
                f"{len(names)} trait columns: {listed}",
                where=f"--pheno {path}",
                remedy="choose with --pheno-name",
            )
        return names

    def covariates(self) -> list[Covariate]:
        path = self.tables.covar
        if path is None:
            return []
        table, joined = self._table(path, "--covar")
        spec, cat_spec = self.tables.covar_name, self.tables.cat_covar_name
        levels = select_columns(table, cat_spec) if cat_spec else []
        numbers = select_columns(table, spec) if spec else [] if cat_spec else list(table.columns)
        both = sorted(set(levels) & set(numbers))
        if both:
            raise SettingsError(
                f"{', '.join(both)} named in --covar-name and --cat-covar-name",
                remedy="name each covariate once",
            )
        rows, known = joined.rows, joined.rows >= 0
        out = []
        for name in numbers:
            column = numeric(table, name, self.missing)
            if column.n_code:
                LOG.warning("warning: %d values of covariate %s read as missing (--missing-code)", column.n_code, name)
            out.append(Covariate(name, np.where(known, column.values[rows], np.nan), categorical=False))
        words = {name: joined.lay(categorical(table, name, self.missing)) for name in levels}
        return [*out, *(Covariate(name, values, categorical=True) for name, values in words.items())]

    def family(self) -> Strings:
        column = self.tables.family_column
        return self.source.samples.fid if column is None else self._labels(column, "--family-column")

    def group(self) -> Strings:
        column = self.tables.group_column
        return self.family() if column is None else self._labels(column, "--group-column")

    def random(self) -> Covariate | None:
        spec = self.tables.random_effect
        return None if spec is None else self._column(spec, "--random-effect", self.missing)

    def _labels(self, spec: str, option: str) -> Strings:
        labels = self._column(spec, option, Missing(None)).values.astype(object)
        labels[labels == None] = ""  # noqa: E711 (elementwise)
        return labels

    def _column(self, spec: str, option: str, missing: Missing) -> Covariate:
        """Lay one column of --groups along the samples, None where missing."""
        assert self.tables.groups is not None  # Tables checks it
        table, joined = self._table(self.tables.groups, "--groups")
        names = select_columns(table, spec)
        if len(names) != 1:
            raise SettingsError(f"{len(names)} columns named", where=option, remedy="name one column of --groups")
        return Covariate(names[0], joined.lay(categorical(table, names[0], missing)), categorical=True)


def _fam_table(source: GenotypeSource) -> Table:
    samples = source.samples
    path = next((f for f in source.files if f.suffix == ".fam"), Path("genotypes in memory"))
    # Words in the sixth .fam column are commonly placeholders, not traits: PLINK reads them as missing too.
    words = np.array([v if _is_number(v) else "NA" for v in samples.phenotype], dtype=object)
    lines = np.arange(1, len(samples) + 1)
    LOG.info("no --pheno: the trait is the sixth column of %s", path)
    return Table(path=path, fid=samples.fid, iid=samples.iid, columns={"PHENO1": words}, lines=lines)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_plink(
    prefix: str | Path,
    *,
    pheno: str | None = None,
    pheno_name: str | None = None,
    filters: Filters = Filters(),  # noqa: B008 (frozen)
    treatment: Treatment = Treatment(),  # noqa: B008 (frozen)
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
        Missingness and allele frequency thresholds.
    treatment : Treatment
        Imputation and scaling.
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
    datasets = read_datasets(GenotypeFiles(bfile=str(prefix)), described, filters, treatment, intercept=intercept)
    if len(datasets) != 1:
        raise SettingsError(f"{len(datasets)} traits named", where="pheno_name", remedy="name one")
    return datasets[0]


def output_prefixes(out: str, traits: Sequence[str]) -> list[str]:
    """PREFIX for one trait, PREFIX.TRAIT for several."""
    return [out] if len(traits) == 1 else [f"{out}.{trait}" for trait in traits]
