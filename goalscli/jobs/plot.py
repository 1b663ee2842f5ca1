"""``goals plot``: pictures of a scores file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.jobs.model_file import load_model
from goalscli.jobs.results import Scores, only_variants, read_scores
from goalscli.plots import (
    GroupBox,
    LocalPanel,
    between_group_share,
    local,
    manhattan,
    permutation_reference,
    save,
    select_groups,
    top_loci,
)
from goalscli.runtime import LOG
from goalscli.scanning import bind, local_score, local_scores
from goalscli.scores.goals import Goals
from goalscli.store import refuse_existing


@dataclass(frozen=True)
class LocalPlot:
    """Settings of the picture by group.

    Attributes
    ----------
    snps : tuple of str
        Variant IDs; the top variants of different loci where empty.
    top : int
        How many top variants where none is named.
    n_groups : int
        Groups with the least and as many with the greatest mean.
    min_group_size : int
        Smaller groups are left out.
    permutations, seed : int
        Of the reference of the between-group share.
    model, genotypes : str, optional
        Where local scores must be computed: the model, and the genotypes' PLINK prefix if moved.
    """

    snps: tuple[str, ...] = ()
    top: int = 2
    n_groups: int = 8
    min_group_size: int = 3
    permutations: int = 200
    seed: int = 1
    model: str | None = None
    genotypes: str | None = None


@dataclass(frozen=True)
class _Track:
    """One value a variant to draw, with the height from which a label means something."""

    values: NDArray[np.float64]
    y_label: str
    thresholds: tuple[tuple[float, str], ...] = ()
    caption: str | None = None
    signed: bool = False
    called: NDArray[np.bool_] | None = None


def _p_track(p: NDArray[np.float64], y_label: str, lambda_gc: float) -> _Track:
    bonferroni = float(-np.log10(0.05 / len(p)))
    lines = ((bonferroni, f"0.05 / {len(p):,} variants"),)
    return _Track(p, y_label, lines, f"λGC {lambda_gc:.2f}", called=p >= min(bonferroni, float(p.max())))


def _track(read: Scores, value: str) -> _Track:
    if value == "p":
        told = read.score_attributes.get("goals", {})
        return _p_track(read.goals["neg_log10_p"], "−log10 p (polygenic null)", told.get("lambda_gc", np.nan))
    if value == "loco":
        if "loco_z" not in read.goals:
            raise InputError("holds no scores without the chromosome", where=read.path, remedy="scan with --loco")
        told = read.score_attributes["goals"]
        return _p_track(
            read.goals["loco_neg_log10_p"], "−log10 p (null without the chromosome)", told["loco_lambda_gc"]
        )
    if value == "score":
        called = _track(read, "p").called
        label = f"effect of A1 (trait sd per {read.unit})"
        return _Track(-read.goals["score"] / read.xi, label, signed=True, called=called)
    if value == "rate":
        rate, told = read.score("rate")["rate"], read.score_attributes["rate"]
        lines = ((1 / len(rate), f"1 / {len(rate):,}, all variants alike"),)
        caption = f"Δ {told['delta']:.2f} nats from equal shares, ESS {told['ess']:.0f} %"
        return _Track(rate, "RATE (share of the total)", lines, caption, called=rate > 1 / len(rate))
    if value == "psi":
        return _Track(read.score("psi")["mean"], "ψ, mean squared derivative (trait sd²)")
    raise SettingsError(f"nothing called {value!r} to draw", where="--value", remedy="give p, score, loco, rate or psi")


def plot_manhattan(
    scores: str | Path, out: str | Path, *, value: str | None = None, n_labels: int = 8, overwrite: bool = False
) -> Path:
    """Draw the genome: -log10 p ("p"; "loco" without the chromosome), the signed effect ("score"), RATE or psi.

    Without a ``value``, p, or what else the scan computed.

    Raises
    ------
    SettingsError
        Another value, or a suffix other than .png, .pdf, .svg.
    InputError
        The scan did not compute it.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    if value is None:
        value = "p" if "goals" in read.columns else next(iter(read.columns))
    track, variants = _track(read, value), read.variants
    hits = top_loci(variants["chrom"], variants["pos"], track.values, n_labels, window=5_000_000)
    if track.called is not None:
        # A label on a variant that no one would call only clutters.
        hits = hits[track.called[hits]]
    figure = manhattan(
        variants["chrom"],
        variants["pos"],
        track.values,
        labels=[(int(i), label_of(read, int(i))) for i in hits],
        thresholds=track.thresholds,
        y_label=track.y_label,
        title=f"{read.attributes['phenotype']}: {len(variants['id']):,} variants, {len(read.samples['iid']):,} samples",
        caption=track.caption,
        signed=track.signed,
    )
    save(figure, out)
    return out


def label_of(scores: Scores, i: int) -> str:
    """ID of a variant, or chrom:pos where it has none."""
    name = str(scores.variants["id"][i])
    return f"{scores.variants['chrom'][i]}:{scores.variants['pos'][i]}" if name in (".", "") else name


def plot_local(
    scores: str | Path,
    out: str | Path,
    settings: LocalPlot = LocalPlot(),
    *,
    overwrite: bool = False,
) -> Path:
    """Draw local effects by group, for the groups with the least and the greatest means.

    Raises
    ------
    InputError
        An unknown variant, no groups large enough, or local scores that are neither stored nor computable.
    """
    out = Path(out)
    refuse_existing([out], overwrite)
    read = read_scores(scores)
    if settings.snps:
        index = only_variants(read, list(settings.snps))
    else:
        index = top_loci(read.variants["chrom"], read.variants["pos"], read.goals["z"], settings.top, window=5_000_000)
    effects = -local_of(read, index, settings) / read.xi
    panels = [_panel(read, int(i), row.astype(np.float64), settings) for i, row in zip(index, effects, strict=True)]
    figure = local(panels, title=f"{read.attributes['phenotype']}: local effects by group")
    save(figure, out)
    return out


def local_of(read: Scores, index: NDArray[np.intp], settings: LocalPlot) -> NDArray[np.float32]:
    """Local scores (len(index), N) as stored, or computed again from the model, bit for bit the same."""
    # A variant may be named twice, in any order; scores are computed of ascending, distinct ones.
    distinct, place = np.unique(index, return_inverse=True)
    stored = read.stored_local(distinct)
    if stored is None:
        model = settings.model or f"{str(read.path).removesuffix('.h5').removesuffix('.scores')}.model.h5"
        if not Path(model).is_file():
            raise InputError(
                "local scores of these variants are not stored, and the model is not there to compute them",
                where=model,
                remedy="give --model MODEL.model.h5, or scan with --local all",
            )
        dataset, posterior, attributes = load_model(model, settings.genotypes)
        if attributes["digest"] != read.attributes["model_digest"]:
            raise InputError(f"is not the model of {read.path}", where=model, remedy="give the model of this scan")
        LOG.info("computing local scores of %d variants from %s", len(distinct), model)
        told = read.attributes["settings"]
        goals = Goals(**told["scores"]["goals"])
        found = local_score(bind(posterior.with_precision(told["precision"]), dataset, [goals]))
        assert found is not None  # goals has local scores
        stored = np.concatenate(list(local_scores(found[1], dataset, distinct)))
    return np.asarray(stored[place])


def _panel(read: Scores, i: int, effects: NDArray[np.float64], settings: LocalPlot) -> LocalPanel:
    variants, group = read.variants, read.samples["group"]
    lowest, highest, left_out = select_groups(
        effects, group, n_groups=settings.n_groups, min_size=settings.min_group_size
    )
    if not lowest and not highest:
        raise InputError(
            f"no group has {settings.min_group_size} samples ({left_out} smaller groups)",
            where=str(read.path),
            remedy="fit with --groups and --group-column, or lower --min-group-size",
        )
    share = between_group_share(effects, group)
    free = permutation_reference(effects, group, within=None, n_permutations=settings.permutations, seed=settings.seed)
    relative = effects.std(ddof=1) / max(abs(effects.mean()), np.finfo(float).tiny)
    caption = f"sd of local effects over all samples {relative:.0%} of their mean"
    caption += f"; between-group share of local variance {share:.2f}; samples permuted freely {free:.2f}"
    family = read.samples["family"]
    if _families_differ(family, group):
        within = permutation_reference(
            effects, group, within=family, n_permutations=settings.permutations, seed=settings.seed
        )
        caption += f", within families {within:.2f}"
    if left_out:
        caption += f". {left_out} groups of fewer than {settings.min_group_size} left out"
    name, place = label_of(read, i), f"{variants['chrom'][i]}:{variants['pos'][i]:,}"
    named = f"{name} ({place})" if name == variants["id"][i] else place
    return LocalPanel(
        title=f"{named}  A1 {variants['a1'][i]}, A2 {variants['a2'][i]}",
        groups=tuple(GroupBox(label, effects[group == label]) for label in (*lowest, *highest)),
        n_lowest=len(lowest),
        overall_mean=float(effects.mean()),
        caption=caption,
        y_label=f"local effect of A1\n(trait sd per {read.unit})",
    )


def _families_differ(family: NDArray[np.object_], group: NDArray[np.object_]) -> bool:
    """Families are known, and are not the groups themselves."""
    known: Sequence[str] = [f for f in family if f not in ("", "0")]
    return len(set(known)) > 1 and len(set(known)) < len(known) and bool(np.any(family != group))
