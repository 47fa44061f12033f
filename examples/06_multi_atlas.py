"""Label an image by atlases: register, select and fuse them, and compare with the truth.

python examples/06_multi_atlas.py [picture.png]
"""

from __future__ import annotations

import sys

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic


def register(target: sitk.Image, image: sitk.Image) -> sitk.Transform:
    """Deform an atlas onto the target by demons."""
    demons = sitk.FastSymmetricForcesDemonsRegistrationFilter()
    demons.SetNumberOfIterations(30)
    field = demons.Execute(target, sitk.HistogramMatching(image, target))
    return sitk.DisplacementFieldTransform(sitk.Cast(field, sitk.sitkVectorFloat64))


def mean_dice(labels: sitk.Image, truth: sitk.Image) -> float:
    """Mean overlap over the twelve parts of the organ."""
    ours, true = sitk.GetArrayFromImage(labels), sitk.GetArrayFromImage(truth)
    return float(np.mean([ic.dice(ours == part, true == part) for part in range(1, 13)]))


def main(picture: str | None = None) -> dict[str, float]:
    """Register, select, fuse, compare; draw the truth and joint fusion."""
    case = ic.sample_atlases(8, seed=1)
    transforms = [register(case.image, image) for image in case.images]
    pairs = list(zip(transforms, case.images, case.labels, strict=True))
    images = [sitk.Resample(image, case.image, t, sitk.sitkLinear) for t, image, _ in pairs]
    maps = [sitk.Resample(one, case.image, t, sitk.sitkNearestNeighbor) for t, _, one in pairs]
    chosen = ic.AtlasSelectionFilter(NumberOfAtlases=6).Execute(case.image, images)
    looking = {"Image": case.image, "AtlasImages": images, "RaterWeights": chosen}
    results = {
        "a single atlas": maps[0],
        "vote": ic.MajorityVote(maps, TieRule="lowest"),
        "vote of the chosen": ic.MajorityVote(maps, RaterWeights=chosen, TieRule="lowest"),
        "locally weighted vote": ic.LocallyWeightedVoteFilter(**looking).Execute(maps),
        "joint label fusion": ic.JointLabelFusionFilter(**looking).Execute(maps),
    }
    scores = {name: mean_dice(labels, case.truth) for name, labels in results.items()}
    for name, score in scores.items():
        print(f"{name:24s} mean Dice {score:.3f}")
    if picture:
        slice_ = sitk.Cast(sitk.RescaleIntensity(case.image[:, :, 20]), sitk.sitkUInt8)
        shown = case.truth[:, :, 20], results["joint label fusion"][:, :, 20]
        parts = [sitk.LabelOverlay(slice_, sitk.LabelContour(one)) for one in shown]
        sitk.WriteImage(sitk.Expand(sitk.Tile(parts, [2, 1]), [8, 8]), picture)
    return scores


if __name__ == "__main__":
    main(*sys.argv[1:])
