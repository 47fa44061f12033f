"""Whether torch is there, and how many threads it may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from itk_consensus.errors import MissingDependencyError

#: More than any machine has; torch takes no larger numbers than C does.
_MOST_THREADS = 2**15


def require_torch(owner: str) -> None:
    """Raise, naming the extra, unless torch can be imported."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            f"{owner} needs torch: pip install 'itk-consensus[deep]'"
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
