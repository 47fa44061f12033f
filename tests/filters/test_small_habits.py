"""Conventions of SimpleITK and itk that work here, and mistakes that raise errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import itk
import numpy as np
import pytest
import SimpleITK as sitk
import torch

import itk_consensus as ic
from itk_consensus import pipeline
from itk_consensus.cli import main
from itk_consensus.core.errors import ConsensusWarning, InputError, ParameterError

# -- parameters -----------------------------------------------------------------------------


def masks(number: int = 3) -> list[np.ndarray]:
    arrays = [np.zeros((4, 6, 7), np.uint8) for _ in range(number)]
    for index, array in enumerate(arrays):
        array[1:3, 1:4, 2 : 5 + index % 2] = 1
    return arrays


@pytest.mark.parametrize("make", [sitk.STAPLEImageFilter, ic.STAPLEImageFilter])
def test_true_is_a_number(make: Any) -> None:
    filter_ = make()
    filter_.SetForegroundValue(True)
    filter_.SetMaximumIterations(True)
    assert (filter_.GetForegroundValue(), filter_.GetMaximumIterations()) == (1.0, 1)


@pytest.mark.parametrize("make", [sitk.STAPLEImageFilter, ic.STAPLEImageFilter])
def test_no_threads_are_the_default_number(make: Any) -> None:
    filter_ = make()
    filter_.SetNumberOfThreads(0)
    filter_.Execute([sitk.GetImageFromArray(mask) for mask in masks()])


@pytest.mark.parametrize("fuser", [ic.ConsensusFilter, ic.DeepConsensusFilter])
def test_zero_threads_mean_the_default_for_every_filter(fuser: Any) -> None:
    assert fuser(NumberOfThreads=0).GetNumberOfThreads() == fuser().GetNumberOfThreads() > 0


@pytest.mark.parametrize(
    "number", [torch.tensor(2.0), np.array(2.0), np.float32(2), torch.tensor(2)]
)
def test_a_number_may_be_a_tensor_without_axes(number: Any) -> None:
    filter_ = ic.STAPLEImageFilter()
    filter_.SetForegroundValue(number)
    assert filter_.GetForegroundValue() == 2.0
    with pytest.raises(ParameterError, match="must be a number, got"):
        filter_.SetForegroundValue(torch.tensor([2.0]))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ForgroundValue", "ForegroundValue"),
        ("foregroundValue", "ForegroundValue"),
        ("maximum_iterations", "MaximumIterations"),
        ("MaximumIteration", "MaximumIterations"),
    ],
)
def test_an_unknown_attribute_is_an_error_with_a_suggestion(name: str, meant: str) -> None:
    filter_ = ic.STAPLEImageFilter()
    with pytest.raises(ParameterError, match=f"'{name}'; did you mean {meant}\\?"):
        setattr(filter_, name, 5)
    assert not hasattr(filter_, name)
    setattr(filter_, meant, 5)
    assert getattr(filter_, f"Get{meant}")() == 5


def test_a_misspelled_keyword_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ParameterError, match=r"did you mean foregroundValue\? known are"):
        ic.STAPLE(masks(), forgroundValue=5)


def test_printing_shows_values_and_nothing_deferred() -> None:
    filter_ = ic.STAPLEImageFilter()
    filter_.Execute(masks())
    consensus = ic.ConsensusFilter()
    consensus.Execute(masks())
    for text in (str(filter_), str(consensus)):
        assert "Deferred" not in text
    assert f"PositivePredictiveValue: [{filter_.GetPositivePredictiveValue()[0]:g}" in str(filter_)
    assert "Explanation: The coherence vote" in str(consensus)
    assert "Starts: StartSummary(winner=0, log_likelihood=array of shape (1,)" in str(filter_)


def test_printing_computes_no_dask_array() -> None:
    da = pytest.importorskip("dask.array")

    def never(block: Any) -> Any:
        raise AssertionError("computed")

    lazy = [da.zeros((4, 4), np.uint8, chunks=2).map_blocks(never, dtype=np.uint8) for _ in "ab"]
    filter_ = ic.STAPLEImageFilter()
    filter_.Execute(lazy)
    assert "Sensitivity: (computed on demand)" in str(filter_)


def test_filters_are_no_sitk_process_objects_which_nobody_can_derive_from() -> None:
    """SWIG's class has no constructor, and no metaclass with which a class could be registered."""
    assert not isinstance(ic.STAPLEImageFilter(), sitk.ProcessObject)
    assert type(sitk.ProcessObject) is type
    with pytest.raises(AttributeError, match="No constructor defined"):
        sitk.ProcessObject()
    assert isinstance(ic.STAPLEImageFilter(), ic.ProcessObject)


# -- inputs ---------------------------------------------------------------------------------


def test_colour_images_are_no_three_readers() -> None:
    photograph = sitk.GetImageFromArray(np.zeros((5, 6, 3), np.uint8), isVector=True)
    with pytest.raises(InputError, match=r"LabelVotingImageFilter: input 0 .*3 bytes.*RGB"):
        ic.LabelVoting([photograph, photograph])
    with pytest.raises(InputError, match=r"input 1 .*RGB"):
        ic.LabelVoting([sitk.Image([6, 5], sitk.sitkUInt8), photograph])
    for pixel in (itk.RGBPixel[itk.UC], itk.RGBAPixel[itk.UC]):
        coloured = itk.Image[pixel, 2].New(Regions=[6, 5])
        coloured.Allocate()
        with pytest.raises(InputError, match="must hold labels, got a colour image"):
            ic.LabelVoting(coloured)


@pytest.mark.parametrize("name", ["a.nrrd", "a.nii"])
def test_a_lone_image_whose_file_says_that_it_is_coloured_is_refused(
    name: str, tmp_path: Path
) -> None:
    coloured = itk.Image[itk.RGBPixel[itk.UC], 2].New(Regions=[6, 5])
    coloured.Allocate(True)
    itk.imwrite(coloured, str(tmp_path / name))
    with pytest.raises(InputError, match="must hold labels, got a colour image"):
        ic.LabelVoting(sitk.ReadImage(str(tmp_path / name)))


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.bmp"])
def test_commands_refuse_colours_of_formats_that_hold_photographs(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photograph = sitk.GetImageFromArray(np.zeros((5, 6, 3), np.uint8), isVector=True)
    sitk.WriteImage(photograph, str(tmp_path / name))
    words = [str(tmp_path / name), "-o", str(tmp_path / "fused.nrrd")]
    assert main(["fuse", *words, "--method", "vote"]) != 0
    assert "got a colour image" in capsys.readouterr().err
    assert not (tmp_path / "fused.nrrd").exists()


def test_one_vector_image_is_still_one_reader_per_component() -> None:
    stack = np.stack(masks(), axis=-1)
    vector = sitk.GetImageFromArray(stack, isVector=True)
    fused = sitk.GetArrayFromImage(ic.LabelVoting(vector))
    np.testing.assert_array_equal(fused, ic.LabelVoting(masks()))


@pytest.mark.parametrize("stacked", [np.stack, lambda arrays: torch.from_numpy(np.stack(arrays))])
def test_a_stack_of_raters_in_one_array_is_refused_with_a_hint(stacked: Any) -> None:
    stack = stacked(masks())
    for call in (ic.STAPLE, ic.label_voting_image_filter, ic.ConsensusFilter().Execute):
        with pytest.raises(InputError, match=r"one array of shape .*3, 4, 6, 7.*pass list\(a\)"):
            call(stack)
    np.testing.assert_array_equal(np.asarray(ic.LabelVoting(list(stack))), ic.LabelVoting(masks()))


# -- itk's spellings ------------------------------------------------------------------------


def itk_masks(dtype: str = "uint8") -> list[Any]:
    return [itk.image_from_array(mask.astype(dtype)) for mask in masks()]


def array(image: Any) -> np.ndarray:
    return itk.array_from_image(image)


@pytest.mark.parametrize("module", [itk, pipeline], ids=["itk", "ours"])
@pytest.mark.parametrize("spelling", ["brackets", "dots"])
def test_staple_of_named_types_is_itks(module: Any, spelling: str) -> None:
    images = itk_masks("float32")
    kind = itk.Image[itk.F, 3]
    template = module.STAPLEImageFilter
    filter_ = (template[kind, kind] if spelling == "brackets" else template.IF3IF3).New()
    for index, image in enumerate(images):
        filter_.SetInput(index, image)
    filter_.Update()
    assert type(filter_.GetOutput()) is kind
    expected = itk.staple_image_filter(*images)
    np.testing.assert_allclose(array(filter_.GetOutput()), array(expected), atol=1e-6)
    reference = itk.STAPLEImageFilter[kind, kind].New(*images)
    reference.Update()
    for rater in range(3):
        ours = (filter_.GetSensitivity(rater), filter_.GetSpecificity(rater))
        theirs = (reference.GetSensitivity(rater), reference.GetSpecificity(rater))
        np.testing.assert_allclose(ours, theirs, atol=1e-7)
    np.testing.assert_allclose(filter_.GetSensitivity(), reference.GetSensitivity(), atol=1e-7)


@pytest.mark.parametrize("module", [itk, pipeline], ids=["itk", "ours"])
def test_inputs_are_pushed_and_named_as_in_itk(module: Any) -> None:
    one, two, three = itk_masks()
    expected = array(itk.label_voting_image_filter(one, two, three))
    kind = itk.Image[itk.UC, 3]
    pushed = module.LabelVotingImageFilter[kind, kind].New()
    for image in (one, two, three):
        pushed.PushBackInput(image)
    named = module.LabelVotingImageFilter.New(Input=one)
    named.PushBackInput(two)
    named.PushBackInput(three)
    front = module.LabelVotingImageFilter.New(two, three)
    front.PushFrontInput(one)
    for filter_ in (pushed, named, front):
        filter_.Update()
        np.testing.assert_array_equal(array(filter_.GetOutput()), expected)


@pytest.mark.parametrize("module", [itk, pipeline], ids=["itk", "ours"])
def test_the_undecided_label_is_unset_as_in_itk(module: Any) -> None:
    one, two, _ = itk_masks()
    vote = module.LabelVotingImageFilter.New(one, two)
    vote.SetLabelForUndecidedPixels(9)
    vote.Update()
    assert array(vote.GetOutput()).max() == 9
    vote.UnsetLabelForUndecidedPixels()
    vote.Update()
    assert array(vote.GetOutput()).max() == 2


@pytest.mark.parametrize(
    "name", ["LabelForUndecidedPixels", "MaximumNumberOfIterations", "PriorProbabilities"]
)
def test_what_itks_c_plus_plus_can_unset_is_unset(name: str) -> None:
    filter_ = ic.MultiLabelSTAPLEImageFilter()
    default = getattr(filter_, f"Get{name}")()
    assert not getattr(filter_, f"GetHas{name}")()
    getattr(filter_, f"Set{name}")([0.5, 0.5] if name.startswith("Prior") else 7)
    assert getattr(filter_, f"GetHas{name}")()
    getattr(filter_, f"Unset{name}")()
    assert not getattr(filter_, f"GetHas{name}")()
    assert getattr(filter_, f"Get{name}")() == default


def test_one_raters_sensitivity_has_a_number_within_range() -> None:
    filter_ = ic.STAPLEImageFilter()
    filter_.Execute(masks())
    assert filter_.GetSensitivity(2) == filter_.GetSensitivity()[2]
    for rater in (-1, 3):
        with pytest.raises(IndexError, match=f"rater must be 0 to 2, got {rater}"):
            filter_.GetSpecificity(rater)


def test_readers_and_filters_are_inputs_of_functions(tmp_path: Any) -> None:
    images = itk_masks()
    expected = array(itk.label_voting_image_filter(*images))
    readers = []
    for number, image in enumerate(images):
        itk.imwrite(image, str(tmp_path / f"{number}.nrrd"))
        readers.append(itk.ImageFileReader.New(FileName=str(tmp_path / f"{number}.nrrd")))
    casts = [itk.CastImageFilter.New(image) for image in images]
    nodes = [pipeline.LabelVotingImageFilter.New(image) for image in images]
    for sources in (readers, casts, nodes):
        np.testing.assert_array_equal(array(ic.label_voting_image_filter(*sources)), expected)
        np.testing.assert_array_equal(array(ic.LabelVoting(sources)), expected)


def test_itk_has_no_multi_label_staple_and_has_the_two_others() -> None:
    """This corresponds to the wheels of itk; this package has all three, under names formed by
    the same rule.
    """
    assert not hasattr(itk, "multi_label_staple_image_filter")
    assert hasattr(itk, "staple_image_filter")
    assert hasattr(itk, "label_voting_image_filter")
    images = itk_masks()
    np.testing.assert_array_equal(
        array(ic.multi_label_staple_image_filter(*images)), array(ic.MultiLabelSTAPLE(images))
    )


@pytest.mark.parametrize("paths", [("a.nii.gz",), ("a.nii.gz", "b.nii.gz"), (b"a.nii.gz",)])
def test_a_path_is_no_parameter_and_is_to_be_read_first(paths: tuple[Any, ...]) -> None:
    """Issue 44: the message was "at most 0 parameters by position"."""
    for function in (ic.Consensus, ic.STAPLE):
        with pytest.raises(InputError, match=r"got the path .*; read it first"):
            function(*paths)


# -- warnings of function forms about empty masks --------------------------------------------


@pytest.mark.parametrize("fuse", [ic.STAPLE, ic.MultiLabelSTAPLE, ic.COLLATE, ic.Consensus])
def test_a_function_form_names_a_rater_who_drew_nothing(fuse: Any) -> None:
    drawn = masks(4)
    with pytest.warns(ConsensusWarning, match="rater 2 drew nothing") as said:
        fuse([*drawn[:2], 0 * drawn[2], drawn[3]])
    assert [one.filename for one in said] == [__file__]


@pytest.mark.parametrize("fuse", [ic.MultiLabelSTAPLE, ic.Consensus])
def test_a_function_form_tells_that_its_result_is_empty(fuse: Any) -> None:
    apart = [np.zeros((20, 20), np.uint8) for _ in range(3)]
    for mask, place in zip(apart, ((5, 5), (14, 14), (0, 14)), strict=True):
        mask[place[0] : place[0] + 4, place[1] : place[1] + 4] = 1
    with pytest.warns(ConsensusWarning, match="result is empty"):
        assert not fuse(apart).any()


def test_nothing_is_said_of_a_structure_that_most_raters_left_out() -> None:
    drawn = masks(4)
    ic.Consensus([drawn[0], *(0 * mask for mask in drawn[1:])])
    ic.STAPLE([drawn[0], drawn[1], 0 * drawn[2], 0 * drawn[3]])


def test_nothing_is_said_of_a_rater_who_is_missing() -> None:
    drawn = masks(4)
    ic.Consensus([*drawn[:3], None])
    everywhere = [np.ones_like(drawn[0])] * 3
    ic.Consensus([*drawn[:3], 0 * drawn[3]], RaterMasks=[*everywhere, 0 * drawn[3]])


def test_an_execute_leaves_it_to_the_findings() -> None:
    drawn = masks(4)
    filter_ = ic.ConsensusFilter()
    filter_.Execute([*drawn[:3], 0 * drawn[3]])
    assert "empty mask" in {one.rule for one in filter_.GetDiagnostics().concerns}
