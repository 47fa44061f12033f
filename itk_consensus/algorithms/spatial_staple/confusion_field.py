"""A rater's performance at every voxel, from a result of Spatial STAPLE."""

from __future__ import annotations

import numpy as np

from itk_consensus.algorithms.spatial_staple.windowed_staple import SpatialResult
from itk_consensus.array_types import Floats32
from itk_consensus.labels.box_sum import box_sum


def confusion_field(result: SpatialResult, rater: int, observed: int, true: int) -> Floats32:
    """Probability, at every voxel, that the rater says `observed` where the truth is `true`.

    It is the M-step (eqs. 2.5.3 and 2.5.4) of the result's posterior, over the whole volume. Where
    nothing is known about the rater, nor any regularisation, it is the target.
    """
    patterns, fields = result.voxels.patterns, result.settings.fields
    labels = patterns.number_of_labels
    truth = patterns.expand(result.vote.of_label(true).astype(np.float32))
    result.voxels.write(result.posterior[true], truth)

    def pooled(volume: Floats32) -> Floats32:
        return box_sum(volume, fields.radii, threads=patterns.threads)

    def says(label: int) -> Floats32:
        return patterns.expand((patterns.patterns[:, rater] == label).astype(np.float32))

    present = patterns.expand(patterns.present[:, rater].astype(np.float32))
    share = pooled(present.copy()) / np.float32(labels)
    target = fields.targets(result.theta)[rater, :, true]
    leaning = np.zeros_like(share)
    for label in range(labels):
        # What the label lacks to its fair share of the window, times kappa: eq. 2.5.4's sigma.
        sigma = np.maximum(share - pooled(says(label)), 0) * np.float32(fields.kappa)
        leaning += target[label] * sigma
        if label == observed:
            own = sigma
    alpha = fields.alpha(labels)[:, true].astype(np.float32)
    wanted = own * target[observed] + pooled(truth * says(observed)) + alpha[observed]
    total = leaning + pooled(truth * present) + alpha.sum()
    unknown = np.full_like(wanted, target[observed])
    return np.asarray(np.divide(wanted, total, out=unknown, where=total > 0))
