"""Thresholds, and the account of what each filter removed."""

from __future__ import annotations

from dataclasses import dataclass, field

from goalscli.errors import Problems, SettingsError


@dataclass(frozen=True)
class Filters:
    """Thresholds, in PLINK's words.

    Attributes
    ----------
    mind : float
        Samples with a share of missing calls above this are removed.
    geno : float
        Variants with a share of missing calls above this are removed.
    maf : float
        Variants with a minor allele frequency below this are removed.
    mac : int
        Variants with fewer copies of the minor allele than this are removed; 0 for none.
    hwe : float
        Variants with an exact Hardy–Weinberg p below this are removed; 0 for none.

    Raises
    ------
    SettingsError
        A threshold out of range.
    """

    mind: float = 0.1
    geno: float = 0.1
    maf: float = 0.05
    mac: int = 0
    hwe: float = 0.0

    def __post_init__(self) -> None:
        problems = Problems()
        for name, top in (("mind", 1.0), ("geno", 1.0), ("maf", 0.5), ("hwe", 1.0)):
            value = getattr(self, name)
            if not 0 <= value <= top:
                remedy = "give a p-value" if name == "hwe" else "give a share"
                problems.add([SettingsError(f"{value} is outside 0 to {top:g}", where=f"--{name}", remedy=remedy)])
        if self.mac < 0:
            problems.add([SettingsError(f"{self.mac} is negative", where="--mac", remedy="give a number of alleles")])
        problems.raise_any()


@dataclass
class Accounting:
    """How many samples and variants each filter removed, in the order of the filters."""

    n_samples: int
    n_variants: int
    rows: list[tuple[str, int, int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows.append(("input", 0, self.n_samples, 0, self.n_variants))

    def remove(self, step: str, samples: int = 0, variants: int = 0) -> None:
        """Note what one filter removed."""
        self.n_samples -= samples
        self.n_variants -= variants
        self.rows.append((step, samples, self.n_samples, variants, self.n_variants))

    def table(self) -> str:
        """Return the table as tab-separated text with a header."""
        head = "#FILTER\tSAMPLES_REMOVED\tSAMPLES_LEFT\tVARIANTS_REMOVED\tVARIANTS_LEFT\n"
        return head + "".join("\t".join(map(str, row)) + "\n" for row in self.rows)
