"""FuserAtWorkMixin: another filter works for this one, which speaks and is aborted for both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from itk_consensus.filters.fusion_case import RaterInputs
from itk_consensus.filters.process_object import ITERATION_EVENT, PROGRESS_EVENT, lent


class FuserAtWorkMixin(RaterInputs):
    """A filter that has a part of its work done by fusers, who see images on its terms."""

    _at_work: RaterInputs | None = None

    def Abort(self) -> None:
        """Stop at the next chance, the fuser at work included."""
        super().Abort()
        if self._at_work is not None:
            self._at_work.Abort()

    @contextmanager
    def _at_work_is(self, fuser: RaterInputs) -> Iterator[None]:
        """Lend a fuser this filter's terms, and tell its progress to this filter's commands."""
        self._at_work, own = fuser, list(fuser._commands)
        for event in (PROGRESS_EVENT, ITERATION_EVENT):
            fuser.AddCommand(event, lambda: self._invoke(PROGRESS_EVENT))
        try:
            with lent(fuser, self._terms()):
                yield
        finally:
            self._at_work, fuser._commands[:] = None, own
