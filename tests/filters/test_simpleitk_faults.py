"""Faults of the released SimpleITK and itk wheels, one test per row of the parity table."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import itk
import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.core.errors import ConsensusWarning, GeometryError, InputError, ParameterError
from itk_consensus.methods.staple.staple import MULTILABEL, staple
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

FUNCTIONS = [itk_consensus.STAPLE, itk_consensus.MultiLabelSTAPLE, itk_consensus.LabelVoting]
every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)


def sitk_image(array: Any, dtype: Any = np.uint8) -> sitk.Image:
    return sitk.GetImageFromArray(np.asarray(array, dtype), isVector=False)


def noisy(truth: np.ndarray, raters: int, share: float, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.unique(truth)
    return [
        np.where(rng.random(truth.shape) < share, rng.choice(labels, truth.shape), truth).astype(
            truth.dtype
        )
        for _ in range(raters)
    ]


# -- ties corrupt the seed (ITK pull request 6579) --------------------------------------------


def test_ties_do_not_corrupt_the_seed() -> None:
    images = [sitk_image([[0, 1, 0, 1]]), sitk_image([[0, 1, 1, 0]])]
    filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
    assert sitk.GetArrayFromImage(filter_.Execute(images)).tolist() == [[0, 1, 2, 2]]
    filter_.SetMaximumNumberOfIterations(0)
    assert sitk.GetArrayFromImage(filter_.Execute(images)).tolist() == [[0, 1, 2, 2]]
    for rater in (0, 1):
        matrix = np.reshape(filter_.GetConfusionMatrix(rater), (3, 2))
        assert matrix[1].tolist() == [0.0, 1.0]


# -- all-empty and all-full stacks (ITK issue 6575) -------------------------------------------


@pytest.mark.parametrize("everything", [0, 1])
def test_stacks_of_one_class_are_that_class_and_undefined_measures_are_named_once(
    everything: int,
) -> None:
    images = [sitk_image(np.full((4, 5), everything))] * 3
    filter_ = itk_consensus.STAPLEImageFilter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        output = sitk.GetArrayFromImage(filter_.Execute(images))
    assert (output == everything).all()
    assert (sitk.GetArrayFromImage(filter_.GetLabelImage()) == everything).all()
    measures = {"Sensitivity": filter_.GetSensitivity(), "Specificity": filter_.GetSpecificity()}
    undefined, defined = ("Specificity", "Sensitivity")[:: 1 if everything else -1]
    assert np.isnan(measures[undefined]).all()
    assert measures[defined] == (1.0, 1.0, 1.0)
    assert [warning.category for warning in caught] == [ConsensusWarning]
    assert undefined in str(caught[0].message)
    assert defined not in str(caught[0].message)


# -- foreground absent ------------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
def test_a_foreground_that_occurs_nowhere_is_an_error_listing_the_values(masked: bool) -> None:
    arrays = [np.array([[0, 255, 7]], np.uint8), np.array([[255, 255, 0]], np.uint8)]
    filter_ = itk_consensus.STAPLEImageFilter()
    if masked:
        filter_.SetMaskImage(np.ones((1, 3), np.uint8))
    with pytest.raises(InputError, match=r"ForegroundValue 1 occurs in no input.*0, 7, 255"):
        filter_.Execute(arrays)
    filter_.SetForegroundValue(255)
    filter_.Execute(arrays)


def test_a_foreground_that_occurs_only_outside_the_mask_is_no_error() -> None:
    arrays = [np.array([[0, 0, 1, 2]], np.uint8), np.array([[0, 0, 1, 1]], np.uint8)]
    filter_ = itk_consensus.STAPLEImageFilter(MaskImage=np.array([[1, 1, 0, 0]], np.uint8))
    with pytest.warns(ConsensusWarning, match="Sensitivity undefined"):
        assert not filter_.Execute(arrays).any()


@pytest.mark.parametrize("value", [1.5, 257, -1, 256.5])
@pytest.mark.parametrize("content", [0, 1])
def test_a_foreground_value_that_the_type_cannot_hold_is_an_error(
    value: float, content: int
) -> None:
    images = [sitk_image(np.full((2, 3), content))] * 3
    with pytest.raises((InputError, ParameterError), match="STAPLEImageFilter: ForegroundValue"):
        itk_consensus.STAPLE(images, foregroundValue=value)


# -- undecided labels -------------------------------------------------------------------------


@pytest.mark.parametrize("function", [itk_consensus.LabelVoting, itk_consensus.MultiLabelSTAPLE])
@pytest.mark.parametrize(("dtype", "largest"), [("uint8", 255), ("uint16", 65535), ("int8", 127)])
def test_an_undecided_label_never_wraps(function: Any, dtype: str, largest: int) -> None:
    """SimpleITK writes 0 or a wrapped value, without an error."""
    tied = [np.array([[0, largest, 3]], dtype), np.array([[0, 3, largest]], dtype)]
    with pytest.raises(ParameterError, match="LabelForUndecidedPixels must be set"):
        function(tied)
    agreed = function([tied[0], tied[0]])
    assert agreed.dtype == dtype
    assert agreed.tolist() == tied[0].tolist()
    small = function([np.array([[0, 1, 1]], dtype), np.array([[0, 1, 0]], dtype)])
    assert small.dtype == dtype
    assert small.tolist() == [[0, 1, 2]]


def test_an_undecided_label_that_no_type_holds_is_an_error_not_a_wrap() -> None:
    largest = 2**64 - 1
    tied = [np.array([[0, largest]], np.uint64), np.array([[largest, 0]], np.uint64)]
    with pytest.raises(ParameterError, match="LabelForUndecidedPixels must be set"):
        itk_consensus.LabelVoting(tied)


@pytest.mark.parametrize("function", [itk_consensus.LabelVoting, itk_consensus.MultiLabelSTAPLE])
@pytest.mark.parametrize("undecided", [300, 256, -1])
def test_an_undecided_label_outside_the_input_type_is_an_error(
    function: Any, undecided: int
) -> None:
    images = [sitk_image([[0, 1]]), sitk_image([[1, 0]])]
    with pytest.raises(ParameterError, match=f"LabelForUndecidedPixels.*uint8.*got {undecided}"):
        function(images, undecided)


# -- hang on label 254 and 255 ----------------------------------------------------------------


@pytest.mark.parametrize("label", [253, 254, 255])
def test_multilabel_staple_returns_for_the_largest_labels_of_a_byte(label: int) -> None:
    truth = np.repeat(np.array([[0, label, 7]], np.uint8), 20, axis=0)
    filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
    output = filter_.Execute([sitk_image(rater) for rater in noisy(truth, 5, 0.1)])
    np.testing.assert_array_equal(sitk.GetArrayFromImage(output), truth)
    assert len(filter_.GetConfusionMatrix(0)) == (label + 2) * (label + 1)


@pytest.mark.parametrize("raters", [2, 3])
def test_multilabel_staple_returns_when_the_raters_agree_nowhere(raters: int) -> None:
    """No voxel is decided, so ITK's initial estimate is empty and no confusion matrix is ever
    defined.
    """
    arrays = [np.roll(np.arange(6) % raters, k)[None, :].astype(np.uint8) for k in range(raters)]
    filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
    iterations = iter(range(1000))
    # when exhausted, `iterations` raises an error, which stops a loop that would never end
    filter_.AddCommand(sitk.sitkIterationEvent, lambda: next(iterations))
    assert (filter_.Execute(arrays) == raters).all()


# -- underflow --------------------------------------------------------------------------------


@pytest.mark.parametrize("raters", [300, 1200])
def test_many_raters_do_not_underflow(raters: int) -> None:
    rng = np.random.default_rng(0)
    truth = (rng.random((10, 12)) < 0.3).astype(np.uint8)
    masks = noisy(truth, raters, 0.5)
    staple = itk_consensus.STAPLEImageFilter()
    probability = staple.Execute(masks)
    assert np.isfinite(probability).all()
    np.testing.assert_array_equal(probability > 0.5, truth)
    assert np.mean(staple.GetSensitivity()) == pytest.approx(0.75, abs=0.03)
    np.testing.assert_array_equal(itk_consensus.LabelVoting(masks), truth)
    # ITK's initial estimate, normalised along its rows, requires better raters than these.
    better = noisy(truth, raters, 0.2)
    np.testing.assert_array_equal(itk_consensus.MultiLabelSTAPLE(better), truth)


# -- float counters ---------------------------------------------------------------------------


def test_more_than_2_to_the_24_voxels_of_one_label_are_counted_exactly() -> None:
    """Tested with patterns: two tables of 2^24 and one voxel are merged."""
    stack = LabelStack.multilabel([np.array([0, 0, 1]), np.array([0, 1, 1])])
    table = DecisionPatterns.from_stack(stack)
    large = replace(table, counts=np.array([2**24, 2**24, 2**24]))
    merged = large.merge(table)
    assert merged.counts.tolist() == [2**24 + 1] * 3
    result = staple(merged, MULTILABEL)
    assert result.prior.tolist() == [0.5, 0.5]


# -- GetConfusionMatrix out of range ----------------------------------------------------------


@pytest.mark.parametrize("rater", [-1, 2, 3, 1000])
def test_a_confusion_matrix_of_no_rater_is_an_index_error(rater: int) -> None:
    filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
    filter_.Execute([sitk_image([[0, 1]]), sitk_image([[0, 1]])])
    for getter in (filter_.GetConfusionMatrix, filter_.GetConfusionTable):
        with pytest.raises(IndexError, match=rf"rater must be 0 to 1, got {rater}"):
            getter(rater)


# -- ConfidenceWeight -------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.0, -1.0, 30.0])
def test_a_confidence_weight_that_pushes_the_prior_out_is_an_error_printing_it(
    weight: float,
) -> None:
    images = [sitk_image([[0, 1, 1, 0]]), sitk_image([[0, 1, 0, 0]])]
    prior = 0.375 * weight
    with pytest.raises(
        ParameterError, match=rf"ConfidenceWeight .*g = 0\.375 \* .* = {prior:.6g}$"
    ):
        itk_consensus.STAPLE(images, weight)


# -- signed, sparse and floating labels -------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_negative_labels_are_labels_like_others(dtype: str) -> None:
    truth = np.repeat(np.array([[-100, 0, 7, -1]], dtype), 25, axis=0)
    raters = noisy(truth, 5, 0.05)
    filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
    output = filter_.Execute([sitk_image(rater, dtype) for rater in raters])
    fused = sitk.GetArrayFromImage(output)
    assert fused.dtype == dtype
    np.testing.assert_array_equal(fused, truth)
    assert filter_.GetLabels() == (-100, -1, 0, 7)
    assert filter_.GetConfusionTable(0).shape == (4, 4)
    np.testing.assert_array_equal(itk_consensus.LabelVoting(raters), truth)


def test_negative_labels_give_the_same_answer_as_their_positive_namesakes() -> None:
    truth = np.repeat(np.array([[-3, 0, 5]], np.int16), 25, axis=0)
    raters = noisy(truth, 4, 0.3)
    shifted = [(rater + 3).astype(np.int16) for rater in raters]
    np.testing.assert_array_equal(
        itk_consensus.MultiLabelSTAPLE(raters) + 3, itk_consensus.MultiLabelSTAPLE(shifted)
    )


def test_sparse_labels_are_worked_on_densely() -> None:
    truth = np.repeat(np.array([[0, 300, 4000]], np.uint16), 30, axis=0)
    raters = noisy(truth, 4, 0.2)
    dense = [np.searchsorted([0, 300, 4000], rater).astype(np.uint8) for rater in raters]
    sparse_filter = itk_consensus.MultiLabelSTAPLEImageFilter()
    dense_filter = itk_consensus.MultiLabelSTAPLEImageFilter()
    sparse, plain = sparse_filter.Execute(raters), dense_filter.Execute(dense)
    np.testing.assert_array_equal(sparse, np.array([0, 300, 4000, 4001])[plain])
    for rater in range(4):
        table = sparse_filter.GetConfusionTable(rater)
        assert table.shape == (3, 3)
        np.testing.assert_array_equal(table, dense_filter.GetConfusionTable(rater))
        assert len(sparse_filter.GetConfusionMatrix(rater)) == 9
    assert sparse_filter.GetLabels() == (0, 300, 4000)


def test_the_flat_matrix_keeps_simpleitks_size_up_to_label_255() -> None:
    for largest, size in ((255, 257 * 256), (256, 4)):
        filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
        array = np.array([[0, largest, largest]], np.uint16)
        filter_.Execute([array, array])
        assert len(filter_.GetConfusionMatrix(0)) == size


@every_function
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_floating_and_boolean_masks_are_accepted(function: Any, dtype: str) -> None:
    truth = (np.arange(60).reshape(6, 10) % 7 < 3).astype(np.uint8)
    raters = noisy(truth, 5, 0.1)
    output = function([rater.astype(dtype) for rater in raters])
    np.testing.assert_array_equal(output, function(raters))
    if function is not itk_consensus.STAPLE:
        assert output.dtype == (np.uint8 if dtype == "bool" else np.int32)
    if dtype != "bool":
        image = function([sitk_image(rater, dtype) for rater in raters])
        np.testing.assert_array_equal(sitk.GetArrayFromImage(image), output)


@every_function
def test_float_images_that_hold_no_whole_numbers_are_no_labels(function: Any) -> None:
    """SimpleITK truncates them. STAPLE and the vote interpret them as probabilities."""
    images = [np.array([[0.0, 0.25]]), np.array([[0.0, 1.0]])]
    if function in (itk_consensus.STAPLE, itk_consensus.MajorityVote):
        assert 0 < np.asarray(function(images, MissingLabel=None)).max() <= 1
    else:
        with pytest.raises(InputError, match=r"whole-number labels, found 0\.25"):
            function(images)
    with pytest.raises(InputError, match=r"whole-number labels.*, found 1\.25"):
        function([np.array([[0.0, 1.25]]), np.array([[0.0, 1.0]])])


# -- metadata ---------------------------------------------------------------------------------


@every_function
def test_metadata_is_kept_from_the_first_input_if_asked(function: Any) -> None:
    first, second = sitk_image(np.eye(4)), sitk_image(np.eye(4))
    first.SetMetaData("0010|0010", "DOE^JANE")
    first.SetMetaData("Comment", "first")
    second.SetMetaData("Comment", "second")
    output = function([first, second], keepMetaData="everything")
    assert {key: output.GetMetaData(key) for key in output.GetMetaDataKeys()} == {
        "0010|0010": "DOE^JANE",
        "Comment": "first",
    }


# -- vector images, odd arrays, mixed types, 4D -----------------------------------------------


@every_function
def test_a_four_component_image_is_four_raters(function: Any) -> None:
    truth = (np.arange(120).reshape(4, 5, 6) % 5 < 2).astype(np.uint8)
    images = [sitk_image(rater) for rater in noisy(truth, 4, 0.1)]
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(function(sitk.Compose(images))),
        sitk.GetArrayFromImage(function(images)),
    )


@every_function
@pytest.mark.parametrize("layout", ["big-endian", "Fortran", "strided", "reversed", "read-only"])
def test_arrays_of_every_layout_are_accepted_and_come_out_in_c_order(
    function: Any, layout: str
) -> None:
    truth = (np.arange(120).reshape(4, 5, 6) % 5 < 2).astype(np.int16)
    raters = noisy(truth, 4, 0.15)
    laid_out = {
        "big-endian": [rater.astype(">i2") for rater in raters],
        "Fortran": [np.asfortranarray(rater) for rater in raters],
        "strided": [np.repeat(rater, 3, axis=2)[:, :, ::3] for rater in raters],
        "reversed": [rater[:, ::-1].copy()[:, ::-1] for rater in raters],
        "read-only": [rater.copy() for rater in raters],
    }[layout]
    for array in laid_out:
        array.setflags(write=False)
    output = function(laid_out)
    np.testing.assert_array_equal(output, function(raters))
    assert output.flags.c_contiguous
    assert output.flags.writeable
    assert output.dtype.isnative


@every_function
def test_mixed_integer_types_are_accepted_in_their_common_type(function: Any) -> None:
    truth = (np.arange(60).reshape(6, 10) % 7 < 3).astype(np.uint8)
    raters = noisy(truth, 3, 0.1)
    mixed = [sitk_image(r, t) for r, t in zip(raters, (np.uint8, np.uint16, np.uint8), strict=True)]
    output = function(mixed)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(output), function(raters))
    if function is not itk_consensus.STAPLE:
        assert output.GetPixelID() == sitk.sitkUInt16


@every_function
def test_4d_images_work(function: Any) -> None:
    truth = (np.arange(240).reshape(2, 4, 5, 6) % 5 < 2).astype(np.uint8)
    raters = noisy(truth, 4, 0.1)
    output = function([sitk_image(rater) for rater in raters])
    assert output.GetDimension() == 4
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(output).ravel(), function([r.ravel() for r in raters])
    )


@every_function
def test_itk_images_of_types_that_its_wheel_does_not_wrap_for_fusion_work(function: Any) -> None:
    truth = (np.arange(60).reshape(6, 10) % 7 < 3).astype(np.uint8)
    raters = noisy(truth, 4, 0.1)
    for dtype in (np.uint8, np.int16, np.uint32, np.float32, np.float64):
        images = [itk.image_from_array(rater.astype(dtype)) for rater in raters]
        output = function(images)
        assert isinstance(output, itk.Image)
        np.testing.assert_array_equal(itk.array_from_image(output), function(raters))


# -- PriorProbabilities -----------------------------------------------------------------------


def test_prior_probabilities_may_be_l_long_l_plus_one_long_or_a_dict() -> None:
    truth = np.repeat(np.array([[0, 1, 3]], np.uint8), 15, axis=0)
    raters = noisy(truth, 3, 0.4)
    shares = [0.2, 0.5, 0.0, 0.3]
    forms: list[Any] = [shares, [*shares, 0.0], [*shares, 0.7], {0: 0.2, 1: 0.5, 3: 0.3}]
    filters = []
    for form in forms:
        filter_ = itk_consensus.MultiLabelSTAPLEImageFilter(PriorProbabilities=form)
        filter_.Execute(raters)
        filters.append(filter_)
    for filter_ in filters[1:]:
        np.testing.assert_array_equal(filter_.GetLabelImage(), filters[0].GetLabelImage())
        assert filter_.GetEstimatedPriorProbabilities() == pytest.approx((0.2, 0.5, 0.3))
    plain = itk_consensus.MultiLabelSTAPLEImageFilter()
    plain.Execute(raters)
    assert plain.GetEstimatedPriorProbabilities() != pytest.approx((0.2, 0.5, 0.3))


@pytest.mark.parametrize(
    "prior", [[0.5], [0.2] * 3, [0.1] * 6, {0: 0.5, 1: 0.5}, [0.0] * 4, {0: 0, 1: 0, 3: 0}]
)
def test_prior_probabilities_that_do_not_fit_the_labels_are_an_error(prior: Any) -> None:
    array = np.array([[0, 1, 3]], np.uint8)
    with pytest.raises(ParameterError, match="MultiLabelSTAPLEImageFilter: PriorProbabilities"):
        itk_consensus.MultiLabelSTAPLE([array, array], priorProbabilities=prior)


# -- the text below the table
# --------------------------------------------------------------------


def test_label_0_is_an_ordinary_label() -> None:
    votes = [np.array([[value]], np.uint8) for value in (0, 0, 5)]
    assert itk_consensus.LabelVoting(votes).tolist() == [[0]]
    tie_with_zero = [np.array([[0]], np.uint8), np.array([[5]], np.uint8)]
    assert itk_consensus.LabelVoting(tie_with_zero).tolist() == [[6]]


def test_one_rater_is_that_rater_plus_a_warning() -> None:
    mask = sitk_image(np.eye(4))
    with pytest.warns(ConsensusWarning, match="STAPLEImageFilter: only one rater"):
        output = itk_consensus.STAPLE([mask])
    np.testing.assert_array_equal(sitk.GetArrayFromImage(output), np.eye(4))
    labels = sitk_image([[0, 3, 7]])
    with pytest.warns(ConsensusWarning, match="MultiLabelSTAPLEImageFilter: only one rater"):
        output = itk_consensus.MultiLabelSTAPLE([labels])
    assert sitk.GetArrayFromImage(output).tolist() == [[0, 3, 7]]
    with pytest.warns(ConsensusWarning, match="only one rater"):
        itk_consensus.STAPLE([None, mask, None])


@pytest.mark.parametrize(
    ("filter_", "parameters"),
    [
        ("STAPLEImageFilter", {"Prior": 0.3}),
        ("STAPLEImageFilter", {"SensitivityPrior": (3.0, 1.0)}),
        ("STAPLEImageFilter", {"NumberOfInitializations": 2}),
        ("STAPLEImageFilter", {"Variant": "advanced"}),
        ("MultiLabelSTAPLEImageFilter", {"PseudoCounts": (1.0, 0.0)}),
        ("MultiLabelSTAPLEImageFilter", {"NumberOfInitializations": 2}),
        ("MultiLabelSTAPLEImageFilter", {"PriorProbabilities": [0.5, 0.5]}),
    ],
)
def test_one_rater_with_priors_or_several_starts_is_an_error(
    filter_: str, parameters: dict[str, Any]
) -> None:
    fuser = getattr(itk_consensus, filter_)(**parameters)
    with pytest.raises(ParameterError, match=f"{filter_}: .*at least 2 raters"):
        fuser.Execute([np.eye(4, dtype=np.uint8)])


@every_function
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_flipped_direction_is_an_error_that_suggests_resampling(function: Any, axis: int) -> None:
    first, second = sitk_image(np.ones((3, 4, 5))), sitk_image(np.ones((3, 4, 5)))
    direction = np.eye(3)
    direction[axis, axis] = -1
    second.SetDirection(direction.ravel().tolist())
    with pytest.raises(GeometryError, match=r"input 1 .*direction") as caught:
        function([first, second])
    assert "flipped" in str(caught.value)
    assert "resample" in str(caught.value)


@every_function
def test_errors_can_be_caught_as_simpleitks_and_as_numpys(function: Any) -> None:
    for family in (RuntimeError, ValueError):
        with pytest.raises(family):
            function([])
        with pytest.raises(family):
            function([np.zeros((2, 2)), np.zeros((3, 3))])
        with pytest.raises(family):
            function([np.zeros((2, 2))] * 2, numberOfThreads=-1)


@every_function
def test_a_view_of_a_temporary_image_is_not_read_after_its_image_is_gone(function: Any) -> None:
    truth = (np.arange(10_000).reshape(100, 100) % 7 < 3).astype(np.uint8)
    raters = noisy(truth, 3, 0.1)
    output = function(sitk_image(rater) for rater in raters)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(output), function(raters))


# -- consequences of the table
# -------------------------------------------------------------------


def test_a_prior_image_is_not_silently_ignored_by_the_advanced_variant() -> None:
    """The advanced variant estimates the prior: a prior image must have an effect or be
    rejected.
    """
    truth = (np.arange(60).reshape(6, 10) % 7 < 3).astype(np.uint8)
    raters = noisy(truth, 3, 0.3)

    def fused(share: float) -> Any:
        prior = np.full(truth.shape, share)
        try:
            return itk_consensus.STAPLE(raters, variant="advanced", prior=prior)
        except ParameterError:
            return share

    assert not np.array_equal(fused(0.02), fused(0.98))


@pytest.mark.parametrize("labels", [65, 256, 300])
def test_many_labels_are_voted_on_and_fused(labels: int) -> None:
    truth = np.arange(4 * labels).reshape(4, labels).astype(np.uint16) % labels
    raters = noisy(truth, 3, 0.02)
    for function in (itk_consensus.LabelVoting, itk_consensus.MultiLabelSTAPLE):
        wrong = function(raters, inputsAreLabels=True) != truth
        assert wrong.mean() < 0.01


def test_raters_without_any_dispute_may_be_many() -> None:
    images = [np.full((3, 4), 7, np.uint8)] * 300
    assert (itk_consensus.LabelVoting(images) == 7).all()
    assert (itk_consensus.MultiLabelSTAPLE(images) == 7).all()
    assert (itk_consensus.MajorityVote(images) == 7).all()
