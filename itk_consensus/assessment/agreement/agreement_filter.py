"""AgreementFilter: agreement between raters, and between raters and a consensus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from itk_consensus.assessment.agreement.compared_raters import ComparedRaters
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import AgreementSettings, study_agreement
from itk_consensus.calibration.sample_segmentations import volume_intervals
from itk_consensus.core.constraints import Boolean, Real
from itk_consensus.core.parameters import Parameter, defensive_copy
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.label_fusion import LabelFusionFilter


class AgreementFilter(ComparedRaters):
    """Agreement of raters, label by label: overlap, chance-corrected agreement, contour distances.

    Computes Dice, Jaccard, generalised conformity index, specific agreement, volumes and their
    variation. Fleiss' kappa and Krippendorff's alpha are computed over all voxels, where background
    inflates them, and over the voxels that any rater marked, which deflates them. Hausdorff
    distance, its 95th percentile, mean surface distance and surface Dice are computed between
    surface voxel centres, as defined by MONAI. Each pair of raters is compared only over voxels
    that both annotated. If both raters left a label out, Dice is 1 and distances are NaN; if only
    one did, distances are infinite.
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
        "Whether to estimate which volume another rater would draw, with a 90 % interval, from "
        "samples of the consensus; needs a filter as the reference.",
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
            A consensus with which each rater is compared: a label image, or a filter that fuses
            `images` with this filter's MaskImage, MissingLabel and RaterMasks.
        names : sequence of str, optional
            Names of the raters.

        Returns
        -------
        AgreementResult
            Has ``.table()``, ``.to_csv()``, ``.to_json()``, ``.to_pandas()``.
        """
        with self._running() as run:
            if self.VolumeIntervals and not isinstance(reference, LabelFusionFilter):
                raise self._parameter_error(
                    "VolumeIntervals", "needs a filter, or a method of fuse, as the reference"
                )
            case, name, made = self._load_comparison(images, reference)
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
            return defensive_copy(result)

    def GetResult(self) -> AgreementResult:
        """Return the result of the last Execute."""
        result: AgreementResult = super().GetResult()
        return defensive_copy(result)


def agreement(
    images: Any, reference: Any = None, names: Sequence[str] | None = None, **parameters: Any
) -> AgreementResult:
    """Measure the agreement between raters; function form of AgreementFilter with the same
    parameters.

    Parameters
    ----------
    images : list of images
        SimpleITK or itk images, or NumPy arrays, on one grid.
    reference : image or LabelFusionFilter, optional
        A consensus with which each rater is compared, or a filter that computes it.
    names : sequence of str, optional
        Names of the raters.
    """
    return AgreementFilter(**parameters).Execute(images, reference, names)
