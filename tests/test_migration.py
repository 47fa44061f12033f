"""Every difference from SimpleITK and itk listed in docs/migration.md, side by side."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import itk
import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus import pipeline
from itk_consensus.core.errors import ConsensusWarning, InputError, NotExecutedError, ParameterError

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "migration.md"


def image(values: Any, dtype: Any = np.uint8) -> sitk.Image:
    return sitk.GetImageFromArray(np.asarray(values, dtype))


def array(fused: sitk.Image) -> list[Any]:
    return sitk.GetArrayFromImage(fused).tolist()


EYE, WIDE = np.eye(4), np.eye(4) + np.eye(4, k=1)
THREE = [EYE, WIDE, EYE]


def three() -> list[sitk.Image]:
    return [image(values) for values in THREE]


def rows() -> list[list[str]]:
    """Return the cells of the page's table of differences."""
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("## Every difference")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def test_every_row_of_the_page_has_a_reason_and_a_test_that_exists() -> None:
    files = [*(ROOT / "tests").rglob("test_*.py")]
    known = set(
        re.findall(
            r"^def (test_\w+)", "\n".join(f.read_text(encoding="utf-8") for f in files), re.M
        )
    )
    listed = rows()
    assert len(listed) >= 20
    for difference, there, here, reason, test in listed:
        assert all((difference, there, here, reason))
        assert test.strip("`") in known, test
    own = set(re.findall(r"^def (test_\w+)", Path(__file__).read_text(encoding="utf-8"), re.M))
    own.remove("test_every_row_of_the_page_has_a_reason_and_a_test_that_exists")
    assert own <= {row[-1].strip("`") for row in listed}


def test_measurements_before_execute_raise() -> None:
    assert sitk.STAPLEImageFilter().GetSensitivity() == ()
    with pytest.raises(NotExecutedError):
        ic.STAPLEImageFilter().GetSensitivity()


def test_an_execute_that_fails_leaves_no_measurements() -> None:
    for make, is_kept in ((sitk.STAPLEImageFilter, True), (ic.STAPLEImageFilter, False)):
        filter_ = make()
        filter_.Execute(three())
        with pytest.raises(RuntimeError):
            filter_.Execute([image(EYE), image(np.zeros((3, 3)))])
        if is_kept:
            assert filter_.GetSensitivity()
        else:
            with pytest.raises(NotExecutedError):
                filter_.GetSensitivity()


def test_no_iterations_are_an_error() -> None:
    theirs = sitk.STAPLEImageFilter()
    theirs.SetMaximumIterations(0)
    theirs.Execute(three())
    assert theirs.GetElapsedIterations() == 1
    with pytest.raises(ParameterError, match="MaximumIterations must be an integer >= 1"):
        ic.STAPLEImageFilter().SetMaximumIterations(0)


def test_masks_without_foreground_have_no_foreground() -> None:
    nothing = [image(np.zeros((3, 3)))] * 2
    assert np.isnan(array(sitk.STAPLE(nothing))).all()
    with pytest.warns(ConsensusWarning, match="Sensitivity undefined"):
        assert not np.any(array(ic.STAPLE(nothing)))


def test_a_foreground_value_that_nobody_drew_is_an_error() -> None:
    sevens = [image(7 * EYE)] * 2
    assert np.isnan(array(sitk.STAPLE(sevens))).any()
    with pytest.raises(InputError, match="ForegroundValue 1 occurs in no input"):
        ic.STAPLE(sevens)


def test_a_tie_without_a_label_left_is_an_error() -> None:
    tied = [image([[0, 255]]), image([[255, 255]])]
    assert array(sitk.LabelVoting(tied)) == [[0, 255]]
    with pytest.raises(ParameterError, match="LabelForUndecidedPixels must be set"):
        ic.LabelVoting(tied)
    assert array(ic.LabelVoting(tied, 128)) == array(sitk.LabelVoting(tied, 128)) == [[128, 255]]


def test_an_undecided_label_that_does_not_fit_is_an_error() -> None:
    tied = [image([[0, 1]]), image([[1, 1]])]
    assert array(sitk.LabelVoting(tied, 300)) == [[300 - 256, 1]]
    with pytest.raises(ParameterError, match="LabelForUndecidedPixels must fit"):
        ic.LabelVoting(tied, 300)


def test_one_reader_alone_is_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs = array(sitk.STAPLE([image(EYE)]))
    with pytest.warns(ConsensusWarning, match="only one rater"):
        assert array(ic.STAPLE([image(EYE)])) == theirs


def test_an_iteration_command_sees_the_number_of_iterations() -> None:
    seen: dict[Any, list[int]] = {}
    for make in (sitk.STAPLEImageFilter, ic.STAPLEImageFilter):
        filter_, numbers = make(), seen.setdefault(make, [])
        filter_.AddCommand(
            sitk.sitkIterationEvent,
            lambda f=filter_, n=numbers: n.append(f.GetElapsedIterations()),
        )
        filter_.Execute(three())
    assert set(seen[sitk.STAPLEImageFilter]) == {0}
    assert seen[ic.STAPLEImageFilter] == [*range(1, len(seen[sitk.STAPLEImageFilter]) + 1)]


def test_a_start_event_comes_before_inputs_are_looked_at() -> None:
    logs: list[list[str]] = []
    for make in (sitk.STAPLEImageFilter, ic.STAPLEImageFilter):
        filter_, log = make(), []
        filter_.AddCommand(sitk.sitkStartEvent, lambda log=log: log.append("start"))
        with pytest.raises(RuntimeError):
            filter_.Execute([image(EYE), image(np.zeros((3, 3)))])
        logs.append(log)
    assert logs == [[], ["start"]]


def test_the_error_of_a_command_reaches_the_caller(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    for make, error in (
        (sitk.STAPLEImageFilter, RuntimeError),
        (ic.STAPLEImageFilter, ZeroDivisionError),
    ):
        filter_ = make()
        filter_.AddCommand(sitk.sitkIterationEvent, fail)
        with pytest.raises(error):
            filter_.Execute(three())
    capfd.readouterr()  # discard the command's error, which SimpleITK prints


@pytest.mark.parametrize("dtype", ["float32", "int8", "int16"])
def test_more_pixel_types_can_be_voted_on(dtype: str) -> None:
    images = [image(values, dtype) for values in THREE]
    with pytest.raises(RuntimeError, match="not supported"):
        sitk.LabelVoting(images)
    assert array(ic.LabelVoting(images)) == array(sitk.LabelVoting(three()))


def test_inputs_of_mixed_types_are_taken() -> None:
    mixed = [image(EYE), image(WIDE, np.uint16), image(EYE)]
    with pytest.raises(RuntimeError, match="casting"):
        sitk.LabelVoting(mixed)
    fused = ic.LabelVoting(mixed)
    assert fused.GetPixelID() == sitk.sitkUInt16
    assert array(fused) == array(sitk.LabelVoting(three()))


def test_a_vector_image_is_one_reader_per_component() -> None:
    vector = sitk.Compose(three())
    with pytest.raises(RuntimeError, match="not supported"):
        sitk.LabelVoting(vector)
    assert array(ic.LabelVoting(vector)) == array(ic.LabelVoting(three()))
    # the same type as a colour photograph, so it cannot be recognised
    assert vector.GetPixelID() == sitk.sitkVectorUInt8
    with pytest.raises(ic.InputError, match="as RGB has"):
        ic.LabelVoting([vector, vector])


def test_a_threader_is_accepted_and_changes_no_answer() -> None:
    """This package's kernels use their own threads, which end with each call."""
    before = array(ic.LabelVoting(three()))
    for kind in (sitk.STAPLEImageFilter, ic.STAPLEImageFilter):
        threader = kind.GetGlobalDefaultThreader()
        try:
            kind.SetGlobalDefaultThreader("Platform")
            assert kind.GetGlobalDefaultThreader() == "Platform"
            assert array(ic.LabelVoting(three())) == before
        finally:
            kind.SetGlobalDefaultThreader(threader)


def test_functions_take_keywords() -> None:
    with pytest.raises(TypeError):
        sitk.LabelVoting(three(), labelForUndecidedPixels=5)
    assert array(ic.LabelVoting(three(), labelForUndecidedPixels=5)) == array(
        sitk.LabelVoting(three(), 5)
    )


def test_attributes_that_no_filter_has_are_an_error() -> None:
    sitk.STAPLEImageFilter().ForgroundValue = 5  # silently has no effect
    with pytest.raises(ParameterError, match="did you mean ForegroundValue"):
        ic.STAPLEImageFilter().ForgroundValue = 5


def test_the_number_of_threads_is_the_one_in_force() -> None:
    counts = []
    for make in (sitk.STAPLEImageFilter, ic.STAPLEImageFilter):
        filter_ = make()
        filter_.SetNumberOfThreads(0)
        counts.append(filter_.GetNumberOfThreads())
    assert counts == [0, ic.STAPLEImageFilter().GetNumberOfThreads()]


def test_itks_function_of_staple_returns_doubles_here() -> None:
    images = [itk.image_from_array(values.astype(np.float32)) for values in THREE]
    theirs, ours = itk.staple_image_filter(*images), ic.staple_image_filter(*images)
    assert type(theirs) is itk.Image[itk.F, 2]
    assert type(ours) is itk.Image[itk.D, 2]
    np.testing.assert_allclose(itk.array_from_image(ours), itk.array_from_image(theirs), atol=1e-6)
    asked = pipeline.STAPLEImageFilter.New(*images, ttype=(type(images[0]), itk.Image[itk.F, 2]))
    asked.Update()
    assert type(asked.GetOutput()) is itk.Image[itk.F, 2]


def test_itks_filters_take_more_pixel_types_here() -> None:
    images = [itk.image_from_array(values.astype(np.uint8)) for values in THREE]
    assert not any(kinds[0] is type(images[0]) for kinds in itk.STAPLEImageFilter.keys())  # noqa: SIM118
    fused = ic.staple_image_filter(*images)
    np.testing.assert_allclose(
        itk.array_from_image(fused), sitk.GetArrayFromImage(sitk.STAPLE(three())), atol=1e-9
    )
