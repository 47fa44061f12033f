"""Fusers between ITK's own filters."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import itk_consensus
from itk_consensus.core.errors import GeometryError, InputError, ProcessAborted
from itk_consensus.methods.registry import FUSERS

itk = pytest.importorskip("itk")

pipeline = pytest.importorskip("itk_consensus.pipeline")


def readers(seed: int = 1, raters: int = 3) -> list[np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    truth = np.zeros((6, 20, 18), np.uint8)
    truth[2:5, 5:15, 4:12] = 1
    return [truth ^ (random.random(truth.shape) < 0.1).astype(np.uint8) for _ in range(raters)]


def images(**settings: Any) -> list[Any]:
    made = [itk.image_from_array(array) for array in readers(**settings)]
    for image in made:
        image.SetSpacing([0.7, 0.8, 2.5])
        image.SetOrigin([5.0, -3.0, 11.0])
    return made


@pytest.mark.parametrize("fuser", FUSERS, ids=lambda fuser: fuser.__name__)
def test_every_fuser_gives_in_a_pipeline_what_it_gives_alone(fuser: Any) -> None:
    given = images()
    filter_ = getattr(pipeline, fuser.__name__).New(*given)
    filter_.Update()
    alone = fuser().Execute(given)
    made = filter_.GetOutput()
    np.testing.assert_array_equal(itk.array_from_image(made), itk.array_from_image(alone))
    assert tuple(made.GetSpacing()) == (0.7, 0.8, 2.5)
    assert tuple(made.GetOrigin()) == (5.0, -3.0, 11.0)
    assert filter_.GetNameOfClass() == fuser.__name__


def chain(folder: Path) -> tuple[list[Any], Any, Any]:
    """Return readers and a threshold upstream of STAPLE, and a threshold downstream."""
    above = []
    for number, image in enumerate(images()):
        image = itk.cast_image_filter(image, ttype=(type(image), itk.Image[itk.SS, 3]))
        path = str(folder / f"reader{number}.nrrd")
        itk.imwrite(image, path)
        reader = itk.ImageFileReader[itk.Image[itk.SS, 3]].New(file_name=path)
        above.append(
            itk.BinaryThresholdImageFilter[itk.Image[itk.SS, 3], itk.Image[itk.UC, 3]].New(
                reader.GetOutput(), lower_threshold=1, inside_value=1
            )
        )
        above[-1].reader = reader
    staple = pipeline.STAPLEImageFilter.New(*above, foreground_value=1)
    below = itk.BinaryThresholdImageFilter[itk.Image[itk.D, 3], itk.Image[itk.UC, 3]].New(
        staple.GetOutput(), lower_threshold=0.5, inside_value=1
    )
    return above, staple, below


def fused_mask() -> np.ndarray[Any, Any]:
    fused = itk_consensus.staple_image_filter(*images(), foreground_value=1)
    return (itk.array_from_image(fused) >= 0.5).astype(np.uint8)


def test_three_itk_filters_around_staple_give_what_the_function_gives(tmp_path: Path) -> None:
    above, staple, below = chain(tmp_path)
    below.Update()
    np.testing.assert_array_equal(itk.array_from_image(below.GetOutput()), fused_mask())
    assert len(staple.GetSensitivity()) == len(above)


def test_imread_above_and_the_function_form_of_threshold_below(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{i}.nrrd") for i in range(3)]
    for path, image in zip(paths, images(), strict=True):
        itk.imwrite(image, path)
    staple = pipeline.STAPLEImageFilter.New(*[itk.imread(path) for path in paths])
    mask = itk.binary_threshold_image_filter(staple, lower_threshold=0.5, inside_value=1)
    np.testing.assert_array_equal(itk.array_from_image(mask), fused_mask())


def test_the_pipeline_lives_through_garbage_collection_of_every_proxy_between(
    tmp_path: Path,
) -> None:
    above, staple, below = chain(tmp_path)
    for filter_ in above:
        del filter_.reader
    del above, staple, filter_
    gc.collect()
    itk.image_from_array(np.full((64, 64, 64), 77, np.uint8))  # overwrites freed memory
    below.Update()
    np.testing.assert_array_equal(itk.array_from_image(below.GetOutput()), fused_mask())
    source = below.GetInput().GetSource()
    source.Modified()
    below.Update()
    np.testing.assert_array_equal(itk.array_from_image(below.GetOutput()), fused_mask())


def test_a_filter_that_nobody_waits_for_is_let_go() -> None:
    staple = pipeline.STAPLEImageFilter.New(*images())
    staple.Update()
    alive = weakref.ref(staple._node)
    below = itk.BinaryThresholdImageFilter.New(staple, lower_threshold=0.5)
    del staple
    gc.collect()
    assert alive() is not None
    del below
    gc.collect()
    pipeline.MajorityVoteFilter.New()  # creating the next one cleans up
    gc.collect()
    assert alive() is None


def count_runs(filter_: Any) -> list[str]:
    runs: list[str] = []
    filter_.AddObserver(itk.StartEvent(), lambda: runs.append("run"))
    return runs


def test_it_runs_again_exactly_when_something_was_modified() -> None:
    given = images()
    staple = pipeline.STAPLEImageFilter.New(*given)
    runs = count_runs(staple)
    steps = {
        "first": (lambda: None, 1),
        "nothing": (lambda: None, 0),
        "Modified": (staple.Modified, 1),
        "same value": (lambda: staple.SetMaximumIterations(staple.GetMaximumIterations()), 0),
        "other value": (lambda: staple.SetMaximumIterations(3), 1),
        "snake case": (lambda: setattr(staple, "maximum_iterations", 4), 1),
        "same input": (lambda: staple.SetInput(1, given[1]), 0),
        "other input": (lambda: staple.SetInput(1, given[0]), 1),
        "primary input": (lambda: staple.SetPrimaryInput(given[2]), 1),
        "input modified": (given[2].Modified, 1),
    }
    for step, (change, more) in steps.items():
        before = len(runs)
        change()
        staple.Update()
        assert len(runs) - before == more, step
    assert staple.GetMaximumIterations() == staple.maximum_iterations == 4


def test_what_lies_above_is_updated_first() -> None:
    given = images()
    flipped = itk.FlipImageFilter.New(given[0], flip_axes=[1, 0, 0])
    runs = count_runs(flipped)
    vote = pipeline.MajorityVoteFilter.New(flipped, given[1], given[2])
    # Flipping changes the origin; this test only checks whether the filter was run.
    vote.SetCoordinateTolerance(1e6)
    vote.SetDirectionTolerance(10)
    vote.Update()
    vote.Update()
    assert runs == ["run"]
    flipped.Modified()
    vote.Update()
    assert runs == ["run", "run"]


def test_a_part_asked_for_is_answered_with_the_whole() -> None:
    vote = pipeline.MajorityVoteFilter.New(*images())
    part = itk.RegionOfInterestImageFilter.New(vote)
    region = itk.ImageRegion[3]()
    region.SetIndex([4, 5, 2])
    region.SetSize([3, 4, 2])
    part.SetRegionOfInterest(region)
    part.Update()
    whole = itk.array_from_image(itk_consensus.majority_vote_filter(*images()))
    np.testing.assert_array_equal(itk.array_from_image(part.GetOutput()), whole[2:4, 5:9, 4:7])
    assert tuple(vote.GetOutput().GetBufferedRegion().GetSize()) == whole.shape[::-1]


def test_a_missing_rater_is_an_input_that_is_none() -> None:
    first, second, third = images()
    vote = pipeline.MajorityVoteFilter.New(first, None, second, third)
    vote.Update()
    alone = itk_consensus.majority_vote_filter(first, None, second, third)
    np.testing.assert_array_equal(
        itk.array_from_image(vote.GetOutput()), itk.array_from_image(alone)
    )


def test_progress_reaches_observers_of_itk_and_iterations_too() -> None:
    staple = pipeline.STAPLEImageFilter.New(*images())
    seen: list[float] = []
    iterations: list[int] = []
    staple.AddObserver(itk.ProgressEvent(), lambda: seen.append(staple.GetProgress()))
    staple.AddObserver(
        itk.IterationEvent(), lambda: iterations.append(staple.GetElapsedIterations())
    )
    staple.Update()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    alone = itk_consensus.STAPLEImageFilter()
    told: list[int] = []
    alone.AddCommand(4, lambda: told.append(alone.GetElapsedIterations()))
    alone.Execute(images())
    assert iterations == told


def test_an_observer_of_itk_can_abort(capfd: pytest.CaptureFixture[str]) -> None:
    vote = pipeline.MajorityVoteFilter.New(*images())
    events: list[str] = []
    vote.AddObserver(itk.ProgressEvent(), vote.AbortGenerateDataOn)
    vote.AddObserver(itk.AbortEvent(), lambda: events.append("abort"))
    with pytest.raises(ProcessAborted, match="MajorityVoteFilter"):
        vote.Update()
    assert events == ["abort"]
    assert capfd.readouterr().err == ""
    vote.RemoveAllObservers()
    vote.Update()  # an aborted filter is not up to date
    assert itk.array_from_image(vote.GetOutput()).any()


def test_abort_of_the_fuser_reaches_itk() -> None:
    vote = pipeline.MajorityVoteFilter.New(*images())
    events: list[str] = []
    vote.AddObserver(itk.AbortEvent(), lambda: events.append("abort"))
    vote.AddObserver(itk.ProgressEvent(), lambda: vote.Abort())
    with pytest.raises(ProcessAborted):
        vote.Update()
    assert events == ["abort"]


def test_an_input_that_was_never_made_names_update() -> None:
    orphan = itk.Image[itk.UC, 3].New()
    vote = pipeline.MajorityVoteFilter.New(images()[0], orphan)
    with pytest.raises(InputError, match=r"input 1 has no voxels; call Update\(\)"):
        vote.Update()


def test_errors_of_space_are_the_fusers_own() -> None:
    first, second, _ = images()
    second.SetOrigin([9.0, 9.0, 9.0])
    with pytest.raises(GeometryError, match="MajorityVoteFilter: input 1 does not occupy"):
        pipeline.MajorityVoteFilter.New(first, second).Update()


def test_an_error_reaches_whoever_updates_from_below(capfd: pytest.CaptureFixture[str]) -> None:
    first, second, _ = images()
    second.SetOrigin([9.0, 9.0, 9.0])
    vote = pipeline.MajorityVoteFilter.New(first, second)
    below = itk.BinaryThresholdImageFilter.New(vote, lower_threshold=1)
    with pytest.raises(RuntimeError):
        below.Update()
    assert "does not occupy the same space" in capfd.readouterr().err


def test_wrong_inputs_are_refused_by_name() -> None:
    first = images()[0]
    wide = itk.cast_image_filter(first, ttype=(type(first), itk.Image[itk.SS, 3]))
    vote = pipeline.MajorityVoteFilter.New(first)
    with pytest.raises(InputError, match="input 1 must be of itkImageUC3 like the first"):
        vote.SetInput(1, wide)
    with pytest.raises(InputError, match="input 1 must be an itk image"):
        vote.SetInput(1, "path.nrrd")
    with pytest.raises(InputError, match="inputs are numbered from 0, got -1"):
        vote.SetInput(-1, first)
    with pytest.raises(InputError, match="there is no input; call SetInput"):
        pipeline.MajorityVoteFilter.New().Update()
    with pytest.raises(InputError, match="GetOutput needs an input first"):
        pipeline.MajorityVoteFilter.New().GetOutput()
    with pytest.raises(AttributeError, match="SetNothing"):
        vote.SetNothing(1)


@pytest.mark.parametrize("pixel", [itk.SS, itk.US, itk.F, itk.D])
def test_the_output_is_cast_to_the_type_that_was_asked_for(pixel: Any) -> None:
    narrow, wide = itk.Image[itk.UC, 3], itk.Image[pixel, 3]
    plain = pipeline.MajorityVoteFilter.New(*images())
    vote = pipeline.MajorityVoteFilter.New(*images(), ttype=(narrow, wide))
    plain.Update()
    vote.Update()
    expected, cast = plain.GetOutput(), vote.GetOutput()
    assert type(cast) is wide
    np.testing.assert_array_equal(itk.array_from_image(cast), itk.array_from_image(expected))
    assert cast.GetSpacing() == expected.GetSpacing()
    assert cast.GetOrigin() == expected.GetOrigin()


def test_labels_that_do_not_fit_the_type_that_was_asked_for_are_refused() -> None:
    wide, narrow = itk.Image[itk.US, 2], itk.Image[itk.UC, 2]
    image = itk.image_from_array(np.array([[0, 300], [300, 1]], np.uint16))
    vote = pipeline.MajorityVoteFilter.New(image, image, ttype=(wide, narrow))
    with pytest.raises(InputError, match="0 to 300 do not fit itkImageUC2"):
        vote.Update()
