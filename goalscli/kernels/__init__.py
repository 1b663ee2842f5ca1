"""Covariance functions: Gram matrix, bandwidth, shifts and derivatives of f."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, cast

from goalscli.errors import SettingsError
from goalscli.kernels.base import (
    GRAM_VARIANTS,
    Kernel,
    KernelShift,
    KernelSlope,
    Shifter,
    Sloper,
    inner_products,
    median_bandwidth,
    mirror,
    product,
)

__all__ = [
    "GRAM_VARIANTS",
    "KERNELS",
    "Kernel",
    "KernelShift",
    "KernelSlope",
    "Shifter",
    "Sloper",
    "inner_products",
    "kernel",
    "median_bandwidth",
    "mirror",
    "product",
    "require_smooth",
]


def _make(module: str, attribute: str, **settings: Any) -> Kernel:
    return cast(Kernel, getattr(import_module(f"goalscli.kernels.{module}"), attribute)(**settings))


KERNELS: dict[str, Callable[[], Kernel]] = {
    "rbf": partial(_make, "rbf", "RBF"),
    "laplacian": partial(_make, "laplacian", "Laplacian"),
    "cauchy": partial(_make, "radial", "Cauchy"),
    "matern32": partial(_make, "radial", "Matern", name="matern32", nu=1.5),
    "matern52": partial(_make, "radial", "Matern", name="matern52", nu=2.5),
    "linear": partial(_make, "linear", "Linear"),
}


def kernel(name: str) -> Kernel:
    """Return a kernel by name.

    Raises
    ------
    SettingsError
        There is none of that name.
    """
    if name not in KERNELS:
        raise SettingsError(f"no kernel {name!r}", where="--kernel", remedy=f"give one of: {', '.join(KERNELS)}")
    return KERNELS[name]()


def require_smooth(name: str, where: str = "--scores psi", otherwise: str = "take the scores goals and rate") -> None:
    """Refuse a kernel under which f has no derivatives.

    Parameters
    ----------
    name : str
        The kernel's.
    where, otherwise : str
        The option that asks for derivatives, and what to do without them.

    Raises
    ------
    SettingsError
        The message lists the kernels that have them.
    """
    if not kernel(name).smooth:
        able = ", ".join(other for other in KERNELS if kernel(other).smooth)
        raise SettingsError(
            f"f has no derivative with the {name} kernel, so psi does not exist",
            where=where,
            remedy=f"fit with one of the kernels {able}, or {otherwise}",
        )
