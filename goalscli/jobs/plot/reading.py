"""What several pictures read of a scan: labels and local scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError
from goalscli.jobs.model_file import load_model
from goalscli.jobs.results import Scores
from goalscli.runtime import LOG
from goalscli.scanning import bind, local_score, local_scores
from goalscli.scores.goals import Goals


def label_of(scores: Scores, i: int) -> str:
    """ID of a variant, or chrom:pos where it has none."""
    name = str(scores.variants["id"][i])
    return f"{scores.variants['chrom'][i]}:{scores.variants['pos'][i]}" if name in (".", "") else name


def local_of(
    read: Scores, index: NDArray[np.intp], model: str | None = None, genotypes: str | None = None
) -> NDArray[np.float32]:
    """Local scores (len(index), N) as stored, or computed again from the model, bit for bit the same."""
    # A variant may be named twice, in any order; scores are computed of ascending, distinct ones.
    distinct, place = np.unique(index, return_inverse=True)
    stored = read.stored_local(distinct)
    if stored is None:
        model = model or f"{str(read.path).removesuffix('.h5').removesuffix('.scores')}.model.h5"
        if not Path(model).is_file():
            raise InputError(
                "local scores of these variants are not stored, and the model is not there to compute them",
                where=model,
                remedy="give --model MODEL.model.h5, or scan with --local all",
            )
        dataset, posterior, attributes = load_model(model, genotypes)
        if attributes["digest"] != read.attributes["model_digest"]:
            raise InputError(f"is not the model of {read.path}", where=model, remedy="give the model of this scan")
        LOG.info("computing local scores of %d variants from %s", len(distinct), model)
        told = read.attributes["settings"]
        goals = Goals(**told["scores"]["goals"])
        found = local_score(bind(posterior.with_precision(told["precision"]), dataset, [goals]))
        assert found is not None  # goals has local scores
        stored = np.concatenate(list(local_scores(found[1], dataset, distinct)))
    return np.asarray(stored[place])
