"""Interception of all calls of compiled kernels, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from itk_consensus import _kernels

KERNELS = {
    name: function
    for name, function in vars(_kernels).items()
    if callable(function) and not isinstance(function, type)
}


@contextmanager
def kernels(call: Callable[..., Any]) -> Iterator[None]:
    """Replace every kernel with call(name, kernel, *args, **options)."""
    with pytest.MonkeyPatch.context() as patch:
        for name, kernel in KERNELS.items():
            patch.setattr(_kernels, name, lambda *a, n=name, k=kernel, **o: call(n, k, *a, **o))
        yield
