"""SmoothingSigma, for the votes that are smoothed: in voxels, whatever their size in mm."""

from __future__ import annotations

from itk_consensus.filters.constraints import LENGTH
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.parameters import Measurement, Parameter
from itk_consensus.filters.process_object import ProcessObject


class VoteSmoothingMixin(ProcessObject):
    """How far votes are smoothed, and how many mm that was."""

    SmoothingSigma = Parameter(
        LENGTH,
        1.0,
        "Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.",
    )

    SmoothingSigmaInMillimetres = Measurement(
        float, "Standard deviation of the smoothing of the votes in mm, the same on every axis."
    )

    def _sigma(self, case: FusionCase) -> float:
        """In mm."""
        sigma = self.SmoothingSigma * case.smallest_side
        self.SmoothingSigmaInMillimetres = sigma
        return sigma
