"""FuserRunnerMixin: run another filter within this one, sharing events, progress and Abort."""

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


class FuserRunnerMixin(RaterInputs):
    """A filter that runs fusers internally, with its own masks and other shared parameters."""

    def _run_fuser(
        self,
        fuser: LabelFusionFilter,
        images: list[Any],
        reuse_from: FusionCase | None = None,
        terms: Mapping[str, Any] | None = None,
    ) -> FusionResult[Any]:
        """Run a fuser with this filter's shared parameters, and report progress to its commands.

        Parameters
        ----------
        fuser : LabelFusionFilter
            The fuser to run; a copy is used, so it is not changed.
        reuse_from : FusionCase, optional
            A case with the same images, whose votes are reused.
        terms : mapping, optional
            Parameters that override this filter's own.
        """
        return self._run_inner_filter(fuser, lambda worker: worker.fuse(images, reuse_from), terms)

    def _run_inner_filter(
        self,
        fuser: P,
        work_of: Callable[[P], FusionResult[Any]],
        terms: Mapping[str, Any] | None = None,
    ) -> FusionResult[Any]:
        """Run a copy of a filter with this filter's shared parameters."""
        work, run = current(), self._run
        assert run is not None

        def tell() -> None:
            work.move(worker.GetProgress())
            if run.is_aborting:
                worker.Abort()

        report(0.0)  # Abort may already have been called
        commands = [(PROGRESS_EVENT, tell), (ITERATION_EVENT, tell)]
        lent = self._shared_parameters() | dict(terms or {})
        known = {one.name for one in parameters_of(type(fuser))}
        values = {name: value for name, value in lent.items() if name in known}
        worker = fuser._clone_sharing_runs(values, commands)
        return work_of(worker)
