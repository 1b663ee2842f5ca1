"""``goals posterior``: the joint posterior of a few variants' scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from goalscli.dataset import Dataset
from goalscli.errors import InputError, SettingsError
from goalscli.jobs.model_file import load_model
from goalscli.jobs.results import POSTERIOR_KIND, read_scores
from goalscli.jobs.variants import parse_variants
from goalscli.kernels import require_smooth
from goalscli.models.exact_posterior import ExactPosterior
from goalscli.posterior import JointShift, JointSlope
from goalscli.provenance import provenance
from goalscli.runtime import LOG, Progress, check_memory, cpu_limit, scan_prefix
from goalscli.scores.goals import Goals
from goalscli.store import Writer, atomic, refuse_existing
from goalscli.tables import tsv

MOST = 500
"""Variants of one call: their pairs are worked out one by one."""

SURVIVAL_POINTS = 101


@dataclass(frozen=True)
class PosteriorRequest:
    """Whose joint posterior, and how it is told.

    Attributes
    ----------
    snps : str, optional
        Variant IDs, comma-separated, or a file of them.
    top : int, optional
        The variants of greatest |z| of a scan instead.
    scores : str, optional
        That scan; beside the model where None.
    xi : float
        The shift of the goals score; of size 1e-6 to 1e6.
    xi_unit : "x" or "allele"
        Whether xi counts units of the model's features (sd of genotype) or copies of A1.
    psi : bool
        The posterior of psi too, where the kernel is smooth.
    draws, seed : int
        Samples of the scores, and of psi.
    level : float
        Probability of the credible intervals.

    Raises
    ------
    SettingsError
        ``snps`` and ``top`` both given or neither, or a value out of range.
    """

    snps: str | None = None
    top: int | None = None
    scores: str | None = None
    xi: float = 1.0
    xi_unit: Literal["x", "allele"] = "x"
    psi: bool = False
    draws: int = 1000
    seed: int = 1
    level: float = 0.95

    def __post_init__(self) -> None:
        if (self.snps is None) == (self.top is None):
            raise SettingsError("name the variants in one way", where="--snps, --top", remedy="give one of the two")
        if self.top is not None and self.top < 1:
            raise SettingsError(f"{self.top} variants", where="--top", remedy="give 1 or more")
        if self.draws < 1:
            raise SettingsError(f"{self.draws} draws", where="--draws", remedy="give 1 or more")
        if not 0 < self.level < 1:
            raise SettingsError(f"{self.level} is no probability", where="--level", remedy="give e.g. 0.95")
        if self.seed < 0:
            raise SettingsError(f"{self.seed} is no seed", where="--seed", remedy="give 0 or more")
        Goals(self.xi, self.xi_unit)  # checks both
        if not 1e-6 <= abs(self.xi) <= 1e6:
            raise SettingsError(f"a shift of {self.xi:g}", where="--xi", remedy="give one of size 1e-6 to 1e6")


def joint_posterior(
    model: str | Path,
    request: PosteriorRequest,
    out: str | None = None,
    *,
    genotypes: str | None = None,
    memory_gb: float | None = None,
    overwrite: bool = False,
    threads: int | None = None,
) -> list[Path]:
    """Write PREFIX.posterior.h5, PREFIX.posterior.tsv and PREFIX.correlation.tsv.

    Parameters
    ----------
    model : str or Path
        PREFIX.model.h5.
    request : PosteriorRequest
    out : str, optional
        PREFIX; that of the model where None.
    genotypes : str, optional
        Where they have moved.
    memory_gb : float, optional
        Memory that may be used, in GiB; the machine's limit where None.
    overwrite : bool
        Replace results that exist.
    threads : int, optional
        For the record in the file; the CPUs that we may use where None.

    Returns
    -------
    list of Path
        The three files. Means, covariances (Eqs. S3, S4) and intervals are in trait sd.

    Raises
    ------
    InputError
        A variant that is not among the analysed ones, or no scan to take the top ones from.
    SettingsError
        Psi is asked for and f has no derivative.
    ResourceError
        Not enough memory for seven N×N matrices and the draws.
    OutputError
        A result exists already.
    """
    prefix = scan_prefix(model) if out is None else out
    paths = [Path(f"{prefix}.{name}") for name in ("posterior.h5", "posterior.tsv", "correlation.tsv")]
    refuse_existing(paths, overwrite)
    dataset, fitted, attributes = load_model(
        model,
        genotypes,
        check_size=lambda n, _: check_memory(7 * 8.0 * n**2 + 2**28, f"a joint posterior of {n} samples", memory_gb),
    )
    index = _chosen(request, dataset, attributes, scan_prefix(model))
    _check_request(request, fitted.kernel, dataset.n_samples, len(index), memory_gb)
    shift, draws, slope = _joint(request, fitted, dataset, index)
    told = {
        "model_digest": attributes["digest"],
        "settings": asdict(request),
        "provenance": provenance(asdict(request), {"model": attributes["digest"]}, threads or cpu_limit()),
        "phenotype": dataset.trait,
    }
    table = effect_rows(dataset, index, shift, slope, request)
    correlation = pd.DataFrame(correlations(shift.covariance), columns=table["ID"].to_numpy())
    correlation.insert(0, "ID", table["ID"])
    with atomic(paths[1]) as first, atomic(paths[2]) as second:
        first.write_text(tsv(table))
        second.write_text(tsv(correlation))
        _save(paths[0], dataset, index, shift, draws, slope, told)
    LOG.info("wrote %s", ", ".join(map(str, paths)))
    return paths


def _joint(
    request: PosteriorRequest, fitted: ExactPosterior, dataset: Dataset, index: NDArray[np.intp]
) -> tuple[JointShift, NDArray[np.float64], JointSlope | None]:
    """Joint posterior of the scores, draws of it, and that of psi where it is asked for; all from one seed."""
    values = dataset.values(index)
    xi = request.xi * (dataset.allele_step[index] if request.xi_unit == "allele" else np.ones(len(index)))
    rng = np.random.default_rng(request.seed)
    with Progress("joint posterior", len(index)) as progress:
        shift = fitted.joint_shift(values, xi, progress.advance)
    draws = _draws(shift, request.draws, rng)
    if not request.psi:
        return shift, draws, None
    with Progress("psi", len(index)) as progress:
        return shift, draws, fitted.joint_slope(values, request.draws, rng, progress.advance)


def _check_request(request: PosteriorRequest, kernel: str, n: int, m: int, memory_gb: float | None) -> None:
    """Refuse before any work what has no psi, or draws that do not fit."""
    if request.psi:
        require_smooth(kernel, "--psi", "leave out --psi")
    needed = 7 * 8.0 * n**2 + 8.0 * request.draws * (2 * n * request.psi + 2 * m) + 2**28
    check_memory(needed, f"a joint posterior of {n} samples with {request.draws} draws", memory_gb)


def _chosen(request: PosteriorRequest, dataset: Dataset, model: Mapping[str, Any], prefix: str) -> NDArray[np.intp]:
    if request.snps is not None:
        index = parse_variants(request.snps, dataset.variants.id, "--snps")
    else:
        path = Path(request.scores or f"{prefix}.scores.h5")
        if not path.is_file():
            raise InputError(
                "no scan to take the top variants from", where=path, remedy="run goals scan, or give --scan or --snps"
            )
        read = read_scores(path)
        if read.attributes["model_digest"] != model["digest"]:
            raise InputError("is not a scan of this model", where=path, remedy="give that of this model with --scan")
        order = np.argsort(-np.abs(read.goals["z"]), kind="stable")
        index = np.sort(order[: request.top])
    if len(index) > MOST:
        raise SettingsError(f"{len(index)} variants", where="--snps, --top", remedy=f"give {MOST} at most")
    return index


def _draws(shift: JointShift, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Samples of the global scores, (m, count)."""
    values, vectors = np.linalg.eigh(shift.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(shift.mean[:, None] + root @ rng.standard_normal((len(values), count)))


def correlations(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlation matrix; 0 with a score that has no variance."""
    sd = np.sqrt(np.diag(covariance))
    scale = np.outer(sd, sd)
    out = np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
    np.fill_diagonal(out, 1.0)
    return np.asarray(np.clip(out, -1.0, 1.0))


def effect_rows(
    dataset: Dataset, index: NDArray[np.intp], shift: JointShift, slope: JointSlope | None, request: PosteriorRequest
) -> pd.DataFrame:
    """One row a variant: its effect in the direction of A1, interval, nearest companion, and psi."""
    told = dataset.variants
    effect, sd = -shift.mean / request.xi, np.sqrt(np.diag(shift.covariance)) / abs(request.xi)
    width = float(ndtri(0.5 + request.level / 2)) * sd
    correlation = correlations(shift.covariance)
    others = np.abs(correlation) - 2 * np.eye(len(index))
    companion = np.argmax(others, axis=1)
    alone = len(index) == 1
    columns: dict[str, Any] = {
        "#CHROM": told.chrom[index],
        "POS": told.pos[index],
        "ID": told.id[index],
        "A1": told.a1[index],
        "A2": told.a2[index],
        "A1_FREQ": told.a1_freq[index],
        "OBS_CT": told.n_obs[index],
        "EFFECT": effect,
        "EFFECT_SD": sd,
        "EFFECT_LOW": effect - width,
        "EFFECT_HIGH": effect + width,
        "CORR_WITH": "." if alone else told.id[index][companion],
        "CORR": np.nan if alone else correlation[np.arange(len(index)), companion],
    }
    if slope is not None:
        low, high = _interval(slope, request.level)
        columns |= {"PSI": slope.mean, "PSI_SD": slope.sd, "PSI_LOW": low, "PSI_HIGH": high}
    return pd.DataFrame(columns)


def _interval(slope: JointSlope, level: float) -> NDArray[np.float64]:
    return np.asarray(np.quantile(slope.draws, [0.5 - level / 2, 0.5 + level / 2], axis=1))


def _save(
    path: Path,
    dataset: Dataset,
    index: NDArray[np.intp],
    shift: JointShift,
    draws: NDArray[np.float64],
    slope: JointSlope | None,
    attributes: Mapping[str, Any],
) -> None:
    writer = Writer.create(path, POSTERIOR_KIND, attributes)
    try:
        with writer:
            told = dataset.variants
            for name in ("chrom", "pos", "id", "a1", "a2", "a1_freq", "missing_rate", "n_obs"):
                writer.add(f"variants/{name}", getattr(told, name)[index])
            for name in ("fid", "iid", "family", "group"):
                writer.add(f"samples/{name}", getattr(dataset.samples, name))
            for name, values, description, unit in (
                ("mean", shift.mean, "posterior mean of the global scores", "trait sd"),
                ("covariance", shift.covariance, "posterior covariance of the global scores", "(trait sd)²"),
                ("draws", draws, "samples of the global scores, one column a joint draw", "trait sd"),
                ("local", shift.local.T, "posterior mean of each sample's local score", "trait sd"),
                ("local_sd", shift.local_sd.T, "posterior sd of each sample's local score", "trait sd"),
            ):
                writer.add(f"goals/{name}", np.ascontiguousarray(values), description, unit)
            if slope is not None:
                _save_psi(writer, slope)
            writer.finish()
    finally:
        path.with_name(path.name + ".partial").unlink(missing_ok=True)


def _save_psi(writer: Writer, slope: JointSlope) -> None:
    """Moments, draws and the survival curve of each variant."""
    ordered = np.sort(slope.draws, axis=1)
    threshold = np.linspace(0, ordered[:, -1], SURVIVAL_POINTS, axis=1)
    above = [len(row) - np.searchsorted(row, t, side="right") for row, t in zip(ordered, threshold, strict=True)]
    for name, values, description, unit in (
        ("mean", slope.mean, "posterior mean of psi", "(trait sd)²"),
        ("sd", slope.sd, "posterior sd of psi", "(trait sd)²"),
        ("draws", slope.draws, "samples of psi, each variant by itself", "(trait sd)²"),
        ("threshold", threshold, "t of the survival curve", "(trait sd)²"),
        ("survival", np.array(above) / slope.draws.shape[1], "share of the draws with psi > t", "1"),
    ):
        writer.add(f"psi/{name}", values, description, unit)
