"""What several pictures read of a scan: labels, local effects and the genotypes they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goalscli.dataset import Dataset
from goalscli.errors import InputError, SettingsError
from goalscli.jobs.memory import check_scan_memory
from goalscli.jobs.model_file import load_dataset, load_posterior
from goalscli.jobs.results import Scores
from goalscli.jobs.scanned import Scanned, only_variants
from goalscli.plots.loci import distinct_loci
from goalscli.runtime import LOG
from goalscli.scanning import bind, local_score, local_scores
from goalscli.scores.goals import Goals


@dataclass(frozen=True, eq=False)
class Dosages:
    """Genotypes of a few variants.

    Attributes
    ----------
    values : (N, C) float64
        Copies of A1, missing calls filled as in the fit.
    called : (N, C) bool
        False where filled.
    """

    values: NDArray[np.float64]
    called: NDArray[np.bool_]


def label_of(scores: Scores, i: int) -> str:
    """ID of a variant, or chrom:pos where it has none."""
    return scores.labels(np.array([i]))[0]


def heading_of(scores: Scores, i: int) -> str:
    """ID, place and alleles of a variant."""
    variants, name = scores.variants, label_of(scores, i)
    place = f"{variants['chrom'][i]}:{variants['pos'][i]:,}"
    named = f"{name} ({place})" if name == variants["id"][i] else place
    return f"{named}  A1 {variants['a1'][i]}, A2 {variants['a2'][i]}, {strength_of(scores, i)}"


def strength_of(scores: Scores, i: int) -> str:
    """Write -log10 p of a variant, so that what is drawn is not taken for a hit."""
    return f"−log10 p {scores.goals['neg_log10_p'][i]:.1f}"


def place_of(scores: Scores, i: int) -> str:
    """Chromosome, position, counted allele and -log10 p of a variant, short."""
    variants = scores.variants
    return f"{variants['chrom'][i]}:{variants['pos'][i]:,} {variants['a1'][i][:12]}, {strength_of(scores, i)}"


def axis_of(scores: Scores, centre: bool = False, line: str = " ") -> str:
    """Name of an axis of local effects, in one line or, with ``line`` a line feed, in two."""
    what = "local effect of A1, difference from the variant's mean" if centre else "local effect of A1"
    return f"{what}{line}(trait sd per {scores.unit})"


def variants_of(read: Scores, snps: Sequence[str], n: int, option: str = "--n", *, most: int) -> NDArray[np.intp]:
    """Rows of the named variants, each once, or of the top variants of ``n`` loci by |z|.

    A locus is what it is in the Manhattan plot: :func:`goalscli.plots.loci.distinct_loci`.

    Raises
    ------
    SettingsError
        Less than one, or more than ``most``.
    InputError
        An unknown ID, or a scan without the goals score.
    """
    z = read.goals["z"]
    names = list(dict.fromkeys(snps))
    if names:
        n, option = len(names), "--snp"
    if not 1 <= n <= most:
        raise SettingsError(f"{n} variants", where=option, remedy=f"draw 1 to {most}")
    if names:
        return only_variants(read, names)
    if not np.isfinite(z).any():
        raise InputError("no z is finite", where=read.path, remedy="scan again, or name variants with --snp")
    return distinct_loci(read.variants["chrom"], read.variants["pos"], z, n)


def model_there(read: Scanned, model: str | None, what: str, remedy: str = "give --model MODEL.model.h5") -> Path:
    """Path of the scan's model.

    Raises
    ------
    InputError
        It is not there; ``what`` says what it is wanted for.
    """
    path = read.model_path(model)
    if not path.is_file():
        raise InputError(f"{what}, and the model is not there", where=path, remedy=remedy)
    return path


@dataclass(frozen=True, eq=False)
class ScanModel:
    """The model of a scan, looked for when something of it is needed; its data are read once.

    Attributes
    ----------
    read : Scores
    given : str, optional
        Where it is; beside the scores where None.
    genotypes : str, optional
        The genotypes, if moved.
    """

    read: Scores
    given: str | None = None
    genotypes: str | None = None

    def path(self, what: str, remedy: str = "give --model MODEL.model.h5") -> Path:
        """See :func:`model_there`."""
        return model_there(self.read, self.given, what, remedy)

    @cached_property
    def data(self) -> tuple[Dataset, dict[str, Any]]:
        """Dataset and attributes.

        Raises
        ------
        InputError
            No readable model, another scan's, or genotypes that are gone or have changed.
        """
        path = self.read.model_path(self.given)
        dataset, attributes = load_dataset(path, self.genotypes)
        self.read.check_model(path, attributes["digest"])
        return dataset, attributes


def local_of(model: ScanModel, index: NDArray[np.intp]) -> NDArray[np.float32]:
    """Local scores (len(index), N) as stored, or computed again from the model, bit for bit the same."""
    # A variant may be named twice, in any order; scores are computed of ascending, distinct ones.
    distinct, place = np.unique(index, return_inverse=True)
    stored = model.read.stored_local(distinct)
    if stored is None:
        stored = _computed(model, distinct)
    return np.asarray(stored[place])


def _computed(model: ScanModel, index: NDArray[np.intp]) -> NDArray[np.float32]:
    what = "local scores of these variants are not stored"
    path = model.path(what, "give --model MODEL.model.h5, or scan with --local all")
    told = model.read.attributes["settings"]
    goals = Goals(**told["scores"]["goals"])
    dataset, attributes = model.data
    check_scan_memory(dataset.n_samples, attributes["kernel"], [goals], workers=1)
    LOG.info("computing local scores of %d variants from %s", len(index), path)
    posterior = load_posterior(path, dataset, attributes).with_precision(told["precision"])
    found = local_score(bind(posterior, dataset, [goals]))
    assert found is not None  # goals has local scores
    return np.concatenate(list(local_scores(found[1], dataset, index)))


def effects_of(model: ScanModel, index: NDArray[np.intp]) -> NDArray[np.float64]:
    """Local effects of A1 (len(index), N): what one unit more does to each sample's prediction, in trait sd.

    Raises
    ------
    InputError
        Local scores neither stored nor computable, or not finite.
    """
    effects = -local_of(model, index).astype(np.float64) / model.read.xi
    bad = int(np.count_nonzero(~np.isfinite(effects)))
    if bad:
        remedy = "scan again, or leave the variant out"
        raise InputError(f"{bad} of {effects.size} local scores are not finite", where=model.read.path, remedy=remedy)
    return effects


def dosages_of(model: ScanModel, index: NDArray[np.intp]) -> Dosages:
    """Genotypes of these variants, from the genotypes of the scan's model.

    Raises
    ------
    InputError
        No model, another scan's model, or genotypes that are gone or have changed.
    """
    model.path("the model names the genotypes to read")
    distinct, place = np.unique(index, return_inverse=True)
    values, called = model.data[0].dosages(distinct)
    return Dosages(values[:, place], called[:, place])


def dosages_if_there(model: ScanModel, index: NDArray[np.intp]) -> tuple[Dosages | None, str]:
    """Genotypes, and a sentence for the caption; without them only where neither model nor genotypes were named.

    Raises
    ------
    InputError
        As :func:`dosages_of`, where the model or genotypes are given.
    """
    try:
        found = dosages_of(model, index)
    except InputError as error:
        if model.given is not None or model.genotypes is not None:
            raise
        LOG.warning("warning: drawn without the colours of genotypes: %s", error)
        return None, "Genotypes not at hand: one colour."
    n = int(np.count_nonzero(~found.called))
    if not n:
        return found, ""
    told = "1 missing call is" if n == 1 else f"{n:,} missing calls are"
    return found, f"{told} drawn in the colour of the value filled in."
