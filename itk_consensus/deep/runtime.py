"""Check that torch and safetensors are installed, and set torch's number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from itk_consensus.core.errors import MissingDependencyError

#: Upper bound of the number of threads, since torch fails beyond the range of a C int.
_MOST_THREADS = 2**15


def require_torch(owner: str) -> None:
    """Raise an error naming the extra to install unless torch and safetensors can be imported."""
    for library in ("torch", "safetensors"):
        try:
            import_module(library)
        except ImportError as error:
            raise MissingDependencyError(
                f"{owner} needs {library}: pip install 'itk-consensus[deep]'"
            ) from error


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Set torch's number of threads, and restore the previous one on exit."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(min(number, _MOST_THREADS))
    try:
        yield
    finally:
        torch.set_num_threads(before)
