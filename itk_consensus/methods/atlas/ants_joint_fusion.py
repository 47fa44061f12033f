"""Joint label fusion with the call signature of ANTs's Python package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.core.errors import ParameterError
from itk_consensus.fusing.label_inputs import labels_only
from itk_consensus.images import convert
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.images.files import write_image
from itk_consensus.methods.atlas.joint_label_fusion_filter import JointLabelFusionFilter

_NAME = "joint_label_fusion"


def joint_label_fusion(  # noqa: PLR0913  (the parameters are ANTs's)
    target_image: Any,
    target_image_mask: Any,
    atlas_list: Sequence[Any],
    beta: float = 4,
    rad: int | Sequence[int] = 2,
    label_list: Sequence[Any] | None = None,
    rho: float = 0.01,
    usecor: bool = False,
    r_search: int | Sequence[int] = 3,
    nonnegative: bool = False,
    no_zeroes: bool = False,
    max_lab_plus_one: bool = False,
    output_prefix: str | None = None,
    verbose: bool = False,
    *,
    inputs_are_labels: bool = False,
) -> Any:
    """Fuse atlases as ``ants.joint_label_fusion`` does, but for SimpleITK, ITK or NumPy images.

    Differences from ANTs: the background is a label that can win; `usecor` and `verbose` have no
    effect, since patches are always normalised before comparison; the input images are not changed;
    voxels to which all atlases assign the same label keep it.

    Parameters
    ----------
    target_image, target_image_mask : image
    atlas_list : list of images
        Atlas images on the target's grid.
    beta, rho : float
        Exponent of the errors, and regularisation term added to the diagonal.
    rad, r_search : int, or one int per axis
        Radii of the patch and of the search region in voxels.
    label_list : list of images, optional
        Label images of the atlases; without them only intensities are fused.
    nonnegative : bool
        Whether weights are constrained to be non-negative.
    no_zeroes : bool
        Whether to exclude voxels that any atlas labels 0.
    max_lab_plus_one : bool
        Whether to also return the label map without background.
    output_prefix : str, optional
        If given, probabilities are also written to ``<output_prefix>prob01.nii.gz`` etc.
    inputs_are_labels : bool
        Whether to accept labels and mask even if one resembles an intensity image.

    Returns
    -------
    dict, or image
        "segmentation", "intensity", "probabilityimages" and their labels, "segmentation_numbers";
        with `max_lab_plus_one` also "segmentation_raw" and "background_prob". Without labels, the
        image of fused intensities.
    """
    atlases = list(atlas_list)
    maps = None if label_list is None else list(label_list)
    fuses_labels = maps is not None and all(one is not None for one in maps)
    if maps is not None and len(maps) != len(atlases):
        raise ParameterError(
            f"must have as many images as atlas_list, {len(atlases)}, got {len(maps)}",
            owner=_NAME,
            parameter="label_list",
        )
    like = convert.load([target_image], owner=_NAME)
    of_labels = labels_only(inputs_are_labels, "inputs_are_labels")
    mask = _mask(
        convert.load_one(
            target_image_mask, like, owner=_NAME, parameter="target_image_mask", **of_labels
        ),
        like,
        maps if maps and fuses_labels and no_zeroes else (),
    )
    filter_ = JointLabelFusionFilter(
        Image=target_image,
        AtlasImages=atlases,
        MaskImage=convert.make_image(lambda out: np.copyto(out, mask), np.uint8, like),
        Beta=beta,
        Alpha=rho,
        ConstrainWeights=nonnegative,
        PatchRadius=_in_mm(rad, like, "rad"),
        SearchRadius=_in_mm(r_search, like, "r_search"),
        FuseIntensities=True,
        InputsAreLabels=inputs_are_labels,
    )
    if not fuses_labels:
        # With constant labels only the intensities are fused.
        nothing = convert.make_image(lambda out: out.fill(0), np.uint8, like)
        filter_.Execute([nothing] * len(atlases))
        return filter_.GetFusedIntensityImage()
    assert maps is not None
    segmentation = filter_.Execute(maps)
    labels = [label for label in filter_.GetLabels() if label != 0]
    found = {
        "segmentation": segmentation,
        "intensity": filter_.GetFusedIntensityImage(),
        "probabilityimages": [filter_.GetProbabilityImage(label) for label in labels],
        "segmentation_numbers": labels,
    }
    if output_prefix is not None:
        for label, image in zip(labels, found["probabilityimages"], strict=True):
            write_image(image, Path(f"{output_prefix}prob{label:02d}.nii.gz"))
    if max_lab_plus_one:
        found["background_prob"] = filter_.GetProbabilityImage(0)
        found["segmentation_raw"] = _without_background(filter_, labels, mask, like)
    return found


def _mask(given: Any, like: LoadedImages, maps: Sequence[Any]) -> Any:
    """Return a mask of the voxels at which the mask and all given label images are non-zero."""
    mask = given != 0
    for index, one in enumerate(maps):
        labels = convert.load_one(one, like, owner=_NAME, parameter=f"label_list[{index}]")
        mask = mask & (labels != 0)
    return mask.astype(np.uint8)


def _in_mm(radius: int | Sequence[int], like: LoadedImages, name: str) -> tuple[float, ...]:
    """Convert radii in voxels, in ITK's axis order, to mm."""
    spacing = like.geometry.array_spacing[::-1]
    radii = np.ravel(radius)
    radii = np.repeat(radii, len(spacing)) if len(radii) == 1 else radii
    if len(radii) != len(spacing) or not (radii >= 0).all():
        raise ParameterError(
            f"must be a radius >= 0, or {len(spacing)} of them, got {radius}",
            owner=_NAME,
            parameter=name,
        )
    return tuple(float(r * side) for r, side in zip(radii, spacing, strict=True))


def _without_background(
    filter_: JointLabelFusionFilter, labels: list[int], mask: Any, like: LoadedImages
) -> Any:
    """Return the most probable label other than 0 inside the mask."""
    best = np.zeros(mask.shape)
    winners = np.zeros(mask.shape, np.int64)
    for label in labels:
        probability = filter_.fused.probability(label)
        winners[probability > best] = label
        best = np.maximum(best, probability)
    return convert.make_image(
        lambda out: np.copyto(out, winners, casting="unsafe"), filter_.fused.dtype, like
    )
