"""IntensityRefinementFilter: refine a fuser's result at disputed voxels using intensities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import ImageLike, Real, optional
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.work import stage
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult
from itk_consensus.fusing.inner_fusers import FusedShares, Fuser, InnerFusersMixin
from itk_consensus.fusing.label_fusion import UndecidedLabelMixin
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.methods.consensus.intensity_refinement import HeldOutChoice, IntensityModel
from itk_consensus.space.boxes import in_space
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.fusions import VolumeFusion, VoxelShares

#: Default of IntensitySigma, in units of the smallest voxel side.
SIGMA_SIDES = 8.0
#: Margin around disputed voxels in which intensities are used, in standard deviations.
_REACH = 2.0


class IntensityRefinementFilter(UndecidedLabelMixin, InnerFusersMixin):
    """Refines a fuser's result with image intensities where raters disagree, without training data.

    The intensity distribution of each label is learned from voxels on which all raters agree;
    around a disputed voxel it gives the likelihood of the voxel's intensity under each label. The
    exponent of the likelihood is chosen by cross-validation over raters: if intensities do not
    improve the prediction of each rater from the others, the exponent is 0 and the result is that
    of the fuser, which GetFilterResult() returns. At least three raters are needed to hold one out.

    >>> refined = IntensityRefinementFilter(Image=ct).Execute(raters)
    """

    # Not invariant to relabelling: the fuser may treat label 0 as background. Not invariant to
    # background padding: neighbourhoods are cropped at the image border.
    laws = frozenset({"rater permutation", "unanimity"})

    Image = Parameter(optional(ImageLike()), None, "The image the labels were drawn on.")
    Filter = Parameter(
        optional(Fuser()),
        None,
        "Fuser whose result is refined.",
        default_doc="ConsensusFilter()",
    )
    IntensitySigma = Parameter(
        optional(Real(low=0.0, exclusive=True)),
        None,
        "Standard deviation, in mm, of the neighbourhood from which intensities are learned.",
        default_doc="8 smallest voxel sides",
    )

    IntensityWeight = Measurement(
        float,
        "Exponent of the intensity likelihood; 0 if held-out raters do not support it.",
        "estimate.weight",
    )
    HeldOutGains = Measurement(
        tuple[float, ...],
        "Gain in each held-out rater's mean log likelihood, in nats per disputed "
        "voxel, at the exponent with the largest minimum gain over raters; NaN if unknown.",
        "estimate.gains",
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.Image is None:
            raise self._parameter_error("Image", "must be set before Execute")

    def _fuse(self, case: FusionCase) -> Fused[HeldOutChoice]:
        model = self._model(case)
        with stage(0.0, 0.6):
            fused = self._run_inner_fuser(self.Filter or ConsensusFilter(), case)
        choice = model.choose_weight()
        labels = tuple(self._label_values(case))
        decision, shares = fused.decision(labels), FusedShares(fused, labels)
        if choice.weight == 0:
            fusion = VolumeFusion(decision, shares)
        else:
            fusion = _refine(model, choice.weight, shares, decision)
        return Fused(fusion, choice, {"before": fused})

    def GetFilterResult(self) -> FusionResult[Any]:
        """Return the fuser's result of the last Execute, before refinement."""
        result: FusionResult[Any] = self.fused.extras["before"]
        return result

    def _model(self, case: FusionCase) -> IntensityModel:
        image = np.asarray(self._load_one(self.Image, case.loaded, "Image"))
        side = case.smallest_side
        sigma = SIGMA_SIDES * side if self.IntensitySigma is None else self.IntensitySigma
        sigmas = in_space([sigma / size for size in case.spacing], 0.0)
        region = case.patterns.disputed_region([math.ceil(_REACH * sigma) for sigma in sigmas])
        seen = image[region].astype(np.float64)
        if not np.isfinite(seen).all():
            raise InputError(
                "must hold finite numbers, found NaN or inf",
                owner=self.GetName(),
                parameter="Image",
            )
        return IntensityModel(DisputedVoxels(case.patterns, region), seen, sigmas)


def _refine(
    model: IntensityModel,
    weight: float,
    fused: FusedShares,
    decision: NDArray[Any],
) -> VolumeFusion:
    """Refine the fuser's decision (in place) and probabilities at disputed voxels."""
    voxels = model.voxels

    def of_disputed(label: int) -> NDArray[Any]:
        probability = fused.fused.probability(fused.labels[label])
        return voxels.take(probability[voxels.region])

    refined = model.refine(of_disputed, weight)
    voxels.write(refined.argmax(axis=0), decision)
    return VolumeFusion(decision, RefinedShares(fused, voxels, refined))


@dataclass(frozen=True)
class RefinedShares(VoxelShares):
    """A fuser's probabilities, replaced by refined ones at disputed voxels."""

    fused: FusedShares
    voxels: DisputedVoxels
    refined: NDArray[np.float64]  #: (K, N) refined probabilities at the disputed voxels

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.fused.write(label, out)
        self.voxels.write(self.refined[label], out)
