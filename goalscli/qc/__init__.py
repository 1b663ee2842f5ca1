"""Quality control: filters, imputation by family, and the account of what each filter removed."""

from __future__ import annotations

from goalscli.qc.filters import Accounting, Filters
from goalscli.qc.hardy import diploid, hardy_weinberg
from goalscli.qc.statistics import (
    READ_VARIANTS,
    Imputed,
    Reference,
    VariantStatistics,
    family_codes,
    impute,
    keep_variants,
    variant_statistics,
)

__all__ = [
    "READ_VARIANTS",
    "Accounting",
    "Filters",
    "Imputed",
    "Reference",
    "VariantStatistics",
    "diploid",
    "family_codes",
    "hardy_weinberg",
    "impute",
    "keep_variants",
    "variant_statistics",
]
