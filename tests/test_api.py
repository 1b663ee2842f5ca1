"""The public names, from arrays to a table."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_data

import goalscli
from goalscli.errors import InputError


def test_from_arrays_to_a_table():
    x, y = random_data(80, 50, seed=3, missing=0.02)
    extra = np.random.default_rng(1).normal(size=80)
    source = goalscli.from_array(x)
    dataset = goalscli.make_dataset(source, y, covariates=extra, group=list("ab" * 40))
    assert dataset.covariates.names == ("intercept", "covariate1")
    assert set(dataset.samples.group) == {"a", "b"}
    result = goalscli.scan(goalscli.ExactGP().fit(dataset), dataset, [goalscli.Goals(xi=2.0)])
    scores = {name.removeprefix("goals/"): values for name, values in result.columns.items()}
    table = goalscli.effect_table(vars(dataset.variants), scores, xi=2.0)
    np.testing.assert_allclose(table["EFFECT"], -scores["score"] / 2)
    np.testing.assert_allclose(table["EFFECT_SD"], scores["sd"] / 2)
    np.testing.assert_allclose(table["Z"], -scores["z"])
    # The trait rises with the first variant's allele (random_data), and the table says so in that direction.
    marginal = np.corrcoef(np.nan_to_num(x[:, 0], nan=np.nanmean(x[:, 0])), y)[0, 1]
    assert np.sign(table["EFFECT"][0]) == np.sign(marginal) == 1


def test_arrays_of_another_length_are_refused():
    source = goalscli.from_array(np.array([[0, 1], [2, 1], [1, 0]]))
    with pytest.raises(InputError, match=r"phenotype has shape \(2,\), but there are 3 samples"):
        goalscli.make_dataset(source, [1.0, 2.0])
    with pytest.raises(InputError, match=r"1 dosages lie outside \[0, 2\]"):
        goalscli.from_array(np.array([[0, 3]]))


def test_every_public_name_exists():
    for name in goalscli.__all__:
        assert getattr(goalscli, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        goalscli.nothing  # noqa: B018
