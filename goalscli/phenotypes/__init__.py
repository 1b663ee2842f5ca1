"""Trait, covariate and sample tables: reading, matching to genotypes, and the matrix of covariates."""

from goalscli.phenotypes.columns import Missing, NumericColumn, categorical, has_numbers, numeric, select_columns
from goalscli.phenotypes.covariates import Covariate, Covariates, covariate_matrix
from goalscli.phenotypes.join import Joined, join
from goalscli.phenotypes.tables import Table, read_sample_list, read_table

__all__ = [
    "Covariate",
    "Covariates",
    "Joined",
    "Missing",
    "NumericColumn",
    "Table",
    "categorical",
    "covariate_matrix",
    "has_numbers",
    "join",
    "numeric",
    "read_sample_list",
    "read_table",
    "select_columns",
]
