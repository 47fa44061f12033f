"""Label an image with atlases: register them, fuse their labels, and evaluate the result.

python examples/06_multi_atlas.py: with hippocampi if ../shared has them, else with a phantom.
"""

from pathlib import Path

import numpy as np
import SimpleITK as sitk

import itk_consensus as ic

REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "hippocampus"


def register(fixed: sitk.Image, moving: sitk.Image) -> sitk.Transform:
    """Register an atlas to the target: affine with mutual information, then demons."""
    method = sitk.ImageRegistrationMethod()
    method.SetMetricAsMattesMutualInformation()
    method.SetOptimizerAsRegularStepGradientDescent(1.0, 1e-3, 60)
    method.SetOptimizerScalesFromPhysicalShift()
    start = sitk.CenteredTransformInitializer(fixed, moving, sitk.AffineTransform(3))
    affine = method.SetInitialTransform(start) or method.Execute(fixed, moving)
    aligned = sitk.HistogramMatching(sitk.Resample(moving, fixed, affine), fixed)
    field = sitk.FastSymmetricForcesDemonsRegistrationFilter().Execute(fixed, aligned)
    bent = sitk.DisplacementFieldTransform(sitk.Cast(field, sitk.sitkVectorFloat64))
    return sitk.CompositeTransform([affine, bent])


def main() -> dict[str, float]:
    """Register the atlases, fuse their labels, and compare with the reference segmentation."""
    case = ic.sample_atlases(8, seed=1)
    if REAL.is_dir():
        files = sorted(REAL.glob("t*_image.nrrd"))[:9], sorted(REAL.glob("t*_truth.nrrd"))[:9]
        image, *images = (sitk.ReadImage(file, sitk.sitkFloat32) for file in files[0])
        truth, *maps = (sitk.ReadImage(file) for file in files[1])
        case = ic.SampleAtlases(image, truth, images, maps)
    images, maps = [], []
    for image, labels in zip(case.images, case.labels, strict=True):
        warp = register(case.image, image)
        images.append(sitk.Resample(image, case.image, warp, sitk.sitkLinear))
        maps.append(sitk.Resample(labels, case.image, warp, sitk.sitkNearestNeighbor))
    looking = {"Image": case.image, "AtlasImages": images}
    results = {
        "a single atlas": maps[0],
        "vote": ic.MajorityVote(maps, TieRule="lowest"),
        "locally weighted vote": ic.LocallyWeightedVoteFilter(**looking).Execute(maps),
        "joint label fusion": ic.JointLabelFusionFilter(**looking).Execute(maps),
    }
    scores = {}
    for name, labels in results.items():
        ours, true = sitk.GetArrayFromImage(labels), sitk.GetArrayFromImage(case.truth)
        scores[name] = np.mean([ic.dice(ours == k, true == k) for k in np.unique(true)[1:]])
        print(f"{name:24s} mean Dice {scores[name]:.3f}")
    return scores


if __name__ == "__main__":
    main()
