"""Whether torch and safetensors are there, and how many threads it may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from itk_consensus.core.errors import MissingDependencyError

#: More than any machine has; torch takes no larger numbers than C does.
_MOST_THREADS = 2**15


def require_torch(owner: str) -> None:
    """Raise, naming the extra, unless torch and its file format can be imported."""
    for library in ("torch", "safetensors"):
        try:
            import_module(library)
        except ImportError as error:
            raise MissingDependencyError(
                f"{owner} needs {library}: pip install 'itk-consensus[deep]'"
            ) from error


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Let torch use this many threads, and give it back what it had."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(min(number, _MOST_THREADS))
    try:
        yield
    finally:
        torch.set_num_threads(before)
