"""Run thirty calls of SimpleITK's fusers, as found in projects, with one import changed.

Written in the style of segmentation tools, challenge evaluations and atlas pipelines. Calls that
work with SimpleITK must work here, with results of the same type and value.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus

Site = Callable[[Any, Path], Any]
SITES: list[Site] = []


def site(function: Site) -> Site:
    SITES.append(function)
    return function


def readers(number: int = 3, dtype: Any = np.uint8, value: int = 1, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    truth = np.zeros((6, 12, 13), bool)
    truth[1:5, 3:9, 4:10] = True
    images = []
    for _ in range(number):
        image = sitk.GetImageFromArray(
            (truth ^ (rng.random(truth.shape) < 0.1)).astype(dtype) * value
        )
        image.SetSpacing((0.8, 0.8, 2.5))
        image.SetOrigin((-10.0, 4.0, 7.5))
        images.append(image)
    return images


def organs(number: int = 5, dtype: Any = np.uint8, labels: int = 4) -> list[sitk.Image]:
    """Return label maps with a plurality at every voxel, since ITK 5.4 is wrong without one."""
    rng = np.random.default_rng(1)
    truth = np.kron(rng.integers(0, labels, (2, 3, 3)), np.ones((3, 4, 4), int))
    errs = np.stack([rng.random(truth.shape) < 0.15 for _ in range(number)])
    errs &= errs.sum(axis=0) * 2 < number
    arrays = np.where(errs, rng.integers(0, labels, errs.shape), truth).astype(dtype)
    return [sitk.GetImageFromArray(array) for array in arrays]


@site
def soft_mask_thresholded_by_comparison(lib: Any, folder: Path) -> Any:
    return lib.STAPLE(readers()) > 0.5


@site
def positional_weight_and_foreground(lib: Any, folder: Path) -> Any:
    return lib.STAPLE(readers(4), 1.0, 1.0)


@site
def a_weight_and_a_cap_by_position(lib: Any, folder: Path) -> Any:
    return lib.STAPLE(readers(), 1.1, 1.0, 20)


@site
def images_as_separate_arguments(lib: Any, folder: Path) -> Any:
    one, two, three = readers()
    return lib.STAPLE(one, two, three)


@site
def separate_arguments_and_a_weight(lib: Any, folder: Path) -> Any:
    one, two, three = readers()
    return lib.STAPLE(one, two, three, 0.9)


@site
def a_tuple_of_images(lib: Any, folder: Path) -> Any:
    return lib.LabelVoting(tuple(organs()))


@site
def masks_of_0_and_255(lib: Any, folder: Path) -> Any:
    return lib.STAPLE(readers(value=255), 1.0, 255)


@site
def vote_of_0_and_255_masks(lib: Any, folder: Path) -> Any:
    return lib.LabelVoting(readers(value=255), 0)


@site
def vote_of_three_0_and_255_masks_without_an_undecided_label(lib: Any, folder: Path) -> Any:
    return lib.LabelVoting(readers(3, value=255))


@site
def a_filter_with_setters(lib: Any, folder: Path) -> Any:
    staple = lib.STAPLEImageFilter()
    staple.SetForegroundValue(1)
    staple.SetConfidenceWeight(1.0)
    staple.SetMaximumIterations(50)
    fused = staple.Execute(readers())
    return fused, staple.GetElapsedIterations()


@site
def performance_of_each_reader(lib: Any, folder: Path) -> Any:
    staple = lib.STAPLEImageFilter()
    staple.Execute(readers(5))
    return [
        {"sens": s, "spec": p}
        for s, p in zip(staple.GetSensitivity(), staple.GetSpecificity(), strict=True)
    ]


@site
def mean_sensitivity_by_numpy(lib: Any, folder: Path) -> Any:
    staple = lib.STAPLEImageFilter()
    staple.Execute(*readers())
    return float(np.mean(staple.GetSensitivity())), float(np.min(staple.GetSpecificity()))


@site
def undecided_as_background(lib: Any, folder: Path) -> Any:
    return lib.LabelVoting(readers(4), 0)


@site
def undecided_by_a_setter(lib: Any, folder: Path) -> Any:
    vote = lib.LabelVotingImageFilter()
    vote.SetLabelForUndecidedPixels(10)
    return vote.Execute(readers(4)), vote.GetLabelForUndecidedPixels()


@site
def undecided_by_default(lib: Any, folder: Path) -> Any:
    return lib.LabelVoting(readers(2))


@site
def undecided_resolved_by_a_mask(lib: Any, folder: Path) -> Any:
    images = readers(4)
    vote = lib.LabelVoting(images, 9)
    first = sitk.Cast(images[0], vote.GetPixelID())
    undecided = sitk.Equal(vote, 9)
    return sitk.Mask(vote, sitk.Not(undecided)) + sitk.Mask(first, undecided)


@site
def staple_label_by_label(lib: Any, folder: Path) -> Any:
    images = organs()
    fused = sitk.Image(images[0].GetSize(), sitk.sitkUInt8)
    for label in (1, 2, 3):
        own = [sitk.BinaryThreshold(image, label, label) for image in images]
        mask = lib.STAPLE(own) >= 0.5
        fused += sitk.Cast(mask, sitk.sitkUInt8) * label
    return fused


@site
def staple_with_each_label_as_foreground(lib: Any, folder: Path) -> Any:
    return {label: lib.STAPLE(organs(), 1.0, label) for label in (1, 2, 3)}


@site
def multi_label_staple(lib: Any, folder: Path) -> Any:
    return lib.MultiLabelSTAPLE(organs(), 0)


@site
def multi_label_staple_of_uint16(lib: Any, folder: Path) -> Any:
    fuser = lib.MultiLabelSTAPLEImageFilter()
    fuser.SetLabelForUndecidedPixels(99)
    fuser.SetMaximumNumberOfIterations(100)
    fuser.SetTerminationUpdateThreshold(1e-4)
    fused = fuser.Execute(organs(dtype=np.uint16))
    matrices = [np.reshape(fuser.GetConfusionMatrix(i), (5, 4)) for i in range(5)]
    return fused, np.round(matrices, 9)


@site
def multi_label_staple_with_priors(lib: Any, folder: Path) -> Any:
    return lib.MultiLabelSTAPLE(organs(), 7, 1e-5, 200, [0.4, 0.2, 0.2, 0.2, 0.0])


@site
def slice_by_slice(lib: Any, folder: Path) -> Any:
    images = readers()
    slices = [lib.STAPLE([image[:, :, z] for image in images]) for z in range(1, 5)]
    return sitk.JoinSeries(slices, 7.5, 2.5)


@site
def read_fuse_write_and_read_again(lib: Any, folder: Path) -> Any:
    paths = []
    for number, image in enumerate(readers()):
        paths.append(str(folder / f"reader{number}.nii.gz"))
        sitk.WriteImage(image, paths[-1])
    sitk.WriteImage(
        lib.STAPLE([sitk.ReadImage(path) for path in paths]), str(folder / "out.nii.gz")
    )
    return sitk.ReadImage(str(folder / "out.nii.gz"))


@site
def atlas_vote_then_largest_component(lib: Any, folder: Path) -> Any:
    vote = lib.LabelVoting(readers(5))
    ranked = sitk.RelabelComponent(sitk.ConnectedComponent(vote == 1), sortByObjectSize=True)
    return ranked == 1


@site
def overlap_with_a_reference(lib: Any, folder: Path) -> Any:
    images = readers()
    mask = sitk.Cast(lib.STAPLE(images) > 0.5, sitk.sitkUInt8)
    overlap = sitk.LabelOverlapMeasuresImageFilter()
    overlap.Execute(images[0], mask)
    return round(overlap.GetDiceCoefficient(), 12)


@site
def masks_cast_to_64_bits(lib: Any, folder: Path) -> Any:
    return lib.STAPLE([sitk.Cast(image, sitk.sitkInt64) for image in readers()])


@site
def masks_of_uint32(lib: Any, folder: Path) -> Any:
    return lib.LabelVoting([sitk.Cast(image, sitk.sitkUInt32) for image in readers()], 3)


@site
def iterations_watched(lib: Any, folder: Path) -> Any:
    staple, seen = lib.STAPLEImageFilter(), []
    staple.AddCommand(sitk.sitkIterationEvent, lambda: seen.append(1))
    staple.AddCommand(sitk.sitkEndEvent, lambda: seen.append("end"))
    staple.SetMaximumIterations(5)
    fused = staple.Execute(readers())
    return fused, seen


@site
def many_cases_in_threads_with_one_filter(lib: Any, folder: Path) -> Any:
    voting = lib.LabelVotingImageFilter()
    voting.SetLabelForUndecidedPixels(5)
    voting.SetNumberOfThreads(0)
    cases = [readers(4, seed=seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(voting.Execute, cases))


@site
def a_table_of_methods(lib: Any, folder: Path) -> Any:
    methods = {
        "staple": lambda images: lib.STAPLE(images) > 0.5,
        "majority": lambda images: lib.LabelVoting(images, 0),
        "average": lambda images: sum(sitk.Cast(image, sitk.sitkFloat64) for image in images) > 1.5,
    }
    return {name: method(readers()) for name, method in methods.items()}


@site
def a_method_by_name(lib: Any, folder: Path) -> Any:
    fuser = getattr(lib, "LabelVoting" + "ImageFilter")()
    assert fuser.GetName() == "LabelVotingImageFilter"
    assert "LabelVotingImageFilter" in str(fuser)
    return fuser.Execute(organs())


@site
def a_fused_mask_cuts_the_image(lib: Any, folder: Path) -> Any:
    images = readers()
    scan = sitk.Cast(images[0], sitk.sitkInt16) * 400 - 100
    mask = sitk.BinaryThreshold(lib.STAPLE(images), 0.5, 1.0, 1, 0)
    return sitk.Mask(scan, mask, -1024)


@site
def tolerances_of_a_scanner(lib: Any, folder: Path) -> Any:
    images = readers()
    images[1].SetOrigin((-10.0, 4.0, 7.5 + 1e-4))
    staple = lib.STAPLEImageFilter()
    staple.SetCoordinateTolerance(1e-3) if hasattr(staple, "SetCoordinateTolerance") else None
    sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(1e-3)
    try:
        return staple.Execute(images)
    finally:
        sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(1e-6)


def flat(answer: Any) -> Iterator[Any]:
    """Return all images and numbers of a result, with their types."""
    if isinstance(answer, sitk.Image):
        geometry = (
            answer.GetSize(),
            answer.GetSpacing(),
            answer.GetOrigin(),
            answer.GetDirection(),
        )
        yield type(answer), answer.GetPixelIDTypeAsString(), geometry, answer.GetMetaDataKeys()
        yield sitk.GetArrayFromImage(answer).astype(float)
    elif isinstance(answer, dict):
        yield tuple(answer)
        for value in answer.values():
            yield from flat(value)
    elif isinstance(answer, (list, tuple)):
        yield type(answer), len(answer)
        for value in answer:
            yield from flat(value)
    elif isinstance(answer, (float, np.ndarray)):
        yield np.asarray(answer, float)
    else:
        yield type(answer), answer


@pytest.mark.parametrize("call", SITES, ids=lambda call: call.__name__)
def test_a_call_site_of_simpleitk_answers_here_with_the_same_type(
    call: Site, tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = list(flat(call(sitk, tmp_path))), list(flat(call(itk_consensus, tmp_path)))
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(other, np.ndarray):
            np.testing.assert_allclose(one, other, atol=1e-9)
        else:
            assert one == other


def test_there_are_thirty_call_sites() -> None:
    assert len(SITES) >= 30
