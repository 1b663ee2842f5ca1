"""Traits with known causal variants, interactions, structure and cage effects (Eqs. 17-18)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from goalscli.errors import InputError, SettingsError
from goalscli.genotypes.source import GenotypeSource, Samples, Strings, Variants
from goalscli.simulate._files import write_table
from goalscli.simulate._terms import Floats, draw_term, principal_components, standardised, varies
from goalscli.simulate._truth import TERMS, realised_shares, truth_table

_MIN_MAF = 0.05
_N_COMPONENTS = 10
_BLOCK = 4096


@dataclass(frozen=True)
class TraitSettings:
    """What trait to make.

    Attributes
    ----------
    n_causal : int
        Causal variants, drawn among those with a minor allele frequency of at least 0.05.
    variance_explained : float
        Share of the variance due to the causal variants (the paper's v squared).
    additive_share : float
        Share of `variance_explained` that is additive (rho); the rest goes to all pairs of causal variants.
    structure_share : float
        Share of 1 - `variance_explained` that goes to the top ten principal components of the genotypes.
    cage_share : float
        Share of the whole variance that is a random cage effect; taken out of the noise.
    infinitesimal : bool
        Every polymorphic variant is causal and all is additive; `n_causal` and `additive_share` are not used.
    orthogonal : bool
        Draw each term uncorrelated in the sample with those before it, so that the shares come out exactly.
    avoid_chromosomes : tuple of str
        No causal variants on these.
    name : str
        The column in the phenotype file and part of the file names.
    seed : int
        The same settings and genotypes give the same trait.

    Raises
    ------
    SettingsError
        A value out of range, or shares that leave less than nothing for the noise.
    """

    n_causal: int = 10
    variance_explained: float = 0.6
    additive_share: float = 0.5
    structure_share: float = 0.0
    cage_share: float = 0.0
    infinitesimal: bool = False
    orthogonal: bool = False
    avoid_chromosomes: tuple[str, ...] = ()
    name: str = "trait"
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("variance_explained", "additive_share", "structure_share", "cage_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(
                    f"{getattr(self, name)} is not a share", where=name, remedy="give a value from 0 to 1"
                )
        for name, low in (("n_causal", 1), ("seed", 0)):
            if getattr(self, name) < low:
                raise SettingsError(f"{getattr(self, name)} is too small", where=name, remedy=f"give at least {low}")
        if "/" in self.name or self.name.split() != [self.name] or self.name in ("FID", "IID"):
            raise SettingsError(
                f"{self.name!r} cannot name a column and a file",
                where="name",
                remedy="use one word without /, other than FID and IID",
            )
        left = self.shares["noise"]
        if left < 0:
            raise SettingsError(
                f"variance_explained {self.variance_explained}, the structure's share of the rest "
                f"{self.structure_share} and cage_share {self.cage_share} add up to {1 - left:.4g}, above 1",
                where="cage_share",
                remedy="lower one of them",
            )
        if self.n_causal == 1 and self.shares["interaction"] > 0:
            raise SettingsError(
                "1 causal variant makes no pair to interact",
                where="n_causal",
                remedy="give at least 2, or additive_share 1",
            )

    @property
    def shares(self) -> dict[str, float]:
        """Share of the variance asked for each term."""
        v, rho = self.variance_explained, 1.0 if self.infinitesimal else self.additive_share
        structure = self.structure_share * (1 - v)
        noise = 1 - v - structure - self.cage_share
        noise = 0.0 if abs(noise) < 1e-12 else noise
        return dict(zip(TERMS, (rho * v, (1 - rho) * v, structure, self.cage_share, noise), strict=True))


@dataclass(frozen=True)
class Trait:
    """A simulated trait and all that went into it.

    Attributes
    ----------
    name : str
    phenotype : (n,) float64
        Mean 0 and variance 1 (divisor n - 1).
    truth : pandas.DataFrame
        One row per causal variant (role "additive": effect in sd of the trait per sd of the genotype), per
        pair (role "interaction": effect per unit of the product of the two standardised genotypes), per term
        (role "variance": share) and per pair of terms (role "covariance": share, twice the covariance).
        Columns role, id, chrom, pos, a1, id2, chrom2, pos2, a1_2, effect, share; empty where it does not
        apply.
    shares : dict of str to float
        Realised share of the variance of each term, and under "additive+noise" and so on twice the
        covariance of two terms; all together they make 1.
    components : pandas.DataFrame
        (n, 5): the terms themselves, one column each; their sum is the phenotype.
    causal : (c,) intp
        Columns of the causal variants, ascending.
    """

    name: str
    phenotype: Floats
    truth: pd.DataFrame
    shares: dict[str, float]
    components: pd.DataFrame
    causal: NDArray[np.intp]


def mean_imputed(source: GenotypeSource) -> Floats:
    """All dosages of a source in memory, missing calls set to the variant's mean.

    Returns
    -------
    (n, J) float64, Fortran order
        A variant without any call becomes 0 throughout, so it is never causal.
    """
    rows, n_variants = np.arange(len(source.samples)), len(source.variants)
    dosages = np.empty((len(rows), n_variants), order="F")
    for start in range(0, n_variants, _BLOCK):
        columns = np.arange(start, min(start + _BLOCK, n_variants))
        block = source.read(rows, columns).astype(np.float64)
        absent = np.isnan(block)
        block[absent] = 0
        means = block.sum(axis=0) / np.maximum(1, len(rows) - absent.sum(axis=0))
        dosages[:, columns] = np.where(absent, means, block)
    return dosages


def simulate_trait(
    dosages: NDArray[np.floating],
    variants: Variants,
    cage: NDArray[np.object_] | None,
    settings: TraitSettings,
) -> Trait:
    """Draw a trait: additive effects, all pairs of causal variants, structure, cages and noise (Eqs. 17-18).

    All effects are standard normal; each term is then scaled so that its sample variance is its share. By
    chance the terms covary, so the sum is scaled to variance 1 afterwards and the realised shares are told.

    Parameters
    ----------
    dosages : (n, J) floating
        Complete (see `mean_imputed`).
    variants : Variants
    cage : (n,) object of str or None
        Needed when `settings.cage_share` is above 0.
    settings : TraitSettings

    Returns
    -------
    Trait
        The same for the same data and settings.

    Raises
    ------
    InputError
        Dosages that are missing or do not fit the variants or the cages.
    SettingsError
        Too few variants that may be causal, or a term that cannot vary.
    """
    _check(dosages, variants, cage, settings)
    seeds = np.random.SeedSequence(settings.seed).spawn(1 + len(TERMS))
    wanted = settings.shares
    causal = _draw_causal(dosages, variants, settings, np.random.default_rng(seeds[0]))
    x = standardised(dosages[:, causal])
    pairs = np.triu_indices(len(causal) if wanted["interaction"] > 0 else 0, 1)
    effects: dict[str, Floats] = {}
    parts: dict[str, Floats] = {}
    for (term, share), seed in zip(wanted.items(), seeds[1:], strict=True):
        if share == 0:
            continue
        design: Floats | None = None
        if term == "additive":
            design = x
        elif term == "interaction":
            design = x[:, pairs[0]] * x[:, pairs[1]]
        elif term == "structure":
            design = principal_components(dosages, _N_COMPONENTS)
        elif term == "cage":
            codes, cages = pd.factorize(np.asarray(cage).astype(str))
            design = np.eye(len(cages))[codes]
        earlier = list(parts.values()) if settings.orthogonal else []
        rng = np.random.default_rng(seed)
        effects[term], parts[term] = draw_term(design, len(dosages), earlier, share, rng, term=term)
    components = pd.DataFrame({term: parts.get(term, np.zeros(len(dosages))) for term in TERMS})
    scale = float(np.std(components.to_numpy().sum(axis=1), ddof=1))
    components /= scale
    shares = realised_shares(components)
    effects = {term: values / scale for term, values in effects.items()}
    truth = truth_table(variants, causal, pairs, effects, shares)
    return Trait(settings.name, components.to_numpy().sum(axis=1), truth, shares, components, causal)


def write_trait(trait: Trait, samples: Samples, prefix: Path) -> tuple[Path, Path]:
    """Write PREFIX.NAME.pheno.tsv (FID IID NAME) and PREFIX.NAME.truth.tsv; existing files are replaced.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    table = pd.DataFrame({"FID": samples.fid, "IID": samples.iid, trait.name: trait.phenotype})
    return (
        write_table(table, Path(f"{prefix}.{trait.name}.pheno.tsv")),
        write_table(trait.truth, Path(f"{prefix}.{trait.name}.truth.tsv")),
    )


def _check(dosages: NDArray[np.floating], variants: Variants, cage: Strings | None, settings: TraitSettings) -> None:
    if dosages.ndim != 2 or dosages.shape[1] != len(variants) or len(dosages) < 2:
        raise InputError(f"dosages of shape {dosages.shape} do not fit {len(variants)} variants in at least 2 samples")
    # Column sums show a NaN without a second matrix of flags.
    incomplete = int(np.count_nonzero(~np.isfinite(dosages.sum(axis=0))))
    if incomplete:
        raise InputError(f"{incomplete} of {len(variants)} variants have missing dosages", remedy="impute them first")
    low, high = float(dosages.min(initial=0)), float(dosages.max(initial=0))
    if low < 0 or high > 2:
        raise InputError(
            f"dosages run from {low:.4g} to {high:.4g}",
            remedy="give copies of a1, from 0 to 2, not standardised",
        )
    if settings.cage_share > 0 and cage is None:
        raise SettingsError(
            f"{settings.cage_share} asked, but no cages are known",
            where="cage_share",
            remedy="give the cages",
        )
    if cage is not None and len(cage) != len(dosages):
        raise InputError(f"{len(cage)} cages given for {len(dosages)} samples")
    if settings.cage_share > 0 and (homeless := int(np.sum(pd.isna(cage)))):
        raise InputError(f"{homeless} of {len(dosages)} samples have no cage", remedy="give each a cage")
    unknown = sorted(set(settings.avoid_chromosomes) - set(variants.chrom))
    if unknown:
        raise SettingsError(
            f"no variants on chromosome {', '.join(unknown)}",
            where="avoid_chromosomes",
            remedy=f"use the file's names: {', '.join(dict.fromkeys(variants.chrom))}",
        )


def _draw_causal(
    dosages: NDArray[np.floating], variants: Variants, settings: TraitSettings, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Columns of the causal variants, ascending; none when they explain nothing."""
    if settings.variance_explained == 0:
        return np.zeros(0, dtype=np.intp)
    frequency = dosages.mean(axis=0, dtype=np.float64) / 2
    eligible = varies(dosages) & ~np.isin(variants.chrom, settings.avoid_chromosomes)
    if not settings.infinitesimal:
        eligible &= np.minimum(frequency, 1 - frequency) >= _MIN_MAF
    candidates = np.flatnonzero(eligible)
    wanted = 1 if settings.infinitesimal else settings.n_causal
    if len(candidates) < wanted:
        rule = "vary" if settings.infinitesimal else f"have a minor allele frequency of at least {_MIN_MAF}"
        raise SettingsError(
            f"{wanted} causal variants asked, but only {len(candidates)} of {len(variants)} {rule} "
            "and lie on a chromosome that is not avoided",
            where="n_causal",
            remedy="ask for fewer or avoid fewer chromosomes",
        )
    return candidates if settings.infinitesimal else np.sort(rng.choice(candidates, wanted, replace=False))
