"""Parameter descriptors in isolation: the members that one declaration adds to a filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st

import itk_consensus as ic
from itk_consensus.core.constraints import (
    Boolean,
    Choice,
    ImageLike,
    ImageList,
    Integer,
    Kind,
    LabelProbabilities,
    Nothing,
    OneOf,
    Real,
    Reals,
    optional,
)
from itk_consensus.core.errors import NotExecutedError, ParameterError
from itk_consensus.core.parameters import (
    Measurement,
    Parameter,
    find_parameter,
    measurements_of,
    parameters_of,
    settings_from,
    snake_case,
)
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.core.results import Memo, Result


class Base(ProcessObject):
    Shared = Parameter(Integer(low=0), 7, "Shared by all.")
    Iterations = Measurement(int, "How many.", "iterations")


class Sample(Base):
    Mode = Parameter(Choice(("Fast", "Careful")), "Fast", "How to work.")
    Depth = Parameter(
        Integer(1, 9),
        lambda sample: 1 if sample.Mode == "Fast" else 5,
        "How far to go.",
        default_doc="from Mode",
    )
    Score = Measurement(float, "How good.", "score")

    def SetMode(self, value: str) -> None:
        """Set the mode with a setter defined by the class itself."""
        self.Mode = value.strip()


def test_a_declaration_gives_a_setter_a_getter_and_their_documentation() -> None:
    sample = Sample()
    sample.SetDepth(3)
    assert sample.GetDepth() == 3
    assert sample.Depth == 3
    assert Sample.SetDepth.__doc__ == Sample.GetDepth.__doc__ == "How far to go."
    assert Sample.SetDepth.__name__ == "SetDepth"
    assert Sample.SetDepth.__qualname__ == "Sample.SetDepth"


def test_a_setter_written_out_in_the_class_wins() -> None:
    assert Sample(Mode=" Careful ").GetMode() == "Careful"


def test_filters_do_not_share_values() -> None:
    one, other = Sample(), Sample()
    one.SetShared(1)
    assert other.GetShared() == 7


def test_a_computed_default_follows_until_a_value_is_set() -> None:
    sample = Sample()
    assert sample.GetDepth() == 1
    sample.SetMode("careful")
    assert sample.GetDepth() == 5
    sample.SetDepth(2)
    sample.SetMode("fast")
    assert sample.GetDepth() == 2


def test_the_class_itself_gives_the_declaration() -> None:
    assert isinstance(Sample.Depth, Parameter)
    assert Sample.Depth.name == "Depth"
    assert isinstance(Sample.Score, Measurement)


def test_own_parameters_come_before_inherited_ones() -> None:
    names = [parameter.name for parameter in parameters_of(Sample)]
    assert names[:3] == ["Mode", "Depth", "Shared"]
    assert len(names) == len(set(names))
    assert [m.name for m in measurements_of(Sample)] == ["Score", "Iterations"]


def test_a_redeclared_parameter_is_listed_once_as_the_last_class_has_it() -> None:
    class Narrow(Sample):
        Shared = Parameter(Integer(0, 3), 2, "Narrower.")

    shared = [p for p in parameters_of(Narrow) if p.name == "Shared"]
    assert [p.default for p in shared] == [2]
    assert Narrow().GetShared() == 2
    with pytest.raises(ParameterError, match="Narrow: Shared must be an integer >= 0 and <= 3"):
        Narrow(Shared=4)
    assert Sample(Shared=4).GetShared() == 4


@dataclass(frozen=True, eq=False)
class Scored(Result):
    score: float
    memo: Memo = field(default_factory=Memo)


def test_measurements_are_unknown_until_there_is_a_result() -> None:
    sample = Sample()
    with pytest.raises(NotExecutedError, match="Sample: Score is known only after Execute"):
        sample.GetScore()
    with pytest.raises(AttributeError, match="Score is read from the last result"):
        sample.Score = 0.5
    with sample._running() as run:
        run.result = Scored(0.5)
    assert sample.GetScore() == sample.Score == 0.5
    assert not hasattr(Sample, "SetScore")


def test_messages_have_one_form() -> None:
    with pytest.raises(ParameterError) as caught:
        Sample(Depth=-3)
    assert str(caught.value) == "Sample: Depth must be an integer >= 1 and <= 9, got -3"
    with pytest.raises(ParameterError) as caught:
        Sample(Depth="x" * 500)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("spelled", ["Depth", "depth", "DEPTH"])
def test_spellings_find_their_parameter(spelled: str) -> None:
    assert find_parameter(Sample, spelled, "Sample") is Sample.Depth


@pytest.mark.parametrize("spelled", ["NumberOfThreads", "numberOfThreads", "number_of_threads"])
def test_spellings_of_several_words_find_their_parameter(spelled: str) -> None:
    assert find_parameter(Sample, spelled, "Sample").name == "NumberOfThreads"


@pytest.mark.parametrize("spelled", ["Dept", "Depths", "", "_", "Score", "GetDepth"])
def test_other_spellings_are_refused_with_the_known_ones(spelled: str) -> None:
    with pytest.raises(ParameterError, match=r"no parameter .*known are mode, depth, shared"):
        find_parameter(Sample, spelled, "Sample")


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("MultiLabelSTAPLEImageFilter", "multi_label_staple_image_filter"),
        ("STAPLEImageFilter", "staple_image_filter"),
        ("LabelVotingImageFilter", "label_voting_image_filter"),
        ("MaximumNumberOfIterations", "maximum_number_of_iterations"),
        ("SIMPLEFilter", "simple_filter"),
        ("Damping", "damping"),
    ],
)
def test_snake_case_is_that_of_itk(name: str, snake: str) -> None:
    assert snake_case(name) == snake


def test_keywords_are_simpleitks() -> None:
    assert Sample.Depth.keyword == "depth"
    assert find_parameter(Sample, "NumberOfThreads", "").keyword == "numberOfThreads"
    assert find_parameter(Sample, "NumberOfThreads", "").snake_case == "number_of_threads"


def test_documentation_shows_defaults_as_users_would_write_them() -> None:
    assert Sample.Shared.default_text == "7"
    assert Sample.Mode.default_text == "Fast"
    assert Sample.Depth.default_text == "from Mode"


# -- settings ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    depth: int
    mode: str = "unset"
    weight: float = 0.25
    shared: int = 1


def test_settings_are_filled_by_name_then_as_given_then_by_their_defaults() -> None:
    sample = Sample(Mode="careful", Shared=3)
    assert settings_from(sample, Settings) == Settings(5, "Careful", 0.25, 3)
    assert settings_from(sample, Settings, depth=9, weight=0.5) == Settings(9, "Careful", 0.5, 3)


def test_a_field_that_nobody_fills_is_an_error() -> None:
    with pytest.raises(TypeError, match="depth"):
        settings_from(ProcessObject(), Settings)
    with pytest.raises(TypeError, match="nonsense"):
        settings_from(Sample(), Settings, nonsense=1)


# -- constraints ------------------------------------------------------------------------------


@given(st.integers(-(10**6), 10**6), st.integers(-100, 100), st.integers(0, 200))
def test_integers_keep_to_their_limits(value: int, low: int, width: int) -> None:
    kind = Integer(low, low + width)
    if low <= value <= low + width:
        assert kind.accept(value) == value
        assert kind.accept(np.int64(value)) == value
        assert kind.parse(str(value)) == value
    else:
        with pytest.raises(ValueError):  # noqa: PT011 - the words are Parameter's
            kind.accept(value)


@given(st.floats(), st.booleans())
def test_reals_keep_to_their_limits(value: float, exclusive: bool) -> None:
    kind = Real(0.0, 1.0, exclusive=exclusive)
    # Parameters that must be above 0 are divisors, so they must not be almost 0 either.
    if (1e-15 <= value < 1) if exclusive else (0 <= value <= 1):
        assert kind.accept(value) == value
        assert kind.parse(repr(value)) == value
    else:
        with pytest.raises(ValueError):  # noqa: PT011
            kind.accept(value)


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_, 0, 1])
def test_booleans_of_python_and_numpy_are_accepted(value: Any) -> None:
    assert Boolean().accept(value) is bool(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("Yes", True), ("ON", True), ("0", False), ("off", False), ("no", False)],
)
def test_booleans_are_read_from_words(text: str, value: bool) -> None:
    assert Boolean().parse(text) is value
    with pytest.raises(ValueError):  # noqa: PT011
        Boolean().parse("perhaps")


def test_choices_ignore_case_and_what_parts_words_and_keep_their_own() -> None:
    kind = Choice(("Mean", "MajorityVote", "rater_spread"))
    for spelled in ("majorityvote", "majority_vote", "majority-vote", "Majority Vote"):
        assert kind.accept(spelled) == "MajorityVote"
    assert kind.parse("MEAN") == "Mean"
    assert kind.accept("RaterSpread") == "rater_spread"


@pytest.mark.parametrize("value", [[1, 2], (1, 2), np.array([1, 2]), iter([1, 2]), range(1, 3)])
def test_reals_take_every_kind_of_list(value: Any) -> None:
    assert Reals(length=2, increasing=True).accept(value) == (1.0, 2.0)


@pytest.mark.parametrize("text", ["0.5,1", "0.5 1", "0.5, 1.0", " .5   1e0 "])
def test_reals_are_read_from_a_command_line(text: str) -> None:
    assert Reals(length=2).parse(text) == (0.5, 1.0)


@pytest.mark.parametrize("text", ["0:0.75,3:.25", "0:0.75 3:0.25", "0:.75, 3:.25"])
def test_label_probabilities_are_read_from_a_command_line(text: str) -> None:
    assert LabelProbabilities().parse(text) == {0: 0.75, 3: 0.25}


def test_the_first_kind_that_accepts_decides() -> None:
    kind = OneOf((Integer(0), Reals()))
    assert kind.accept(3) == 3
    assert kind.accept([3]) == (3.0,)
    assert kind.wanted == "an integer >= 0, or a list of numbers"
    assert optional(Integer()).accept(None) is None
    assert Nothing().accept(None) is None


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Integer(), "an integer"),
        (Integer(1), "an integer >= 1"),
        (Integer(0, 2**32 - 1), "an integer >= 0 and <= 4294967295"),
        (Real(0.0, 1.0, exclusive=True), "a number > 0 and < 1"),
        (Boolean(), "True or False"),
        (Choice(("a", "b")), "one of a, b"),
        (Reals(0.0, length=2, increasing=True), "2 numbers >= 0 in increasing order"),
        (ImageLike(), "an image"),
    ],
)
def test_kinds_say_what_they_want(kind: Kind[Any], words: str) -> None:
    assert kind.wanted == words


def test_images_cannot_be_read_from_a_command_line() -> None:
    for kind in (ImageLike(), ImageList()):
        with pytest.raises(ValueError):  # noqa: PT011
            kind.parse("mask.nrrd")


def test_image_lists_keep_absent_raters() -> None:
    image = np.zeros((2, 2))
    accepted = ImageList().accept([image, None])
    assert accepted[0] is image
    assert accepted[1] is None


# -- process object ---------------------------------------------------------------------------


def test_global_defaults_reach_filters_that_have_no_value_of_their_own() -> None:
    own = Sample(NumberOfThreads=3)
    follower = Sample()
    usual = ProcessObject.GetGlobalDefaultNumberOfThreads()
    try:
        ProcessObject.SetGlobalDefaultNumberOfThreads(usual + 5)
        assert follower.GetNumberOfThreads() == usual + 5
        assert own.GetNumberOfThreads() == 3
    finally:
        ProcessObject._global_defaults.clear()
    with pytest.raises(ParameterError, match="ProcessObject: NumberOfThreads must be an integer"):
        ProcessObject.SetGlobalDefaultNumberOfThreads(0)


def test_global_tolerances_are_checked() -> None:
    for setter in (
        ProcessObject.SetGlobalDefaultCoordinateTolerance,
        ProcessObject.SetGlobalDefaultDirectionTolerance,
    ):
        with pytest.raises(ParameterError, match="Tolerance must be a number >= 0"):
            setter(-1e-3)


def test_commands_added_by_a_command_do_not_disturb_the_round() -> None:
    sample = Sample()
    calls: list[str] = []

    def add() -> None:
        calls.append("first")
        sample.AddCommand(3, lambda: calls.append("second"))

    sample.AddCommand(3, add)
    sample._invoke(3)
    assert calls == ["first"]


def test_commands_are_numbered_and_events_are_simpleitks() -> None:
    sitk = pytest.importorskip("SimpleITK")
    sample = Sample()
    names = [name for name in dir(sitk) if name.startswith("sitk") and name.endswith("Event")]
    assert len(names) == 9
    for number, name in enumerate(names):
        assert sample.AddCommand(getattr(sitk, name), print) == number
    listed = str(sample)
    for name in names:
        assert name.removeprefix("sitk") in listed


def test_a_parameter_is_suggested_under_its_own_name() -> None:
    with pytest.raises(ParameterError, match=r"did you mean AtlasImages\?"):
        ic.JointLabelFusionFilter(TargetImage=None)
    with pytest.raises(ParameterError, match=r"did you mean maximumIterations\?"):
        ic.STAPLE([np.ones((2, 2), np.uint8)], maxIterations=3)


def test_the_global_default_threader_is_simpleitks_until_it_is_set():
    usual = ProcessObject.GetGlobalDefaultThreader()
    assert usual == sitk.ProcessObject.GetGlobalDefaultThreader()
    try:
        ProcessObject.SetGlobalDefaultThreader("pool")
        assert ProcessObject.GetGlobalDefaultThreader() == "Pool"
        assert sitk.ProcessObject.GetGlobalDefaultThreader() == usual
        with pytest.raises(ParameterError, match="Threader must be one of"):
            ProcessObject.SetGlobalDefaultThreader("one that does not exist")
    finally:
        ProcessObject._global_defaults.clear()
