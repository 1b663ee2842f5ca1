"""Trait, covariate and group tables, laid along the samples of a genotype file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, Problems, SettingsError
from goalscli.genotypes.source import Samples, Strings
from goalscli.jobs.own_trait import own_trait, tell_of_codes
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
from goalscli.runtime import LOG

TABLE_OF = {
    "covar_name": "covar",
    "cat_covar_name": "covar",
    "group_column": "groups",
    "family_column": "groups",
    "random_effect": "groups",
    "pheno_name": "pheno",
}
"""Which table an option names columns of."""

_NOBODY: Strings = np.empty(0, dtype=object)


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
        problems = Problems()
        for name, table in TABLE_OF.items():
            if getattr(self, name) is not None and getattr(self, table) is None:
                option, remedy = f"--{name.replace('_', '-')}", f"give the table with --{table}"
                problems.add([SettingsError(f"needs --{table} FILE", where=option, remedy=remedy)])
        with problems.catching():
            Missing(self.missing_code)
        problems.raise_any()

    @property
    def files(self) -> tuple[Path, ...]:
        """The tables' paths."""
        return tuple(Path(p) for p in dict.fromkeys((self.pheno, self.covar, self.groups)) if p is not None)

    @classmethod
    def usable(cls, given: Mapping[str, Any]) -> Tables:
        """Make what is left where columns of tables that are not given, or the missing code, are at fault."""
        named = {name: v for name, v in given.items() if name not in TABLE_OF or given[TABLE_OF[name]] is not None}
        try:
            return cls(**named)
        except SettingsError:
            return cls(**named | {"missing_code": None})


class TableReader:
    """Reads each table once and lays its columns along the samples of the genotype file.

    Each method goes on after an error and returns what it can; a caller that finds ``problems`` must not use it.

    Parameters
    ----------
    samples : Samples or None
        Without them the tables are read and checked all the same, each by itself.
    tables : Tables
    problems : Problems
        Takes the errors.
    """

    def __init__(self, samples: Samples | None, tables: Tables, problems: Problems) -> None:
        self.samples, self.tables, self.problems = samples, tables, problems
        self.missing = Missing(tables.missing_code)
        self._cache: dict[str, tuple[Table | None, Joined | None, Problems]] = {}

    def _table(self, path: str, option: str) -> tuple[Table, Joined] | None:
        """Read and match a table, once. What is wrong with it is noted at each use, so that no use passes for sound."""
        if path not in self._cache:
            table, joined, found = None, None, Problems()
            with found.catching():
                table = read_table(path, option=option, problems=found)
                joined = self._join(table, f"{option} {path}")
            self._cache[path] = table, joined, found
        table, joined, found = self._cache[path]
        self.problems.add(found.found)
        if table is None:
            return None
        # Not matched to genotypes, its columns can still be looked at.
        return table, joined or Joined(np.arange(len(table)), "", None)

    def matched(self, path: str | None) -> bool:
        """Whether the columns read of this table lie along the samples; True without a table."""
        return path is None or (path in self._cache and self._cache[path][1] is not None)

    def _join(self, table: Table, option: str) -> Joined | None:
        samples = self.samples
        if samples is None:
            return None
        joined = join(samples.fid, samples.iid, table, iid_only=self.tables.iid_only, option=option)
        n = int(np.count_nonzero(joined.rows >= 0))
        LOG.info("%s: %d of %d genotyped samples found, matched by %s", table.path, n, len(samples), joined.by)
        if joined.note:
            LOG.info("%s", joined.note)
        return joined

    def _select(self, table: Table, spec: str) -> list[str]:
        """Names of the columns meant, without those that are not there."""
        names: list[str] = []
        try:
            return select_columns(table, spec)
        except InputError as error:
            self.problems.add([error])
        for item in spec.split(","):
            with suppress(InputError):
                names += select_columns(table, item)
        return names

    def traits(self, files: Sequence[Path] = ()) -> list[tuple[str, NDArray[np.float64]]]:
        """Name and values of each trait; ``files`` are the genotypes' own, for messages."""
        path = self.tables.pheno
        if path is None:
            if self.samples is None:
                return []
            try:
                table, names = own_trait(self.samples, files), ["PHENO1"]
            except InputError as error:
                self.problems.add([error])
                return []
            rows = np.arange(len(self.samples))
        else:
            read = self._table(path, "--pheno")
            if read is None:
                return []
            table, rows = read[0], read[1].rows
            names = self._trait_names(table, path)
        out = []
        for name in names:
            with self.problems.catching():
                column = numeric(table, name, self.missing)
                if column.n_code:
                    code = self.tables.missing_code
                    LOG.warning(
                        "warning: %d values %s of %s read as missing (--missing-code)", column.n_code, code, name
                    )
                values = np.where(rows >= 0, column.values[rows], np.nan)
                tell_of_codes(name, values)
                out.append((name, values))
        return out

    def _trait_names(self, table: Table, path: str) -> list[str]:
        if self.tables.pheno_name is not None:
            return self._select(table, self.tables.pheno_name)
        names = list(table.columns)
        if len(names) == 1:
            return names
        text = f"{len(names)} trait columns: {', '.join(names[:20]) or 'none'}"
        remedy = "choose with --pheno-name" if names else "give the table a column with the trait"
        self.problems.add([InputError(text, where=f"--pheno {path}", remedy=remedy)])
        return []

    def covariates(self) -> list[Covariate]:
        """All covariates, the numeric ones first."""
        path = self.tables.covar
        read = None if path is None else self._table(path, "--covar")
        if read is None:
            return []
        table, joined = read
        spec, cat_spec = self.tables.covar_name, self.tables.cat_covar_name
        levels = self._select(table, cat_spec) if cat_spec else []
        numbers = self._select(table, spec) if spec else [] if cat_spec else list(table.columns)
        both = sorted(set(levels) & set(numbers))
        if both:
            text = f"{', '.join(both)} named in --covar-name and --cat-covar-name"
            self.problems.add([SettingsError(text, remedy="name each covariate once")])
        rows, known = joined.rows, joined.rows >= 0
        out = []
        for name in numbers:
            with self.problems.catching():
                column = numeric(table, name, self.missing)
                if column.n_code:
                    told = "warning: %d values of covariate %s read as missing (--missing-code)"
                    LOG.warning(told, column.n_code, name)
                out.append(Covariate(name, np.where(known, column.values[rows], np.nan), categorical=False))
        words = {name: joined.lay(categorical(table, name, self.missing)) for name in levels}
        return [*out, *(Covariate(name, values, categorical=True) for name, values in words.items())]

    def family(self) -> Strings:
        """Families for imputation."""
        column = self.tables.family_column
        if column is None:
            return _NOBODY if self.samples is None else self.samples.fid
        return self._labels(column, "--family-column")

    def group(self) -> Strings:
        """Groups for pictures."""
        column = self.tables.group_column
        return self.family() if column is None else self._labels(column, "--group-column")

    def random(self) -> Covariate | None:
        """Levels of the random effect."""
        spec = self.tables.random_effect
        return None if spec is None else self._column(spec, "--random-effect", self.missing)

    def unused(self) -> None:
        """Read --groups even where no column of it is named: its digest is stored, so it must be there and whole."""
        if self.tables.groups is not None:
            self._table(self.tables.groups, "--groups")

    def _labels(self, spec: str, option: str) -> Strings:
        column = self._column(spec, option, Missing(None))
        if column is None:
            return _NOBODY
        labels = column.values.astype(object)
        labels[labels == None] = ""  # noqa: E711 (elementwise)
        return labels

    def _column(self, spec: str, option: str, missing: Missing) -> Covariate | None:
        """Lay one column of --groups along the samples, None where missing."""
        assert self.tables.groups is not None  # Tables checks it
        read = self._table(self.tables.groups, "--groups")
        if read is None:
            return None
        table, joined = read
        names = self._select(table, spec)
        if len(names) > 1:
            remedy = "name one column of --groups"
            self.problems.add([SettingsError(f"{len(names)} columns named", where=option, remedy=remedy)])
        if len(names) != 1:
            return None
        return Covariate(names[0], joined.lay(categorical(table, names[0], missing)), categorical=True)
