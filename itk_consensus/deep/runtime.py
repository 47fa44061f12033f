"""Whether torch is there, and how many threads it may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: More than any machine has; torch takes no larger numbers than C does.
_MOST_THREADS = 2**15


def torch_is_installed() -> bool:
    """Whether torch can be imported."""
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


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
