"""FuserAtWorkMixin: another filter works for this one, which speaks and is aborted for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from itk_consensus.core.process_object import ITERATION_EVENT, PROGRESS_EVENT
from itk_consensus.core.work import current, report
from itk_consensus.fusing.fusion_case import FusionCase, RaterInputs
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.label_fusion import LabelFusionFilter


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
        work, run = current(), self._run
        assert run is not None

        def tell() -> None:
            work.move(worker.GetProgress())
            if run.is_aborting:
                worker.Abort()

        report(0.0)  # Abort may have come before
        commands = [(PROGRESS_EVENT, tell), (ITERATION_EVENT, tell)]
        worker = fuser._lent(self._terms() | dict(terms or {}), commands)
        return worker.fuse(images, reuse_from)
