"""Tail probabilities against arbitrary precision."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from goalscli.scores.tail import neg_log10_p


def exact(z: float, m: int) -> float:
    """-log10 of the two-sided t tail by mpmath."""
    with mpmath.workdps(60):
        t = mpmath.mpf(z) * mpmath.sqrt((m - 1) / (m - mpmath.mpf(z) ** 2))
        x = (m - 1) / (m - 1 + t**2)
        p = mpmath.betainc((m - 1) / mpmath.mpf(2), mpmath.mpf(1) / 2, 0, x, regularized=True)
        return float(-mpmath.log10(p))


@pytest.mark.parametrize("m", [5, 24, 399, 1399, 20000])
def test_student_tail(m):
    z = np.array([0.0, 1e-4, 0.3, 1, 2, 3.9, 8, 20, 37.5, 60, 120])
    z = z[z**2 < 0.999 * m]
    wanted = [exact(v, m) if v else 0.0 for v in z]
    np.testing.assert_allclose(neg_log10_p(z, m, True), wanted, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(neg_log10_p(-z, m, True), wanted, rtol=1e-9, atol=1e-8)


def test_stated_example():
    """At 24 residual degrees of freedom (N = 25) a nominal normal p of 1e-3 or so is what Student's t says."""
    z = np.array([3.2905])
    assert neg_log10_p(z, 24, False)[0] == pytest.approx(3.0, abs=1e-4)
    t = 3.2905 * np.sqrt(23 / (24 - 3.2905**2))
    from scipy.special import stdtr

    assert neg_log10_p(z, 24, True)[0] == pytest.approx(-np.log10(2 * stdtr(23, -t)), rel=1e-12)


def test_normal_tail_never_underflows():
    z = np.array([0.0, 1.96, 40.0, 1000.0])
    wanted = [0.0] + [float(-mpmath.log10(mpmath.erfc(mpmath.mpf(v) / mpmath.sqrt(2)))) for v in z[1:]]
    np.testing.assert_allclose(neg_log10_p(z, 100, False), wanted, rtol=1e-10)
