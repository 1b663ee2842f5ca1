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
