from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus import BoundarySIMPLEFilter, SIMPLEFilter
from itk_consensus.core.errors import GeometryError, InputError, ParameterError, ProcessAborted
from itk_consensus.votes.overlap import dice

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture
def example(request):
    return importlib.import_module(f"examples.benchmarks.methods.{request.param}")


@pytest.fixture
def raters():
    rng = np.random.default_rng(0)
    truth = np.zeros((8, 30, 32), bool)
    truth[2:6, 8:22, 9:23] = True
    return [(truth ^ (rng.random(truth.shape) < 0.1)).astype(np.uint8) for _ in range(5)]


def as_images(arrays, spacing):
    images = [sitk.GetImageFromArray(array) for array in arrays]
    for image in images:
        image.SetSpacing(spacing)
    return images


# -- selective --------------------------------------------------------------------------------

DREW_ELSEWHERE = [("d2_p10_experts", 3), ("d2_p20_experts", 5), ("d3_m26_crowd", 3)]
DREW_ELSEWHERE += [("d4_000154_crowd", 7)]


@pytest.mark.parametrize(("name", "rater"), DREW_ELSEWHERE)
def test_real_raters_who_drew_elsewhere_are_dropped(shared_data, name, rater):
    image = sitk.ReadImage(str(shared_data / f"bubil/{name}.nrrd"))
    masks = np.moveaxis(sitk.GetArrayFromImage(image), -1, 0)
    vote = np.count_nonzero(masks, axis=0) > len(masks) / 2
    assert dice(masks[rater - 1], vote) == 0
    fuser = SIMPLEFilter()
    fuser.Execute(image)
    assert rater - 1 in fuser.GetDroppedRaters()
    assert fuser.GetWeights()[rater - 1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("example", ["simple_selection"], indirect=True)
def test_selection_loses_at_most_two_thousandths_to_the_vote_on_real_crowds(shared_data, example):
    cases = list(example.crowds(shared_data / "bubil"))
    assert len(cases) == 165
    vote = np.mean([example.vote_overlap(crowd) for crowd in cases])
    assert round(vote, 4) == 0.9250
    chosen = example.selection(cases, SIMPLEFilter().GetDeviations())
    assert chosen.overlap >= vote - 0.002
    strict = example.selection(cases, 1.0)
    assert strict.overlap < chosen.overlap
    assert strict.dropped > chosen.dropped


def test_selection_of_several_labels_drops_the_rater_of_another_structure(label_maps):
    rotated = np.rot90(label_maps[0], 2).copy()
    fuser = SIMPLEFilter(Deviations=1.5)
    fuser.Execute([*label_maps, rotated])
    assert 5 in fuser.GetDroppedRaters()


# -- boundary ---------------------------------------------------------------------------------


@pytest.mark.parametrize("example", ["edge_gate"], indirect=True)
def test_the_edge_gate_brings_the_contour_nearer_on_each_of_twenty_seeds(example):
    errors = np.array([example.errors(seed, biased=3) for seed in example.SEEDS])
    assert len(errors) == 20
    assert (errors[:, 1] < errors[:, 0]).all()


def test_without_boost_the_image_has_no_effect(raters):
    image = np.random.default_rng(1).normal(size=raters[0].shape)
    plain, off = BoundarySIMPLEFilter(), BoundarySIMPLEFilter(Image=image, EdgeBoost=1.0)
    on = BoundarySIMPLEFilter(Image=image)
    for fuser in (plain, off, on):
        fuser.Execute(raters)
    np.testing.assert_array_equal(plain.GetProbabilityImage(1), off.GetProbabilityImage(1))
    assert plain.GetWeights() == off.GetWeights()
    assert not np.array_equal(plain.GetProbabilityImage(1), on.GetProbabilityImage(1))


def test_the_patch_is_measured_in_mm(raters):
    fine = BoundarySIMPLEFilter(PatchRadius=1.5)
    coarse = BoundarySIMPLEFilter(PatchRadius=3.0)
    fine.Execute(as_images(raters, (0.5, 0.75, 1.5)))
    coarse.Execute(as_images(raters, (1.0, 1.5, 3.0)))
    assert fine.GetWeights() == coarse.GetWeights()
    other = BoundarySIMPLEFilter(PatchRadius=3.0)
    other.Execute(as_images(raters, (1.0, 1.0, 1.0)))
    assert fine.GetWeights() != other.GetWeights()


def test_the_default_patch_is_three_of_the_smallest_sides(raters):
    images = as_images(raters, (0.5, 0.5, 2.0))
    default, given = BoundarySIMPLEFilter(), BoundarySIMPLEFilter()
    given.SetPatchRadius(1.5)
    default.Execute(images)
    given.Execute(images)
    assert default.GetWeights() == given.GetWeights()


def test_unanimous_voxels_keep_their_label_and_the_rest_of_the_image_is_not_looked_at(raters):
    whole = BoundarySIMPLEFilter().Execute(raters)
    agreed = np.all([rater == raters[0] for rater in raters], axis=0)
    np.testing.assert_array_equal(whole[agreed], raters[0][agreed])
    padded = [np.pad(rater, 12) for rater in raters]
    inner = (slice(12, -12),) * 3
    # Patches at the old border now include background; all other voxels must be unchanged.
    again = BoundarySIMPLEFilter().Execute(padded)
    assert again[inner].shape == whole.shape
    again[inner] = 0
    assert not again.any()


def test_several_labels_are_weighed_together(label_maps):
    fuser = BoundarySIMPLEFilter(PatchRadius=2.0)
    fused = fuser.Execute(label_maps)
    shares = np.stack([fuser.GetProbabilityImage(label) for label in fuser.GetLabels()])
    np.testing.assert_allclose(shares.sum(axis=0), 1, atol=1e-12)
    assert set(np.unique(fused)) <= {*fuser.GetLabels(), max(fuser.GetLabels()) + 1}
    np.testing.assert_allclose(sum(fuser.GetWeights()), 1)


def test_abort_in_an_iteration_returns_the_current_estimate(raters):
    fuser, capped = BoundarySIMPLEFilter(), BoundarySIMPLEFilter()
    fuser.AddCommand(sitk.sitkIterationEvent, fuser.Abort)
    capped.SetMaximumIterations(1)
    np.testing.assert_array_equal(fuser.Execute(raters), capped.Execute(raters))
    assert len(fuser.GetTrace()) == 1
    assert not fuser.GetConverged()


def test_progress_moves_with_the_iterations(raters):
    fuser = BoundarySIMPLEFilter()
    seen = []
    fuser.AddCommand(sitk.sitkProgressEvent, lambda: seen.append(fuser.GetProgress()))
    fuser.Execute(raters)
    assert len(set(seen)) >= len(fuser.GetTrace()) + 2
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("fuser", "parameters", "times"),
    [(SIMPLEFilter, {}, 8), (BoundarySIMPLEFilter, {"PatchRadius": 8.0}, 5)],
)
def test_an_iteration_reports_every_label_or_part(fuser, parameters, times):
    """With many labels, an iteration of SIMPLE and a slab of boundary SIMPLE took seconds."""
    filter_ = fuser(MaximumIterations=1, **parameters)
    seen = reports_of(filter_)
    filter_.Execute(many_labels())
    assert len({share for share in seen if 0.5 < share < 0.99}) >= times


def test_boundary_simple_reports_while_it_gets_ready():
    """Before iterations began, voting on many labels and computing edges for many raters took
    seconds.
    """
    raters = many_labels()
    plain = BoundarySIMPLEFilter()
    gated = BoundarySIMPLEFilter(Image=raters[0].astype(np.float32))
    ready = []
    for filter_ in (plain, gated):
        seen = reports_of(filter_)
        filter_.Execute(raters)
        ready.append(seen.count(0.5))
    assert ready[0] > len(plain.GetLabels())
    assert ready[1] == ready[0] + len(raters)


@pytest.mark.parametrize(
    ("fuser", "parameters"), [(SIMPLEFilter, {"Deviations": 0.5}), (BoundarySIMPLEFilter, {})]
)
def test_abort_inside_an_iteration_ends_it_and_returns_the_estimate_before(fuser, parameters):
    """Previously the whole iteration was completed: half a minute for fifteen atlases with 100
    labels.
    """
    raters = many_labels()
    filter_ = fuser(**parameters)
    after_one = 0.5 + 0.49 / filter_.GetMaximumIterations()
    seen = reports_of(filter_)
    filter_.AddCommand(
        sitk.sitkProgressEvent, lambda: filter_.Abort() if after_one < seen[-1] < 1 else None
    )
    aborted = filter_.Execute(raters)
    # the progress at which it was aborted, and 1
    assert [share > after_one for share in seen].count(True) == 2
    assert len(filter_.GetTrace()) == 1
    assert not filter_.GetConverged()
    np.testing.assert_array_equal(aborted, fuser(MaximumIterations=1, **parameters).Execute(raters))


@pytest.mark.parametrize("fuser", [SIMPLEFilter, BoundarySIMPLEFilter])
def test_abort_inside_the_first_iteration_ends_without_an_answer(fuser):
    filter_ = fuser()
    seen = reports_of(filter_)
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: filter_.Abort() if seen[-1] > 0.5 else None)
    with pytest.raises(ProcessAborted):
        filter_.Execute(many_labels())
    assert [share > 0.5 for share in seen].count(True) == 1


def many_labels():
    rng = np.random.default_rng(3)
    truth = np.zeros((6, 30, 32), np.uint8)
    for label in range(1, 9):
        truth[1:5, 3 * label : 3 * label + 3, 4:28] = label
    shifts = ((0, 0), (1, 0), (0, 2), (-1, 1), (2, -2))
    moved = [np.roll(truth, shift, (1, 2)) for shift in shifts]
    return [np.where(rng.random(m.shape) < 0.05, truth, m) for m in moved]


def reports_of(filter_):
    """Return the progress at every report during Execute."""
    seen = []
    filter_.AddCommand(sitk.sitkProgressEvent, lambda: seen.append(filter_.GetProgress()))
    return seen


def test_a_patch_smaller_than_a_voxel_is_refused_with_the_voxel_side(raters):
    with pytest.raises(ParameterError, match=r"PatchRadius must be at least .* 2 mm, got 1.5"):
        BoundarySIMPLEFilter(PatchRadius=1.5).Execute(as_images(raters, (2, 2, 3)))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_an_image_with_holes_is_refused(raters, odd):
    image = np.zeros(raters[0].shape)
    image[3, 3, 3] = odd
    with pytest.raises(InputError, match="SIMPLEFilter: Image must hold finite numbers"):
        BoundarySIMPLEFilter(Image=image).Execute(raters)


def test_an_image_in_another_space_is_refused_by_name(raters):
    images = as_images(raters, (1.0, 1.0, 1.0))
    (moved,) = as_images([raters[0].astype(np.float32)], (1.0, 1.0, 1.0))
    moved.SetOrigin((5.0, 0.0, 0.0))
    with pytest.raises(GeometryError, match="SIMPLEFilter: Image"):
        BoundarySIMPLEFilter(Image=moved).Execute(images)


def test_one_rater_is_the_answer(raters):
    for fuser in (BoundarySIMPLEFilter, SIMPLEFilter):
        np.testing.assert_array_equal(fuser().Execute(raters[:1]), raters[0])
