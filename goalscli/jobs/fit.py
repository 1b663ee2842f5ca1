"""``goals fit``: quality control, imputation, Gram matrix, variance components, posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset, Treatment
from goalscli.jobs.features import bases
from goalscli.jobs.inputs import GenotypeFiles, Selection, Tables, output_prefixes, read_datasets
from goalscli.jobs.model_file import save_model
from goalscli.models.exact import ExactGP
from goalscli.provenance import digests, provenance
from goalscli.qc import Filters
from goalscli.runtime import LOG, cpu_limit
from goalscli.store import atomic, refuse_existing


@dataclass(frozen=True)
class FitRequest:
    """Everything that determines a fit."""

    genotypes: GenotypeFiles
    tables: Tables = field(default_factory=Tables)
    selection: Selection = field(default_factory=Selection)
    filters: Filters = field(default_factory=Filters)
    treatment: Treatment = field(default_factory=Treatment)
    model: ExactGP = field(default_factory=ExactGP)
    intercept: bool = True

    def settings(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def datasets(self) -> list[Dataset]:
        """Read, filter and align the data, one dataset a trait; see :func:`goalscli.jobs.inputs.read_datasets`."""
        return read_datasets(
            self.genotypes,
            self.tables,
            self.filters,
            self.treatment,
            selection=self.selection,
            intercept=self.intercept,
            check_samples=self.model.check_memory,
        )


def fit(
    request: FitRequest,
    out: str,
    *,
    base: Callable[[Dataset], NDArray[np.float64]] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
) -> list[Path]:
    """Fit a model a trait and write PREFIX.model.h5 and PREFIX.qc.tsv.

    Parameters
    ----------
    request : FitRequest
    out : str
        PREFIX; for several traits PREFIX.TRAIT is used.
    base : callable, optional
        Gives the Gram matrix's base of a dataset where it has been computed (:class:`goalscli.jobs.gram.GramParts`);
        otherwise it is computed, once for traits of the same samples and variants that follow each other.
    overwrite : bool
        Replace results that exist.
    threads : int, optional
        Recorded; set beforehand by :func:`goalscli.runtime.use_threads`.

    Returns
    -------
    list of Path
        The models.
    """
    named = (request.tables.pheno_name or "one").split(",")
    for prefix in output_prefixes(out, named):
        refuse_existing(fit_outputs(prefix), overwrite)
    datasets = request.datasets()
    prefixes = output_prefixes(out, [dataset.trait for dataset in datasets])
    for prefix in prefixes:
        refuse_existing(fit_outputs(prefix), overwrite)
    computed = bases(request.model, datasets) if base is None else map(base, datasets)
    return [
        _fit_one(request, dataset, prefix, threads, of)
        for dataset, prefix, of in zip(datasets, prefixes, computed, strict=True)
    ]


def fit_outputs(prefix: str) -> list[Path]:
    """Return the files that a fit writes."""
    return [Path(f"{prefix}.model.h5"), Path(f"{prefix}.qc.tsv")]


def _fit_one(
    request: FitRequest, dataset: Dataset, prefix: str, threads: int | None, base: NDArray[np.float64]
) -> Path:
    LOG.info("trait %s: %d samples, %d variants", dataset.trait, dataset.n_samples, dataset.n_variants)
    LOG.info("%s", dataset.accounting.table().rstrip())
    posterior = request.model.fit(dataset, base)
    model, table = fit_outputs(prefix)
    read = (*request.tables.files, *request.selection.files)
    inputs = {str(p): d for p in read for d in digests([p]).values()}
    record = provenance(request.settings(), inputs | dataset.source.describe(), threads or cpu_limit())
    # Interrupted, a fit leaves nothing: the table gets its name right after the model.
    with atomic(table) as partial:
        partial.write_text(dataset.accounting.table())
        save_model(model, dataset, posterior, request.settings(), record)
    LOG.info("wrote %s and %s", model, table)
    return model
