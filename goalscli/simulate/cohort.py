"""Cohorts of outbred animals with families, cages, linkage disequilibrium and missing calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from goalscli.errors import OutputError, SettingsError, told
from goalscli.genotypes.plink import write_plink
from goalscli.genotypes.source import Samples, Strings, Variants
from goalscli.simulate._files import write_table
from goalscli.simulate.haplotypes import founder_haplotypes, gene_drop
from goalscli.simulate.pedigree import Generation, breed, house, labels, litters, mate

MISSING = -127
"""The code of a missing call in int8 dosages."""

_POOR_ONE_IN = 250
_POOR_RATES = (0.1, 0.3)
_BLOCK = 4096


@dataclass(frozen=True)
class CohortSettings:
    """What cohort to make.

    Attributes
    ----------
    n_samples, n_variants : int
        Of the cohort; the variants are shared equally among the chromosomes.
    n_chromosomes : int
        Autosomes, named 1, 2, ...; all of one length, with equal numbers of variants.
    x_chromosome : bool
        Add a chromosome X; males carry 0 or 2 copies, never 1.
    n_founders : int
        Unrelated outbred founders.
    n_generations, n_breeders : int
        Generations of random mating after the founders, and the animals in each.
    family_size, cage_size : int
        Mean litter size; cage size, give or take one.
    missing_rate : float
        Share of calls missing at random; above 0, one variant in 250 has 10 to 30 % missing instead.
    chromosome_length_morgans, bp_per_morgan : float
        Length of each chromosome, and base pairs in a Morgan.
    seed : int
        The same settings give the same cohort.

    Raises
    ------
    SettingsError
        A value out of range.
    """

    n_samples: int = 500
    n_variants: int = 2000
    n_chromosomes: int = 5
    x_chromosome: bool = False
    n_founders: int = 8
    n_generations: int = 10
    n_breeders: int = 60
    family_size: int = 6
    cage_size: int = 4
    missing_rate: float = 0.005
    chromosome_length_morgans: float = 1.0
    bp_per_morgan: float = 1.5e8
    seed: int = 1

    def __post_init__(self) -> None:
        least = {
            "n_samples": 2, "n_variants": 1, "n_chromosomes": 0 if self.x_chromosome else 1, "n_founders": 2,
            "n_generations": 1, "n_breeders": 2, "family_size": 1, "cage_size": 2, "seed": 0,
        }  # fmt: skip
        for name, low in least.items():
            if getattr(self, name) < low:
                raise SettingsError(f"{getattr(self, name)} is too small", where=name, remedy=f"give at least {low}")
        if not 0 <= self.missing_rate < 1:
            raise SettingsError(f"{self.missing_rate} is not a share", where="missing_rate", remedy="give 0 to below 1")
        for name in ("chromosome_length_morgans", "bp_per_morgan"):
            if not 0 < getattr(self, name) < np.inf:
                raise SettingsError(f"{getattr(self, name)} is not a length", where=name, remedy="give a value above 0")
        length, count = self.length_bp, -(-self.n_variants // len(self.chromosomes))
        if not count <= length < 2**31:
            raise SettingsError(
                f"a chromosome of {length} bp cannot hold {count} variants at positions below 2^31",
                where="chromosome_length_morgans",
                remedy="change the length, bp_per_morgan or n_variants",
            )

    @property
    def chromosomes(self) -> tuple[str, ...]:
        """Names, in file order."""
        return tuple(str(c + 1) for c in range(self.n_chromosomes)) + ("X",) * self.x_chromosome

    @property
    def length_bp(self) -> int:
        """Base pairs in a chromosome."""
        return int(self.chromosome_length_morgans * self.bp_per_morgan)


@dataclass(frozen=True)
class Cohort:
    """A simulated cohort.

    Attributes
    ----------
    samples, variants : Samples, Variants
        FID is the family (full sibs); a1 is the minor allele of the genotypes before calls go missing.
    dosages : (n, J) int8, Fortran order
        Copies of a1; -127 where missing.
    sire, dam, cage : (n,) object of str
        Parents are not in the cohort.
    """

    samples: Samples
    variants: Variants
    dosages: NDArray[np.int8]
    sire: Strings
    dam: Strings
    cage: Strings

    @property
    def sex(self) -> NDArray[np.int8]:
        """(n,) int8: 1 male, 2 female."""
        return self.samples.sex


def simulate_cohort(settings: CohortSettings) -> Cohort:
    """Breed founders at random for some generations and genotype the families at the end.

    Each founder haplotype is a mosaic of a few ancestral ones. Crossovers are Poisson(Morgans) at uniform
    places, without interference. Separate random streams: the missing rate or the cage size does not change
    the genotypes.

    Parameters
    ----------
    settings : CohortSettings

    Returns
    -------
    Cohort
        The same for the same settings.
    """
    seeds = np.random.SeedSequence(settings.seed).spawn(6)
    pedigree_rng, cage_rng, missing_rng = (np.random.default_rng(seed) for seed in seeds[:3])
    line = breed(settings.n_founders, settings.n_generations, settings.n_breeders, pedigree_rng)
    litter = litters(settings.n_samples, settings.family_size, pedigree_rng)
    sires, dams = mate(line[-1], int(litter[-1]) + 1, pedigree_rng)
    male = pedigree_rng.random(settings.n_samples) < 0.5
    born = Generation(sires[litter], dams[litter], male)
    dosages, variants = _genotypes((*line, born), settings, seeds[3:])
    _lose_calls(dosages, settings.missing_rate, missing_rng)
    # Two litters of one couple are one family of full sibs.
    family = pd.factorize(born.sire * len(line[-1].sire) + born.dam)[0]
    samples = Samples(
        fid=labels("F", family),
        iid=labels("M", np.arange(settings.n_samples)),
        sex=np.where(male, 1, 2).astype(np.int8),
        phenotype=np.full(settings.n_samples, "-9", dtype=object),
    )
    cage = house(litter, male, settings.cage_size, cage_rng)
    return Cohort(samples, variants, dosages, labels("S", born.sire), labels("D", born.dam), labels("C", cage))


def write_cohort(cohort: Cohort, prefix: Path) -> tuple[Path, ...]:
    """Write PREFIX.bed, .bim, .fam and PREFIX.groups.tsv (FID IID family sire dam cage sex).

    Existing files are replaced.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    prefix = Path(prefix)
    try:
        prefix.parent.mkdir(parents=True, exist_ok=True)
        write_plink(prefix, cohort.dosages, cohort.samples, cohort.variants)
    except OSError as error:
        raise OutputError(
            f"cannot be written ({told(error)})",
            where=f"{prefix}.bed",
            remedy="make room there, or choose another prefix",
        ) from error
    groups = pd.DataFrame({
        "FID": cohort.samples.fid, "IID": cohort.samples.iid, "family": cohort.samples.fid,
        "sire": cohort.sire, "dam": cohort.dam, "cage": cohort.cage, "sex": cohort.sex,
    })  # fmt: skip
    written = [Path(f"{prefix}.{suffix}") for suffix in ("bed", "bim", "fam")]
    return (*written, write_table(groups, Path(f"{prefix}.groups.tsv")))


def _genotypes(
    line: tuple[Generation, ...], settings: CohortSettings, seeds: list[np.random.SeedSequence]
) -> tuple[NDArray[np.int8], Variants]:
    """Dosages (n, J) of the last generation, Fortran order, and the variants, chromosome by chromosome."""
    names = settings.chromosomes
    streams = [[np.random.default_rng(s) for s in seed.spawn(len(names))] for seed in seeds]
    columns = np.array_split(np.arange(settings.n_variants), len(names))
    dosages = np.empty((settings.n_samples, settings.n_variants), dtype=np.int8, order="F")
    pos = np.empty(settings.n_variants, dtype=np.int64)
    alleles = np.empty((2, settings.n_variants), dtype=np.intp)
    for name, own, site_rng, founder_rng, meiosis_rng in zip(names, columns, *streams, strict=True):
        if len(own) == 0:
            continue
        here = slice(own[0], own[-1] + 1)
        # Sorted draws from a range shortened by their number, spread by one each: distinct positions.
        pos[here] = np.sort(site_rng.integers(1, settings.length_bp - len(own) + 2, size=len(own)))
        pos[here] += np.arange(len(own))
        alleles[0, here] = site_rng.integers(4, size=len(own))
        alleles[1, here] = (alleles[0, here] + site_rng.integers(1, 4, size=len(own))) % 4
        morgans = pos[here] / settings.bp_per_morgan
        length = settings.chromosome_length_morgans
        pool = founder_haplotypes(2 * settings.n_founders, morgans, length, founder_rng)
        block = gene_drop(line, pool, morgans, length, is_x=name == "X", rng=meiosis_rng)
        # A male's X is one copy, so it counts half.
        copies = np.where(line[-1].male & (name == "X"), 1, 2)
        major = np.einsum("i,ij->j", copies, block) > copies.sum()
        block[:, major] = 2 - block[:, major]
        alleles[:, here][:, major] = alleles[::-1, here][:, major]
        dosages[:, here] = block
    chrom = np.repeat(np.array(names, dtype=object), [len(own) for own in columns])
    ids = np.array([f"sim{c}_{p}" for c, p in zip(chrom, pos, strict=True)], dtype=object)
    a1, a2 = np.array(list("ACGT"), dtype=object)[alleles]
    return dosages, Variants(chrom, ids, pos, a1, a2)


def _lose_calls(dosages: NDArray[np.int8], rate: float, rng: np.random.Generator) -> None:
    """Set calls missing at random, in place, and many more of a few poor variants."""
    if rate == 0:
        return
    n_variants = dosages.shape[1]
    rates = np.full(n_variants, rate, dtype=np.float32)
    poor = rng.choice(n_variants, size=n_variants // _POOR_ONE_IN, replace=False)
    rates[poor] = np.maximum(rate, rng.uniform(*_POOR_RATES, size=len(poor)))
    for start in range(0, n_variants, _BLOCK):
        block = dosages[:, start : start + _BLOCK]
        block[rng.random(block.shape, dtype=np.float32) < rates[start : start + _BLOCK]] = MISSING
