"""FuserAtWorkMixin: another filter works for this one, which speaks and is aborted for both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from itk_consensus.core.parameters import parameters_of
from itk_consensus.core.process_object import ITERATION_EVENT, PROGRESS_EVENT, ProcessObject
from itk_consensus.core.work import current, report
from itk_consensus.fusing.fusion_case import FusionCase, RaterInputs
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.label_fusion import LabelFusionFilter

P = TypeVar("P", bound=ProcessObject)


class FuserAtWorkMixin(RaterInputs):
    """A filter that has a part of its work done by fusers, who see images on its terms."""

    def _have_fused(
        self,
        fuser: LabelFusionFilter,
        images: list[Any],
        reuse_from: FusionCase | None = None,
        terms: Mapping[str, Any] | None = None,
    ) -> FusionResult[Any]:
        """Run a fuser for this filter, with its settings, and report progress to its commands.

        Parameters
        ----------
        fuser : LabelFusionFilter
            Is not changed: what it would make is returned.
        reuse_from : FusionCase, optional
            A case that is at work on the same images.
        terms : mapping, optional
            Parameters that take the place of this filter's own.
        """
        return self._have_worked(fuser, lambda worker: worker.fuse(images, reuse_from), terms)

    def _have_worked(
        self,
        fuser: P,
        work_of: Callable[[P], FusionResult[Any]],
        terms: Mapping[str, Any] | None = None,
    ) -> FusionResult[Any]:
        """What a copy of a filter makes that has what it knows of this filter's settings."""
        work, run = current(), self._run
        assert run is not None

        def tell() -> None:
            work.move(worker.GetProgress())
            if run.is_aborting:
                worker.Abort()

        report(0.0)  # Abort may have come before
        commands = [(PROGRESS_EVENT, tell), (ITERATION_EVENT, tell)]
        lent = self._terms() | dict(terms or {})
        known = {one.name for one in parameters_of(type(fuser))}
        values = {name: value for name, value in lent.items() if name in known}
        worker = fuser._lent(values, commands)
        return work_of(worker)
