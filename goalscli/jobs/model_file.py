"""The model file: a fitted posterior with everything needed to treat the same genotypes again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from goalscli import qc
from goalscli.dataset import Dataset, RandomEffect, SampleTable, Treatment, VariantTable
from goalscli.errors import InputError
from goalscli.genotypes import GenotypeSource, reopen
from goalscli.models.exact import ExactPosterior
from goalscli.phenotypes import Covariates
from goalscli.provenance import canonical_json, digests
from goalscli.runtime import LOG
from goalscli.store import Writer, opened, read_attributes, strings

KIND = "goalscli-model"
_SCALARS = (
    "theta", "ratio", "ratio_se", "pve", "pve_se", "log_likelihood", "signal_variance", "noise_variance",
    "random_variance", "random_share", "random_share_se", "kernel", "at_bound", "profiled",
)  # fmt: skip
_ARRAYS = ("phenotype", "covariates", "gram", "weights")


def save_model(
    path: Path,
    dataset: Dataset,
    posterior: ExactPosterior,
    settings: Mapping[str, Any],
    provenance: Mapping[str, Any],
) -> None:
    """Write a model; it appears under its name only when whole."""
    scalars = {name: getattr(posterior, name) for name in _SCALARS}
    attributes = scalars | {
        "trait": dataset.trait,
        "trait_mean": dataset.trait_mean,
        "trait_sd": dataset.trait_sd,
        "covariate_names": list(dataset.covariates.names),
        "treatment": asdict(dataset.treatment),
        "genotypes": dataset.source.describe(),
        "genotype_digests": digests(dataset.source.files),
        "filter_table": dataset.accounting.table(),
        "settings": dict(settings),
    }
    writer = Writer.create(path, KIND, {})
    try:
        with writer:
            writer.set_attributes("/", attributes | {"provenance": dict(provenance)})
            for table, rows in (("samples", dataset.samples), ("variants", dataset.variants)):
                for field in fields(rows):
                    writer.add(f"{table}/{field.name}", getattr(rows, field.name))
            for field in fields(dataset.reference):
                writer.add(f"reference/{field.name}", getattr(dataset.reference, field.name))
            for name in _ARRAYS:
                writer.add(f"fit/{name}", getattr(posterior, name))
            if posterior.random is not None:
                writer.add("random/levels", posterior.random.levels)
                writer.add("random/codes", posterior.random.codes)
                writer.set_attributes("random", {"name": posterior.random.name})
            writer.set_attributes("/", {"digest": _digest(dataset, posterior, attributes)})
            writer.finish()
    finally:
        path.with_name(path.name + ".partial").unlink(missing_ok=True)


def _digest(dataset: Dataset, posterior: ExactPosterior, attributes: Mapping[str, Any]) -> str:
    """SHA-256 of what determines a scan; the Gram matrix follows from it, and times and paths are left out."""
    told = {k: v for k, v in attributes.items() if k not in ("genotypes", "settings")}
    digest = hashlib.sha256(canonical_json(told).encode())
    for array in (
        posterior.phenotype,
        posterior.covariates,
        posterior.weights,
        dataset.variants.mean,
        dataset.variants.sd,
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(dataset.variants.file_index.tobytes())
    digest.update("\n".join([*dataset.samples.fid, *dataset.samples.iid, *dataset.samples.family]).encode())
    return digest.hexdigest()


def load_model(
    path: str | Path, genotypes: str | None = None, *, check_size: Callable[[int, str], None] = lambda n, kernel: None
) -> tuple[Dataset, ExactPosterior, dict[str, Any]]:
    """Read a model and open the genotypes that it names.

    Parameters
    ----------
    path : str or Path
    genotypes : str, optional
        A prefix (PLINK) or file (BGEN, BIMBAM), where the genotypes have moved.
    check_size : callable
        Told the number of samples and the kernel's name before any N×N matrix is read; may refuse them.

    Returns
    -------
    dataset : Dataset
    posterior : ExactPosterior
    attributes : dict
        All attributes of the file, its ``digest`` among them.

    Raises
    ------
    InputError
        No readable model, or the genotypes are gone or have changed since the fit.
    """
    with opened(path, KIND) as file:
        check_size(len(file["fit/phenotype"]), str(file.attrs["kernel"]))
    dataset, attributes = load_dataset(path, genotypes)
    return dataset, load_posterior(path, dataset, attributes), attributes


def load_posterior(path: str | Path, dataset: Dataset, attributes: Mapping[str, Any]) -> ExactPosterior:
    """Read the posterior of a model of which :func:`load_dataset` has read the data."""
    with opened(path, KIND) as file:
        arrays = {name: file[f"fit/{name}"][:] for name in _ARRAYS}
    # The Gram matrix is symmetric: its transpose has the Fortran order that the factorisation wants, without a copy.
    arrays["gram"] = arrays["gram"].T
    return ExactPosterior(**{name: attributes[name] for name in _SCALARS}, **arrays, random=dataset.random)


def load_dataset(path: str | Path, genotypes: str | None = None) -> tuple[Dataset, dict[str, Any]]:
    """Read a model's data alone, without any N×N matrix; parameters, attributes and errors as of :func:`load_model`."""
    with opened(path, KIND) as file:
        attributes = read_attributes(file)
        phenotype, covariates = file["fit/phenotype"][:], file["fit/covariates"][:]
        samples = SampleTable(**_table(file["samples"]))
        variants = VariantTable(**_table(file["variants"]))
        reference = qc.Reference(**_table(file["reference"]))
        random = None
        if "random" in file:
            random = RandomEffect(file["random"].attrs["name"], **_table(file["random"]))
    try:
        source = reopen(attributes["genotypes"], genotypes)
    except InputError as error:
        raise InputError(
            str(error), where=path, remedy="if the genotypes have moved, give --bfile, --pfile, --bgen or --bimbam"
        ) from error
    _check_genotypes(Path(path), source, attributes["genotype_digests"])
    dataset = Dataset(
        source=source,
        reference=reference,
        samples=samples,
        variants=variants,
        phenotype=phenotype,
        covariates=Covariates(covariates, tuple(attributes["covariate_names"]), ()),
        trait=attributes["trait"],
        trait_mean=attributes["trait_mean"],
        trait_sd=attributes["trait_sd"],
        treatment=Treatment(**attributes["treatment"]),
        accounting=qc.Accounting(len(source.samples), len(source.variants)),
        random=random,
    )
    return dataset, attributes


def _table(group: h5py.Group) -> dict[str, Any]:
    return {name: strings(data) if h5py.check_string_dtype(data.dtype) else data[:] for name, data in group.items()}


def _check_genotypes(path: Path, source: GenotypeSource, fitted: Mapping[str, str]) -> None:
    found = digests(source.files)
    changed = [
        file for file, (key, digest) in zip(source.files, found.items(), strict=True) if fitted.get(key) != digest
    ]
    if changed:
        raise InputError(
            f"these genotype files are not those of the fit: {', '.join(map(str, changed))}",
            where=path,
            remedy="give the files that the model was fitted on (--bfile, --pfile, --bgen or --bimbam), or fit again",
        )
    LOG.info("genotypes: %s (unchanged since the fit)", ", ".join(map(str, source.files)))
