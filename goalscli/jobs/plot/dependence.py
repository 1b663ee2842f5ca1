"""``goals plot dependence``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.plot.reading import ScanModel, axis_of, dosages_of, effects_of, heading_of, label_of
from goalscli.jobs.results import Scores, only_variants, read_scores
from goalscli.phenotypes import Missing, Table, categorical, has_numbers, join, numeric, read_table
from goalscli.plots import (
    GroupBox,
    Words,
    between_group_share,
    correlation,
    natural_key,
    save,
    spread_in_words,
    strips,
    trend,
)
from goalscli.runtime import LOG
from goalscli.store import refuse_existing

MOST_CATEGORIES = 24
"""Categories drawn; of more, the largest."""


@dataclass(frozen=True)
class Environment:
    """A column of a table of samples.

    Attributes
    ----------
    table : str
        Path of the table, with FID and IID, or IID.
    column : str
        Its numbers, or, where no cell is a number, its categories.
    categorical : bool
        Take numbers as categories too.
    missing_code : str, optional
        Read as missing beside NA, NaN, "." and empty; None keeps real -9.
    iid_only : bool
        Match on IID alone.
    """

    table: str
    column: str
    categorical: bool = False
    missing_code: str | None = "-9"
    iid_only: bool = False


@dataclass(frozen=True, eq=False)
class _Axis:
    """What lies on the horizontal axis.

    Attributes
    ----------
    known : (N,) bool
        Samples that have a value.
    numbers : (N,) float64, optional
    labels : (N,) object, optional
        The one or the other.
    x_label, unknown, kind : str
        Name of the axis; what the other samples are; what the association is with.
    dosage : bool
        Labels are copies of A1.
    """

    known: NDArray[np.bool_]
    x_label: str
    unknown: str
    kind: str
    numbers: NDArray[np.float64] | None = None
    labels: NDArray[np.object_] | None = None
    dosage: bool = False


def plot_dependence(
    scores: str | Path,
    out: str | Path,
    snp: str,
    *,
    against: str | None = None,
    environment: Environment | None = None,
    model: str | None = None,
    genotypes: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Draw one variant's local effects against its genotype, another's, or a column of a table.

    Parameters
    ----------
    scores, out : str or Path
    snp : str
        ID of the variant.
    against : str, optional
        ID of the variant whose genotype lies on the horizontal axis; ``snp`` itself where None.
    environment : Environment, optional
        A column of a table instead of a genotype.
    model, genotypes : str, optional
        The model where it is not beside the scores, and the genotypes' prefix or file if moved.
    overwrite : bool

    Returns
    -------
    Path
        The picture.

    Raises
    ------
    InputError
        An unknown variant or column, a table that cannot be read or shares no sample, no sample with a value, or local
        scores or genotypes that are not to be had.
    SettingsError
        ``against`` and ``environment`` together, or a suffix other than .png, .pdf, .svg.
    """
    out = Path(out)
    if against is not None and environment is not None:
        raise SettingsError("one axis, two things", where="--against", remedy="leave out --against, or --table")
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    _ = read.goals
    index = only_variants(read, [snp])
    source = ScanModel(read, model, genotypes)
    if environment is None:
        other = index if against is None else only_variants(read, [against], "--against")
        axis = _genotype_axis(source, int(other[0]))
    else:
        axis = _column_axis(read, environment)
    effects = effects_of(source, index)[0]
    if not axis.known.any():
        raise InputError(f"none of the {len(effects)} samples has a value", where=axis.x_label)
    _save(read, axis, effects, heading_of(read, int(index[0])), out)
    return out


def _genotype_axis(source: ScanModel, i: int) -> _Axis:
    """Genotypes: categories where all calls are whole numbers."""
    found, read = dosages_of(source, np.array([i])), source.read
    values, called = found.values[:, 0], found.called[:, 0]
    a1 = str(read.variants["a1"][i])
    x_label = f"copies of A1 ({a1 if len(a1) <= 12 else a1[:11] + '…'}) of {label_of(read, i)}"
    whole = bool((values[called] == np.rint(values[called])).all())
    if not whole:
        return _Axis(called, x_label, "without a call", "copies of A1", numbers=values)
    labels = np.array([f"{value:.0f}" for value in values], dtype=object)
    return _Axis(called, x_label, "without a call", "genotypes", labels=labels, dosage=True)


def _column_axis(read: Scores, told: Environment) -> _Axis:
    """Lay the column along the analysed samples."""
    table = read_table(told.table, option="--table")
    joined = join(
        read.samples["fid"],
        read.samples["iid"],
        table,
        iid_only=told.iid_only,
        option=f"--table {told.table}",
    )
    if joined.note:
        LOG.info("%s", joined.note)
    missing = Missing(told.missing_code)
    unknown = f"without a value of {told.column}"
    if told.categorical or not has_numbers(table, told.column, missing):
        labels = joined.lay(categorical(table, told.column, missing))
        known = labels != None  # noqa: E711 (elementwise)
        return _Axis(known, told.column, unknown, f"categories of {told.column}", labels=labels)
    numbers = np.where(joined.rows >= 0, _numbers(table, told, missing)[joined.rows], np.nan)
    return _Axis(np.isfinite(numbers), told.column, unknown, told.column, numbers=numbers)


def _numbers(table: Table, told: Environment, missing: Missing) -> NDArray[np.float64]:
    try:
        column = numeric(table, told.column, missing)
    except InputError as error:
        remedy = "write a number, or NA where missing; or give --categorical"
        raise InputError(error.problem, where=error.where, remedy=remedy) from error
    if column.n_code:
        LOG.warning("warning: %d values %s of %s read as missing (--missing-code)", column.n_code, missing.code,
                    told.column)  # fmt: skip
    return column.values


def _save(read: Scores, axis: _Axis, effects: NDArray[np.float64], title: str, out: Path) -> None:
    """Draw and write the picture."""
    known, inside = axis.known, effects[axis.known]
    told, left_out = "", ""
    groups: list[GroupBox] = []
    if axis.numbers is not None:
        told = _correlation(axis.kind, axis.numbers[known], inside)
    elif axis.labels is not None:
        told = _share(axis.kind, axis.labels[known], inside)
        groups, left_out = _groups(axis.labels[known], inside)
    caption = [told, left_out, spread_in_words([inside])]
    lone = bool(groups) and all(len(group.values) < 2 for group in groups)
    diamonds = " Diamonds: means, with 95 % intervals as if samples were independent."
    caption.append(f"Dashed: mean.{'' if lone else diamonds}")
    if n := int(np.count_nonzero(~known)):
        caption.append(f"{n:,} of {len(known):,} samples {axis.unknown} left out.")
    words = Words(
        x_label=axis.x_label,
        y_label=axis_of(read, line="\n"),
        title=f"{read.attributes['phenotype']}: {title}",
        caption=" ".join(filter(None, caption)),
    )
    if axis.numbers is not None:
        save(trend(axis.numbers[known], inside, words), out)
    else:
        copies = [float(group.label) for group in groups] if axis.dosage else None
        save(strips(groups, words, mean=float(inside.mean()), dosages=copies), out)


def _correlation(kind: str, values: NDArray[np.float64], effects: NDArray[np.float64]) -> str:
    r = correlation(values, effects)
    return (
        f"No r with {kind}: one of the two does not vary."
        if r is None
        else f"r with {kind} {r:z.2f}.".replace(" -", " −")
    )


def _share(kind: str, labels: NDArray[np.object_], effects: NDArray[np.float64]) -> str:
    n_groups, n = len(set(labels)), len(labels)
    if n_groups == 1:
        return f"No share between {kind}: all samples have the same."
    if n_groups == n:
        return f"No share between {kind}: every sample has its own."
    chance = f" (by chance about {(n_groups - 1) / (n - 1):.3f})" if n > n_groups else ""
    return f"Share of the variance of local effects between {kind} {between_group_share(effects, labels):.3f}{chance}."


def _groups(labels: NDArray[np.object_], effects: NDArray[np.float64]) -> tuple[list[GroupBox], str]:
    """The largest categories, in natural order, and what to say of the others."""
    names, counts = np.unique(labels.astype(str), return_counts=True)
    largest = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    shown = sorted((str(names[k]) for k in largest), key=natural_key)
    n = len(effects) - int(counts[largest].sum())
    left_out = (
        f"{len(names) - len(shown)} other categories ({n:,} samples), none of them larger, not drawn." if n else ""
    )
    return [GroupBox(name, effects[labels == name]) for name in shown], left_out
