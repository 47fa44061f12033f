"""AgreementFilter: how well raters agree with each other, and with a consensus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from itk_consensus.assessment.agreement.compared_raters import ComparedRaters
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import AgreementSettings, study_agreement
from itk_consensus.calibration.sample_segmentations import volume_intervals
from itk_consensus.core.constraints import Boolean, Real
from itk_consensus.core.parameters import Parameter, handed_out
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.label_fusion import LabelFusionFilter


class AgreementFilter(ComparedRaters):
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
    VolumeIntervals = Parameter(
        Boolean(),
        False,
        "Whether to say, from samples about a consensus that is made here, which volume another "
        "rater would draw, with an interval of 90 %.",
    )

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
        with self._running() as run:
            if self.VolumeIntervals and not isinstance(reference, LabelFusionFilter):
                raise self._wrong(
                    "VolumeIntervals", "needs a filter, or a method of fuse, as the reference"
                )
            case, name, made = self._compared(images, reference)
            report(0.5)
            named = self._names(names, case.patterns.number_of_raters - (name is not None))
            with stage(0.5, 0.9):
                result = study_agreement(
                    case.patterns,
                    case.spacing,
                    named if name is None else [*named, name],
                    AgreementSettings(self.Surfaces, self.SurfaceTolerance),
                    reference=name,
                )
            if self.VolumeIntervals and made is not None:
                result = result.with_volumes(volume_intervals(made))
            run.result = result
            return handed_out(result)

    def GetResult(self) -> AgreementResult:
        """What the last Execute returned."""
        result: AgreementResult = super().GetResult()
        return handed_out(result)


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
