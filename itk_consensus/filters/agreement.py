"""AgreementFilter: how well raters agree with each other, and with a consensus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.agreement.result import AgreementResult
from itk_consensus.agreement.study import AgreementSettings, study_agreement
from itk_consensus.constraints import Boolean, Real
from itk_consensus.errors import ParameterError
from itk_consensus.filters.fused_images import FusedImages
from itk_consensus.filters.fuser_at_work import FuserAtWorkMixin
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import Output, Parameter, handed_out
from itk_consensus.images import convert
from itk_consensus.work import report, stage


class AgreementFilter(FuserAtWorkMixin):
    """Agreement of raters, label by label: overlap, chance-corrected agreement, contour distances.

    Dice, Jaccard, generalised conformity index, specific agreement, volumes and their variation;
    Fleiss' kappa and Krippendorff's alpha over all voxels, which background inflates, and over the
    voxels somebody marked, which deflates them; Hausdorff distance, its 95th percentile, mean
    surface distance and surface Dice, between centres of voxels on the surface, as MONAI defines
    them. Only voxels that both raters of a pair annotated count. Two raters who both left a label
    out have Dice 1 and no distance (NaN); if only one did, distances are infinite.
    """

    Surfaces = Parameter(Boolean(), True, "Whether to measure surface distances as well.")
    SurfaceTolerance = Parameter(
        Real(low=0.0),
        AgreementSettings.tolerance,
        "Distance in mm up to which contours agree, for the surface Dice.",
    )

    _result = Output[AgreementResult | None](None)

    def Execute(
        self, images: Any, reference: Any = None, names: Sequence[str] | None = None
    ) -> AgreementResult:
        """Compare label images.

        Parameters
        ----------
        images : list of images
            SimpleITK or itk images, or NumPy arrays, on one grid. None stands for a missing rater;
            a vector image holds one rater per component.
        reference : image or LabelFusionFilter, optional
            A consensus to compare each rater with: a label image, or a filter that makes one of
            `images`, on this filter's MaskImage, MissingLabel and RaterMasks.
        names : sequence of str, optional
            What each rater is called.

        Returns
        -------
        AgreementResult
            Has ``.table()``, ``.to_csv()``, ``.to_json()``, ``.to_pandas()``.
        """
        with self._running():
            inputs, name = convert.as_list(images, self.GetName()), None
            if isinstance(reference, LabelFusionFilter):
                with stage(0.0, 0.2):
                    name, reference = reference.method, self._consensus(reference, inputs)
            elif reference is not None:
                name = "reference"
            report(0.2)
            case = self._load(inputs) if name is None else self._load_with(reference, inputs)
            report(0.5)
            named = self._names(names, case.patterns.number_of_raters - (name is not None))
            with stage(0.5, 0.99):
                self._result = result = study_agreement(
                    case.patterns,
                    case.spacing,
                    named if name is None else [*named, name],
                    AgreementSettings(self.Surfaces, self.SurfaceTolerance),
                    reference=name,
                )
            return handed_out(result)

    def GetResult(self) -> AgreementResult:
        """What the last Execute returned."""
        return handed_out(self._made(self._result))

    def _consensus(self, fuser: LabelFusionFilter, inputs: list[Any]) -> Any:
        fused = self._have_fused(fuser, inputs).fused
        return convert.to_image(consensus_labels(fused), fused.like)

    def _load_with(self, reference: Any, inputs: list[Any]) -> FusionCase:
        """The raters and, after them, a reference, which annotated everywhere."""
        masks = self.RaterMasks
        terms = {} if masks is None else {"RaterMasks": (*masks, None)}
        return self._lent(terms)._load([*inputs, reference])

    def _names(self, names: Sequence[str] | None, raters: int) -> list[str]:
        if names is None:
            return [f"rater {index}" for index in range(raters)]
        if len(names) != raters:
            raise ParameterError(f"names must be {raters}, got {len(names)}", owner=self.GetName())
        return [str(name) for name in names]


def Agreement(
    images: Any, reference: Any = None, names: Sequence[str] | None = None, **parameters: Any
) -> AgreementResult:
    """How well raters agree; function form of AgreementFilter, whose parameters it takes.

    Parameters
    ----------
    images : list of images
        SimpleITK or itk images, or NumPy arrays, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus to compare each rater with, or a filter that makes it.
    names : sequence of str, optional
        What each rater is called.
    """
    return AgreementFilter(**parameters).Execute(images, reference, names)


def consensus_labels(fused: FusedImages) -> NDArray[Any]:
    """The fused label of each voxel; undecided voxels, which have none, are background."""
    values = np.array([*fused.labels, 0, 0], fused.dtype)
    return np.asarray(values[fused.decision(fused.labels)])
