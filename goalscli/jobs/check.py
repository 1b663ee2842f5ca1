"""``goals check``: everything that is wrong with the inputs of a fit, and the counts that it would use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from goalscli.dataset import Columns, Dataset, Selected, assemble
from goalscli.errors import GoalsError, Problems
from goalscli.genotypes.source import GenotypeSource
from goalscli.jobs.fit import FitRequest
from goalscli.jobs.inputs import output_prefixes
from goalscli.jobs.sample_tables import TableReader
from goalscli.jobs.selection import read_lists, select
from goalscli.phenotypes.covariates import INTERCEPT
from goalscli.runtime import memory_limit

_GIB = 1024**3


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes
    ----------
    problems : tuple of GoalsError
        None where the fit would run.
    facts : tuple of str
        Lines that tell what the fit would use.
    """

    problems: tuple[GoalsError, ...]
    facts: tuple[str, ...]

    def text(self) -> str:
        """Facts, then one line a problem."""
        if not self.problems:
            return "\n".join([*self.facts, "", "nothing wrong: goals fit would run"])
        return "\n".join([*self.facts, "", f"{len(self.problems)} problem(s):", *map(_line, self.problems)])


def check(request: FitRequest, problems: Problems | None = None) -> Report:
    """Open all that a fit would open, and note each problem; nothing is written.

    Parameters
    ----------
    request : FitRequest
    problems : Problems, optional
        What was already found wrong with the options.

    Returns
    -------
    Report
    """
    problems = Problems() if problems is None else problems
    facts: list[str] = []
    source = problems.attempt(request.genotypes.open)
    if source is None:
        read_lists(request.selection, problems)
        _read(TableReader(None, request.tables, problems), None)
        return Report(tuple(problems.found), ("the genotypes cannot be opened: tables and lists checked without them",))
    facts.append(_genotypes(source))
    told = problems.n
    selected = select(source, request.selection, problems, iid_only=request.tables.iid_only)
    lists_sound = problems.n == told
    traits = _read(TableReader(source.samples, request.tables, problems), source)
    sound = not problems.found
    # What faulty lists leave is unknown: filters would be tried on other samples and variants.
    if lists_sound:
        for columns in traits:
            _try(request, source, columns, selected, problems, facts, whole=sound)
    return Report(tuple(problems.found), tuple(facts))


def _read(reader: TableReader, source: GenotypeSource | None) -> list[Columns]:
    """Read all columns, and return those of each trait that can be assembled, faulty covariates and groups left out."""
    noting = reader.problems
    covariates = noting.attempt(reader.covariates)
    family, group = noting.attempt(reader.family), noting.attempt(reader.group)
    random = noting.attempt(reader.random)
    traits = reader.traits(() if source is None else source.files)
    with noting.catching():
        output_prefixes("", [name for name, _ in traits])
    reader.unused()
    if source is None or not reader.matched(reader.tables.pheno):
        return []
    fid = source.samples.fid
    family = fid if family is None else family
    group = family if group is None else group
    return [Columns(values, covariates or [], family, group, name, random) for name, values in traits]


def _try(
    request: FitRequest,
    source: GenotypeSource,
    columns: Columns,
    selected: Selected,
    problems: Problems,
    facts: list[str],
    *,
    whole: bool,
) -> None:
    """Filter and align one trait; after a problem (``whole`` False) the counts are not the fit's own."""

    def fits(n: int) -> None:
        # Filtering takes little memory, so it goes on.
        if whole:
            with problems.catching():
                request.model.check_memory(n)

    with problems.catching():
        dataset = assemble(
            source,
            columns,
            request.filters,
            request.treatment,
            intercept=request.intercept,
            check_samples=fits,
            selected=selected,
        )
        facts += ["", *_dataset(request, dataset, whole)]


def _genotypes(source: GenotypeSource) -> str:
    files = ", ".join(map(str, source.files)) or "in memory"
    return f"genotypes\t{files}: {len(source.samples)} samples, {len(source.variants)} variants"


def _dataset(request: FitRequest, dataset: Dataset, whole: bool) -> list[str]:
    part = "" if whole else " without what is faulty"
    kept = [name for name in dataset.covariates.names if name != INTERCEPT]
    dropped = dataset.covariates.dropped
    needed = request.model.needed_memory(dataset.n_samples)
    limit = request.model.memory_gb
    allowed = memory_limit() if limit is None else limit * _GIB
    lines = [
        f"trait\t{dataset.trait}: {dataset.n_samples} samples, {dataset.n_variants} variants{part}",
        *dataset.accounting.table().splitlines(),
        "trait scale\t"
        + ("normal scores" if dataset.treatment.rank_int else f"mean {dataset.trait_mean:g}, sd {dataset.trait_sd:g}"),
        f"intercept\t{'yes' if request.intercept else 'no'}",
        f"covariates\t{', '.join(kept) or 'none'}" + (f"; dropped: {', '.join(dropped)}" if dropped else ""),
        f"families\t{_levels(dataset.samples.family)}",
        f"groups\t{_levels(dataset.samples.group)}",
    ]
    if dataset.random is not None:
        lines.append(f"random effect\t{dataset.random.name}: {len(dataset.random.levels)} levels")
    lines.append(f"memory\tabout {needed / _GIB:.3g} GiB needed, {allowed / _GIB:.3g} GiB allowed")
    return lines


def _levels(labels: np.ndarray[tuple[int], np.dtype[np.object_]]) -> str:
    """How many there are, the samples without one told apart."""
    known = [label for label in labels if label not in (None, "", "0")]
    lacking = len(labels) - len(known)
    return f"{len(set(known))}" + (f", and {lacking} samples without one" if lacking else "")


def _line(problem: GoalsError) -> str:
    """Put the table that some problems show behind the remedy."""
    first, *table = problem.problem.splitlines()
    where = "" if problem.where is None else f"{problem.where}: "
    remedy = "" if problem.remedy is None else f"; {problem.remedy}"
    return "\n".join([f"{where}{first}{remedy}", *(f"  {row}" for row in table)])
