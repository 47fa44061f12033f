"""Patch-based fusion of atlases: joint label fusion and the locally weighted vote.

Wang et al., IEEE TPAMI 35(3):611-623, 2013. Around each voxel every atlas is searched for the patch
most similar to the target's. The expected joint error of two atlases is estimated from these
patches, M_ij = (mean over the patch of |T - F_i| |T - F_j|)^beta, and the weights w = (M + alpha
I)^-1 1 / 1^T (M + alpha I)^-1 1 minimise the expected error of the weighted vote. A weight applies
to the labels of the whole selected patch. Voxels to which all atlases assign the same label keep
it, since fusing patches did not improve them on real images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.methods.atlas.atlas_images import match_intensities
from itk_consensus.votes.fields.patches import PatchRule, PatchVotes, patch_votes
from itk_consensus.votes.fusions import VolumeFusion, VoxelShares
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import UNDECIDED


class PatchFusion(NamedTuple):
    """Fused labels, mean weights and fused intensities."""

    fusion: VolumeFusion
    mean_weights: Floats  #: (J,) mean weight of each present atlas over disputed voxels; sum 1
    images: list[NDArray[np.float32]]  #: Fused intensities by modality, if requested


def patch_fusion(
    stack: LabelStack,
    target: Sequence[NDArray[Any]],
    atlases: Sequence[Sequence[NDArray[Any]]],
    rule: PatchRule,
    *,
    weights: Floats | None = None,
    exclusions: Mapping[int, NDArray[np.uint8]] | None = None,
    fuse_images: bool = False,
) -> PatchFusion:
    """Match intensities and fuse the atlases; other parameters are those of `patch_votes`.

    Parameters
    ----------
    target, atlases : sequence of ndarray of finite values
        Images by modality, for the present atlases only.
    """
    modalities = [
        match_intensities(goal, [images[number] for images in atlases])
        for number, goal in enumerate(target)
    ]
    votes = patch_votes(
        stack,
        [first for first, _ in modalities],
        [[others[atlas] for _, others in modalities] for atlas in range(len(atlases))],
        rule,
        weights=None if weights is None else weights.tolist(),
        exclusions=exclusions,
        fuse_images=fuse_images,
    )
    total = votes.weights.sum()
    means = votes.weights / total if total > 0 else np.full(len(atlases), 1 / len(atlases))
    fusion = VolumeFusion(votes.decision, SharesOfPatches(votes._replace(images=[])))
    return PatchFusion(fusion, means, votes.images)


@dataclass(frozen=True)
class SharesOfPatches(VoxelShares):
    """Probabilities from the patch vote; 1 for the common label where all atlases agree."""

    votes: PatchVotes  #: The patch votes; their fused images are not used

    def write(self, label: int, out: NDArray[Any]) -> None:
        votes = self.votes
        np.equal(votes.decision, label, out=out, casting="unsafe")
        out[votes.decision == UNDECIDED] = votes.frequencies[label]
        flat = out.reshape(-1)
        for part in votes.parts:
            flat[part.places] = 0.0
            is_label = part.labels == label
            flat[np.repeat(part.places, part.numbers)[is_label]] = part.shares[is_label]
