"""The base class provides everything that the author of a filter does not implement."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import contract
import numpy as np
import pytest
import SimpleITK as sitk
from contract import Fuser, raters

from itk_consensus import (
    DirectInferenceFilter,
    HybridFusionFilter,
    MajorityVoteFilter,
    MultiLabelSTAPLEImageFilter,
    STAPLEImageFilter,
)
from itk_consensus.core.errors import (
    ConsensusWarning,
    InputError,
    NotExecutedError,
    ParameterError,
)
from itk_consensus.core.parameters import measurements_of
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.methods.procedural import itk_form, simpleitk_form
from itk_consensus.methods.registry import FUSERS
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion, StoredShares, VolumeFusion
from itk_consensus.votes.kept_stack import KeptStack


class ForgetfulFilter(UndecidedLabelMixin, LabelFusionFilter):
    """A vote that implements only `_fuse`."""

    method = "forgetful"

    def _fuse(self, case: FusionCase) -> Fusion:
        return majority_vote(case.patterns)


class TwistedFilter(LabelFusionFilter, UndecidedLabelMixin):
    """A filter whose base classes are in the wrong order."""

    def _fuse(self, case: FusionCase) -> Fusion:
        return majority_vote(case.patterns)


class SumFilter(LabelFusionFilter):
    """A vote on the arrays themselves, which never accesses patterns."""

    method = "sum"
    needs = "votes"

    def _fuse(self, case: FusionCase) -> Fusion:
        share = np.mean([array == 1 for array in case.stack.arrays], axis=0)
        return VolumeFusion((share > 0.5).astype(np.int32), StoredShares([1 - share, share]))


# -- the undecided label ----------------------------------------------------------------------

CAN_BE_UNDECIDED = [f for f in FUSERS if hasattr(f, "LabelForUndecidedPixels")]


@pytest.mark.parametrize("fuser", [*CAN_BE_UNDECIDED, ForgetfulFilter, TwistedFilter])
@pytest.mark.parametrize("label", [300, -1])
def test_an_undecided_label_that_does_not_fit_is_refused_even_if_nobody_is_tied(
    fuser: Fuser, label: int
) -> None:
    filter_ = fuser(LabelForUndecidedPixels=label)
    words = f"{fuser.__name__}: LabelForUndecidedPixels must fit .* uint8, got {label}"
    with pytest.raises(ParameterError, match=words):
        filter_.Execute([raters()[0]] * 3)
    with pytest.raises(NotExecutedError):
        filter_.GetLabelImage()


@pytest.mark.parametrize("fuser", [ForgetfulFilter, TwistedFilter])
def test_an_undecided_label_that_fits_is_written(fuser: Fuser) -> None:
    tied = [np.array([[0, 1, 1]], np.uint8), np.array([[0, 0, 1]], np.uint8)]
    assert fuser(LabelForUndecidedPixels=200).Execute(tied).tolist() == [[0, 200, 1]]
    assert fuser().Execute(tied).tolist() == [[0, 2, 1]]


# -- warnings ---------------------------------------------------------------------------------


def lines_blamed(call: Callable[[], Any]) -> list[tuple[str, int]]:
    """Return the file and line to which each of our warnings is attributed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(w.filename, w.lineno) for w in caught if issubclass(w.category, ConsensusWarning)]


WARNS_OF_ONE_RATER = [
    fuser for fuser in FUSERS if lines_blamed(lambda f=fuser: f().Execute(raters(number=1)))
]


def test_three_methods_warn_of_a_single_rater() -> None:
    names = {"STAPLEImageFilter", "MultiLabelSTAPLEImageFilter", "DirectInferenceFilter"}
    assert {fuser.__name__ for fuser in WARNS_OF_ONE_RATER} >= names


@pytest.mark.parametrize("fuser", WARNS_OF_ONE_RATER)
def test_a_warning_names_the_line_that_called_whatever_the_form(fuser: Fuser) -> None:
    image = raters(number=1)
    function, snake_case = simpleitk_form(fuser), itk_form(fuser)
    hybrid = HybridFusionFilter(InteriorFilter=fuser())
    outer = HybridFusionFilter(BoundaryFilter=HybridFusionFilter(InteriorFilter=fuser()))
    calls = [
        lambda: fuser().Execute(image),
        lambda: function(image),
        lambda: snake_case(image),
        lambda: hybrid.Execute(image),
        lambda: outer.Execute(image),
    ]
    for call in calls:
        blamed = lines_blamed(call)
        assert set(blamed) == {(__file__, call.__code__.co_firstlineno)}


WORSE_THAN_CHANCE = {
    STAPLEImageFilter: {"SensitivityPrior": (1, 90), "SpecificityPrior": (1, 90)},
    MultiLabelSTAPLEImageFilter: {"PseudoCounts": (0, 50)},
    DirectInferenceFilter: {"PseudoCounts": (0, 90)},
}


@pytest.mark.parametrize("fuser", WORSE_THAN_CHANCE)
def test_a_warning_of_switched_labels_names_the_line_that_called(fuser: Fuser) -> None:
    images, function = raters(), simpleitk_form(fuser)
    for call in (
        lambda: fuser(**WORSE_THAN_CHANCE[fuser]).Execute(images),
        lambda: function(images, **WORSE_THAN_CHANCE[fuser]),
    ):
        assert lines_blamed(call) == [(__file__, call.__code__.co_firstlineno)]


# -- observers --------------------------------------------------------------------------------

ITERATING = [fuser for fuser in FUSERS if contract.iterates(fuser)]


@pytest.mark.parametrize("fuser", ITERATING)
def test_a_command_may_ask_how_many_iterations_were_run(fuser: Fuser) -> None:
    filter_, undisturbed = fuser(), fuser()
    seen: list[int] = []
    filter_.AddCommand(sitk.sitkIterationEvent, lambda: seen.append(filter_.GetElapsedIterations()))
    np.testing.assert_array_equal(filter_.Execute(raters()), undisturbed.Execute(raters()))
    assert seen == list(range(1, len(seen) + 1))
    assert seen
    assert filter_.GetElapsedIterations() == undisturbed.GetElapsedIterations()


def later_measurements(fuser: Fuser) -> list[str]:
    return [f"Get{m.name}" for m in measurements_of(fuser) if m.name != "ElapsedIterations"]


@pytest.mark.parametrize("fuser", ITERATING)
def test_what_is_not_known_yet_is_an_error_to_the_command_alone(fuser: Fuser) -> None:
    filter_, undisturbed = fuser(), fuser()
    refused: set[str] = set()

    def ask() -> None:
        for getter in [*later_measurements(fuser), "GetLabelImage", "GetDiagnostics"]:
            with pytest.raises(NotExecutedError, match=fuser.__name__):
                getattr(filter_, getter)()
            refused.add(getter)

    filter_.AddCommand(sitk.sitkIterationEvent, ask)
    np.testing.assert_array_equal(filter_.Execute(raters()), undisturbed.Execute(raters()))
    assert len(refused) == len(later_measurements(fuser)) + 2


@pytest.mark.parametrize("fuser", ITERATING)
@pytest.mark.parametrize("event", ["Iteration", "Start", "Progress"])
def test_a_command_that_asks_too_early_is_cut_short_and_the_run_goes_on(
    fuser: Fuser, event: str
) -> None:
    filter_, undisturbed = fuser(), fuser()
    filter_.AddCommand(getattr(sitk, f"sitk{event}Event"), filter_.GetLabelImage)
    with pytest.warns(ConsensusWarning, match=f"a command of {event}Event raised and was ignored"):
        fused = filter_.Execute(raters())
    np.testing.assert_array_equal(fused, undisturbed.Execute(raters()))


def test_the_iterations_of_a_run_that_failed_are_forgotten() -> None:
    filter_ = STAPLEImageFilter()

    def fail() -> None:
        assert filter_.GetElapsedIterations() == 1
        raise ZeroDivisionError

    filter_.AddCommand(sitk.sitkIterationEvent, fail)
    with pytest.raises(ZeroDivisionError):
        filter_.Execute(raters())
    with pytest.raises(NotExecutedError):
        filter_.GetElapsedIterations()


# -- patterns ---------------------------------------------------------------------------------


@pytest.fixture
def no_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("patterns were encoded")

    monkeypatch.setattr(DecisionPatterns, "from_stack", refuse)


@pytest.mark.usefixtures("no_patterns")
def test_a_filter_that_never_looks_at_patterns_never_pays_for_them() -> None:
    images = raters(number=3)
    filter_ = SumFilter()
    np.testing.assert_array_equal(filter_.Execute(images), np.sum(images, axis=0) > 1)
    np.testing.assert_allclose(filter_.GetProbabilityImage(1), np.mean(images, axis=0))
    assert filter_.GetLabels() == (0, 1)
    with pytest.raises(AssertionError, match="patterns were encoded"):
        ForgetfulFilter().Execute(images)


@pytest.mark.usefixtures("no_patterns")
def test_empty_masks_and_absent_raters_are_found_without_patterns() -> None:
    images = raters(number=3)
    nowhere, half = np.zeros_like(images[0]), np.zeros_like(images[0])
    half[:4] = 1
    with pytest.raises(ParameterError, match="SumFilter: MaskImage must mark some voxels"):
        SumFilter(MaskImage=nowhere).Execute(images)
    with pytest.raises(InputError, match="SumFilter: no rater annotated any of the voxels"):
        SumFilter(RaterMasks=[nowhere] * 3).Execute(images)
    with pytest.raises(InputError, match="no rater annotated"):
        SumFilter(MaskImage=half, RaterMasks=[1 - half] * 3).Execute(images)
    gone = [np.where(half == 1, 9, image).astype(np.uint8) for image in images]
    with pytest.raises(InputError, match="no rater annotated"):
        SumFilter(MaskImage=half, MissingLabel=9).Execute(gone)
    SumFilter(MaskImage=half, RaterMasks=[nowhere, None, nowhere]).Execute(images)


# -- outputs that are computed later -------------------------------------------------------------


@pytest.mark.parametrize("fuser", [f for f in FUSERS if hasattr(f, "ElapsedIterations")])
def test_diagnostics_that_iterate_do_not_count_as_iterations_of_execute(fuser: Fuser) -> None:
    filter_ = fuser()
    filter_.Execute(raters(number=4))
    before = filter_.GetElapsedIterations()
    filter_.GetDiagnostics()
    assert filter_.GetElapsedIterations() == before


class CuriousVote(MajorityVoteFilter):
    """A vote that accesses the patterns, then votes without them."""

    def _fuse(self, case: FusionCase) -> Fusion:
        assert case.patterns is not None
        return super()._fuse(case)


def test_the_form_in_which_votes_are_kept_does_not_depend_on_who_asked_before() -> None:
    images = [image.copy() for image in raters(number=5)]
    filters = [CuriousVote(TieRule="prior"), MajorityVoteFilter(TieRule="prior")]
    for filter_ in filters:
        filter_.Execute(images)
        assert type(filter_.GetResult().case.votes) is KeptStack
    for image in images:
        image[...] = 0
    curious, plain = filters
    np.testing.assert_array_equal(curious.GetLabelImage(), plain.GetLabelImage())
    np.testing.assert_array_equal(curious.votes.patterns, plain.votes.patterns)
