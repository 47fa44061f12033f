"""Our results equal SimpleITK's wherever SimpleITK's are correct."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import itk_consensus

UINT_MAX = 2**32 - 1
UINT64_MAX = 2**64 - 1
INTEGER_TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]

pytestmark = pytest.mark.filterwarnings("ignore:.*label-switched")


# -- generated stacks
# ----------------------------------------------------------------------------


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, ...]:
    dimension = draw(st.integers(2, 3))
    return tuple(draw(st.integers(1, 9 if dimension == 2 else 6)) for _ in range(dimension))


@st.composite
def structured_masks(draw: st.DrawFn) -> list[np.ndarray]:
    """Draw two to seven raters: noisy, empty, full, duplicate, opposite, nested or disjoint
    ones.
    """
    shape = draw(shapes())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    base = rng.random(shape) < draw(st.sampled_from([0.1, 0.3, 0.5, 0.8]))
    masks: list[np.ndarray] = []
    for _ in range(draw(st.integers(2, 7))):
        masks.append(_rater(draw(st.sampled_from(RATERS)), base, masks, rng))
    mean = np.mean(masks)
    # All-empty and all-full stacks are covered by the fault table: SimpleITK gives NaN.
    assume(0 < mean < 1)
    dtype = draw(st.sampled_from(INTEGER_TYPES))
    return [mask.astype(dtype) for mask in masks]


RATERS = [
    "noisy",
    "noisy",
    "random",
    "same",
    "empty",
    "full",
    "duplicate",
    "opposite",
    "nested",
    "disjoint",
]


def _rater(
    kind: str, base: np.ndarray, earlier: list[np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    last = earlier[-1] if earlier else base
    return {
        "noisy": base ^ (rng.random(base.shape) < 0.2),
        "random": rng.random(base.shape) < rng.random(),
        "same": base,
        "empty": np.zeros_like(base),
        "full": np.ones_like(base),
        "duplicate": last,
        "opposite": ~last,
        "nested": last & (rng.random(base.shape) < 0.5),
        "disjoint": ~last & (rng.random(base.shape) < 0.5),
    }[kind]


@st.composite
def label_stacks(
    draw: st.DrawFn, dtypes: tuple[str, ...] = ("uint8", "uint16")
) -> list[np.ndarray]:
    shape = draw(shapes())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.choice(12, draw(st.integers(1, 5)), replace=False)
    base = rng.choice(values, shape)
    dtype = draw(st.sampled_from(dtypes))
    maps: list[np.ndarray] = []
    for _ in range(draw(st.integers(2, 7))):
        kind = draw(st.sampled_from(["noisy", "noisy", "constant", "same", "duplicate", "random"]))
        noise = rng.choice(values, shape)
        maps.append(
            {
                "noisy": np.where(rng.random(shape) < 0.3, noise, base),
                "constant": np.full(shape, values[0]),
                "same": base,
                "duplicate": maps[-1] if maps else base,
                "random": noise,
            }[kind]
        )
    return [one.astype(dtype) for one in maps]


def images_of(arrays: list[np.ndarray]) -> list[sitk.Image]:
    return [sitk.GetImageFromArray(array, isVector=False) for array in arrays]


# -- STAPLE -----------------------------------------------------------------------------------


class Staple(NamedTuple):
    probability: np.ndarray
    elapsed: int
    sensitivity: np.ndarray
    specificity: np.ndarray

    def equals(self, other: Staple) -> bool:
        """Return whether results are equal up to rounding, with the same number of iterations."""
        drift = max(1e-9, 2 * self.probability.size * 2.0**-53)
        differences = [
            np.abs(one - two).max()
            for one, two in (
                (self.probability, other.probability),
                (self.sensitivity, other.sensitivity),
                (self.specificity, other.specificity),
            )
        ]
        return self.elapsed == other.elapsed and max(differences) <= drift


def run(module: Any, arrays: list[np.ndarray], **parameters: Any) -> Staple:
    filter_ = module.STAPLEImageFilter()
    for name, value in parameters.items():
        getattr(filter_, f"Set{name}")(value)
    output = sitk.GetArrayFromImage(filter_.Execute(images_of(arrays)))
    return Staple(
        output,
        filter_.GetElapsedIterations(),
        np.array(filter_.GetSensitivity()),
        np.array(filter_.GetSpecificity()),
    )


def simpleitk_agrees_with_itself(arrays: list[np.ndarray], **parameters: Any) -> bool:
    """Return whether SimpleITK's result for the mirrored image is the mirrored result.

    On a symmetric saddle point it is not, since the order of its sums determines the direction of
    EM.
    """
    straight = run(sitk, arrays, **parameters)
    axes: list[Any] = [*range(arrays[0].ndim), tuple(range(arrays[0].ndim))]
    for axis in axes:
        mirrored = run(sitk, [np.flip(a, axis).copy() for a in arrays], **parameters)
        back = mirrored._replace(probability=np.flip(mirrored.probability, axis))
        if not straight.equals(back):
            return False
    return True


def in_extended_precision(arrays: list[np.ndarray], passes: int, **parameters: Any) -> Staple:
    """Run SimpleITK's algorithm in extended precision."""
    foreground = parameters.get("ForegroundValue", 1)
    marks = np.array([(array == foreground).ravel() for array in arrays]).astype(np.longdouble)
    truth = marks.mean(axis=0)
    prior = truth.mean() * parameters.get("ConfidenceWeight", 1.0)
    for _ in range(passes):
        p = (marks * truth).sum(axis=1) / truth.sum()
        q = ((1 - marks) * (1 - truth)).sum(axis=1) / (1 - truth).sum()
        a = prior * np.where(marks == 1, p[:, None], 1 - p[:, None]).prod(axis=0)
        b = (1 - prior) * np.where(marks == 1, 1 - q[:, None], q[:, None]).prod(axis=0)
        truth = a / (a + b)
    return Staple(truth.reshape(arrays[0].shape), passes, p, q)


def assert_parity(arrays: list[np.ndarray], **parameters: Any) -> None:
    ours, theirs = run(itk_consensus, arrays, **parameters), run(sitk, arrays, **parameters)
    assert ours.probability.dtype == theirs.probability.dtype
    if ours.equals(theirs) or not simpleitk_agrees_with_itself(arrays, **parameters):
        return
    # Sums of 1 - W lose digits if W is close to 1; then ours must be the more accurate result.
    capped = theirs.elapsed == parameters.get("MaximumIterations")
    exact = in_extended_precision(arrays, theirs.elapsed + (not capped), **parameters)
    assert ours.equals(exact._replace(elapsed=theirs.elapsed)), (ours, theirs)


@settings(max_examples=150)
@given(structured_masks())
def test_staple_equals_simpleitk(arrays: list[np.ndarray]) -> None:
    # Some symmetric stacks converge extremely slowly; both programs are stopped at the same
    # iteration.
    assert_parity(arrays, MaximumIterations=3000)


@given(structured_masks(), st.integers(1, 12))
def test_capped_staple_equals_simpleitk(arrays: list[np.ndarray], cap: int) -> None:
    assert_parity(arrays, MaximumIterations=cap)


@given(structured_masks(), st.sampled_from([0.1, 0.5, 0.9, 1.1]))
def test_confidence_weight_equals_simpleitk(arrays: list[np.ndarray], weight: float) -> None:
    assume(np.mean([a.mean() for a in arrays]) * weight < 0.99)
    assert_parity(arrays, ConfidenceWeight=weight, MaximumIterations=3000)


@given(structured_masks(), st.sampled_from([0, 2, 7, 100]), st.sampled_from([1, 3, 100]))
def test_foreground_value_equals_simpleitk(
    arrays: list[np.ndarray], foreground: int, other: int
) -> None:
    assume(foreground != other)
    relabelled = [np.where(a == 1, foreground, other).astype(a.dtype) for a in arrays]
    assert_parity(relabelled, ForegroundValue=foreground, MaximumIterations=3000)


def test_staple_of_one_rater_is_simpleitks_mask() -> None:
    mask = np.eye(5, dtype=np.uint8)
    with pytest.warns(itk_consensus.ConsensusWarning, match="only one rater"):
        ours = run(itk_consensus, [mask])
    assert ours.equals(run(sitk, [mask]))


@pytest.mark.parametrize("shape", [(64, 64, 40), (300, 301)])
def test_staple_equals_simpleitk_on_larger_images(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    axes = np.meshgrid(*[np.linspace(-1, 1, size) for size in shape], indexing="ij")
    radius = np.sqrt(sum(axis**2 for axis in axes))
    arrays = [
        ((radius + 0.1 * rng.standard_normal()) < 0.6).astype(np.uint8) ^ (rng.random(shape) < 0.01)
        for _ in range(5)
    ]
    assert_parity([array.astype(np.uint8) for array in arrays])


def test_real_radiologists_are_fused_as_simpleitk_fuses_them(shared_data: Path) -> None:
    paths = sorted((shared_data / "lidc").glob("*.nrrd"))[:12]
    assert paths
    for path in paths:
        voxels = sitk.GetArrayFromImage(sitk.ReadImage(str(path)))
        arrays = [voxels[..., reader].copy() for reader in range(voxels.shape[-1])]
        assert_parity(arrays)
        images = images_of(arrays)
        np.testing.assert_array_equal(
            sitk.GetArrayFromImage(itk_consensus.LabelVoting(images)),
            sitk.GetArrayFromImage(sitk.LabelVoting(images)),
        )


def test_positional_arguments_mean_what_they_mean_in_simpleitk(masks: list[np.ndarray]) -> None:
    images = images_of(masks)
    for arguments in ((), (0.5,), (0.5, 1.0), (0.5, 1.0, 3)):
        ours = itk_consensus.STAPLE(images, *arguments)
        theirs = sitk.STAPLE(images, *arguments)
        np.testing.assert_allclose(
            sitk.GetArrayFromImage(ours), sitk.GetArrayFromImage(theirs), atol=1e-9
        )
        separate = itk_consensus.STAPLE(*images, *arguments)
        np.testing.assert_array_equal(
            sitk.GetArrayFromImage(ours), sitk.GetArrayFromImage(separate)
        )


@pytest.mark.parametrize(
    "name", ["STAPLEImageFilter", "MultiLabelSTAPLEImageFilter", "LabelVotingImageFilter"]
)
def test_every_method_of_simpleitks_filter_exists_with_its_default(name: str) -> None:
    ours, theirs = getattr(itk_consensus, name)(), getattr(sitk, name)()
    methods = [
        method
        for method in dir(theirs)
        if method[0].isupper()
        and callable(getattr(theirs, method))
        and method in vars(type(theirs))
    ]
    assert "Execute" in methods
    for method in methods:
        assert callable(getattr(ours, method)), method
        setter = f"Set{method[3:]}"
        if method.startswith("Get") and setter in methods:
            assert getattr(ours, method)() == pytest.approx(getattr(theirs, method)()), method
    for method in (
        "AddCommand",
        "HasCommand",
        "RemoveAllCommands",
        "Abort",
        "GetProgress",
        "DebugOn",
        "DebugOff",
        "GetDebug",
        "SetDebug",
        "GetNumberOfThreads",
        "SetNumberOfThreads",
        "GetNumberOfWorkUnits",
        "SetNumberOfWorkUnits",
        "GetName",
    ):
        assert callable(getattr(ours, method)), method


def test_events_fire_as_often_as_in_simpleitk(masks: list[np.ndarray]) -> None:
    counts = []
    for module in (sitk, itk_consensus):
        filter_ = module.STAPLEImageFilter()
        seen: list[str] = []
        for name in ("Start", "Iteration", "End"):
            event = getattr(sitk, f"sitk{name}Event")
            filter_.AddCommand(event, lambda name=name, seen=seen: seen.append(name))
        filter_.Execute(images_of(masks))
        counts.append((seen[0], seen[-1], seen.count("Iteration"), filter_.GetElapsedIterations()))
    assert counts[0] == counts[1]


def test_abort_in_an_iteration_returns_what_simpleitk_returns(masks: list[np.ndarray]) -> None:
    outputs = []
    for module in (sitk, itk_consensus):
        filter_ = module.STAPLEImageFilter()
        filter_.AddCommand(sitk.sitkIterationEvent, filter_.Abort)
        outputs.append(sitk.GetArrayFromImage(filter_.Execute(images_of(masks))))
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-9)


# -- LabelVoting ------------------------------------------------------------------------------


@settings(max_examples=150)
@given(label_stacks(("uint8", "uint16", "uint32", "uint64")))
def test_label_voting_equals_simpleitk_everywhere(arrays: list[np.ndarray]) -> None:
    images = images_of(arrays)
    ours, theirs = itk_consensus.LabelVoting(images), sitk.LabelVoting(images)
    assert ours.GetPixelID() == theirs.GetPixelID()
    np.testing.assert_array_equal(sitk.GetArrayFromImage(ours), sitk.GetArrayFromImage(theirs))


@given(label_stacks(), st.integers(0, 255))
def test_label_voting_with_its_own_undecided_label_equals_simpleitk(
    arrays: list[np.ndarray], undecided: int
) -> None:
    images = images_of(arrays)
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(itk_consensus.LabelVoting(images, undecided)),
        sitk.GetArrayFromImage(sitk.LabelVoting(images, undecided)),
    )


def test_any_tie_at_the_top_is_undecided() -> None:
    votes = [np.array([[value]], np.uint8) for value in (1, 1, 2, 2, 3)]
    assert itk_consensus.LabelVoting(votes).tolist() == [[4]]
    assert sitk.GetArrayFromImage(sitk.LabelVoting(images_of(votes))).tolist() == [[4]]


# -- MultiLabelSTAPLE -------------------------------------------------------------------------


def without_ties(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return the same raters on the voxels that have a plurality, in one row."""
    votes = np.stack([array.ravel() for array in arrays])
    counts = np.stack([(votes == label).sum(axis=0) for label in np.unique(votes)])
    decided = (counts == counts.max(axis=0)).sum(axis=0) == 1
    assume(decided.sum() >= 2)
    return [row[decided][None, :].copy() for row in votes]


def both_multilabel(arrays: list[np.ndarray], **parameters: Any) -> tuple[Any, Any, Any, Any]:
    answers: list[Any] = []
    for module in (itk_consensus, sitk):
        filter_ = module.MultiLabelSTAPLEImageFilter()
        for name, value in parameters.items():
            getattr(filter_, f"Set{name}")(value)
        answers.append(sitk.GetArrayFromImage(filter_.Execute(images_of(arrays))))
        answers.append(
            np.array([filter_.GetConfusionMatrix(rater) for rater in range(len(arrays))])
        )
    return tuple(answers)


def assert_multilabel_parity(arrays: list[np.ndarray], **parameters: Any) -> None:
    ours, our_matrices, theirs, their_matrices = both_multilabel(arrays, **parameters)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(our_matrices, their_matrices, atol=1e-9)


@settings(max_examples=150)
@given(label_stacks())
def test_multilabel_staple_equals_simpleitk_wherever_the_vote_has_no_ties(
    arrays: list[np.ndarray],
) -> None:
    assert_multilabel_parity(without_ties(arrays), MaximumNumberOfIterations=2000)


@given(label_stacks(), st.integers(0, 6))
def test_capped_multilabel_staple_equals_simpleitk(arrays: list[np.ndarray], cap: int) -> None:
    assert_multilabel_parity(without_ties(arrays), MaximumNumberOfIterations=cap)


@given(label_stacks(), st.sampled_from([0.3, 1e-2, 1e-8]))
def test_the_termination_threshold_equals_simpleitks(
    arrays: list[np.ndarray], threshold: float
) -> None:
    assert_multilabel_parity(
        without_ties(arrays), TerminationUpdateThreshold=threshold, MaximumNumberOfIterations=500
    )


@given(label_stacks(), st.integers(0, 2**32 - 1))
def test_prior_probabilities_of_simpleitks_length_equal_simpleitk(
    arrays: list[np.ndarray], seed: int
) -> None:
    arrays = without_ties(arrays)
    size = int(np.max(arrays)) + 1
    prior = np.random.default_rng(seed).dirichlet(np.ones(size)).tolist()
    assert_multilabel_parity(
        arrays, PriorProbabilities=[*prior, 0.0], MaximumNumberOfIterations=500
    )


@given(label_stacks(), st.integers(13, 255))
def test_multilabel_staple_with_its_own_undecided_label_equals_simpleitk(
    arrays: list[np.ndarray], undecided: int
) -> None:
    assert_multilabel_parity(
        without_ties(arrays), LabelForUndecidedPixels=undecided, MaximumNumberOfIterations=500
    )


def test_the_confusion_matrix_is_laid_out_as_simpleitks(label_maps: list[np.ndarray]) -> None:
    arrays = [array.astype(np.uint8) for array in label_maps]
    filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
    filter_.Execute(arrays)
    labels = filter_.GetLabels()
    assert labels == (0, 1, 2, 4)
    for rater in range(len(arrays)):
        flat = np.array(filter_.GetConfusionMatrix(rater))
        assert flat.shape == (6 * 5,)
        matrix = flat.reshape(6, 5)
        np.testing.assert_array_equal(
            matrix[np.ix_(labels, labels)], filter_.GetConfusionTable(rater)
        )
        np.testing.assert_allclose(matrix[:, list(labels)].sum(axis=0), 1)
        assert not matrix[5].any()
        assert not matrix[3].any()
        assert not matrix[:, 3].any()


def test_multilabel_positional_arguments_mean_what_they_mean_in_simpleitk() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, (8, 9))
    arrays = [
        np.where(rng.random(truth.shape) < 0.2, rng.integers(0, 3, truth.shape), truth)
        for _ in range(5)
    ]
    images = images_of([array.astype(np.uint8) for array in arrays])
    for arguments in (
        (),
        (9,),
        (9, 1e-3),
        (9, 1e-3, 2),
        (9, 1e-3, 2, [0.1, 0.8, 0.1, 0.0]),
        (UINT64_MAX, 1e-5, UINT_MAX, []),
    ):
        ours = itk_consensus.MultiLabelSTAPLE(images, *arguments)
        separate = itk_consensus.MultiLabelSTAPLE(*images, *arguments)
        np.testing.assert_array_equal(
            sitk.GetArrayFromImage(ours), sitk.GetArrayFromImage(separate)
        )
        decided = sitk.GetArrayFromImage(itk_consensus.LabelVoting(images)) != 3
        theirs = sitk.GetArrayFromImage(sitk.MultiLabelSTAPLE(images, *arguments))
        np.testing.assert_array_equal(
            sitk.GetArrayFromImage(ours)[decided], theirs[decided], err_msg=str(arguments)
        )
