from __future__ import annotations

import json

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from examples.simulation import LESION_SETTINGS, STRUCTURE_SETTINGS
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.methods.lesions import instance_consensus_filter as instance_consensus
from itk_consensus.votes.overlap import dice


def images(case):
    made = [sitk.GetImageFromArray(rater) for rater in case.raters]
    for image in made:
        image.SetSpacing(case.spacing[::-1])
        image.SetOrigin([10.0] * len(case.spacing))
    return made


def renamed(case, seed):
    """Return the readers in another order, with other instance labels."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(case.raters))
    names = np.append(0, 1 + rng.permutation(int(case.raters.max()))).astype(case.raters.dtype)
    return case._replace(raters=names[case.raters[order]]), order


@pytest.mark.parametrize("name", ["touching and joined", "thick slices, missed and false"])
def test_order_of_readers_and_numbers_of_objects_change_nothing(name):
    for seed in range(3):
        case = LESION_SETTINGS[name](seed)
        other, order = renamed(case, seed)
        one, two = ic.InstanceConsensusFilter(), ic.InstanceConsensusFilter()
        first, second = (f.Execute(images(c)) for f, c in ((one, case), (two, other)))
        np.testing.assert_array_equal(sitk.GetArrayFromImage(first), sitk.GetArrayFromImage(second))
        found = one.GetObjects().found
        np.testing.assert_array_equal(found[:, order], two.GetObjects().found)
        np.testing.assert_allclose(
            [o.there for o in one.GetObjects().lesions],
            [o.there for o in two.GetObjects().lesions],
            atol=1e-9,
        )


def test_the_finders_draw_what_others_overlooked():
    gains = []
    for seed in range(6):
        case = STRUCTURE_SETTINGS["missed lesions .45"](seed)
        masks = list(case.raters.astype(np.uint8))
        fused = ic.InstanceConsensusFilter(OutputMap="mask").Execute(masks)
        vote = ic.MajorityVote(masks, tieRule="background")
        gains.append(dice(fused == 1, case.truth) - dice(vote == 1, case.truth))
    assert np.mean(gains) > 0.1


def test_what_everybody_invents_alone_is_not_kept():
    case = STRUCTURE_SETTINGS["false lesions"](7)
    filter_ = ic.InstanceConsensusFilter()
    filter_.Execute(list(case.raters.astype(np.uint8)))
    for lesion in filter_.GetObjects().lesions:
        assert lesion.kept == (len(lesion.finders) > 2)


def test_touching_objects_stay_apart():
    case = LESION_SETTINGS["touching"](1)
    fused = ic.InstanceConsensusFilter().Execute(list(case.raters))
    pieces = sitk.ConnectedComponent(sitk.GetImageFromArray((fused > 0).astype(np.uint8)))
    number = len(np.unique(case.truth)) - 1
    assert len(np.unique(fused)) - 1 == pytest.approx(number, abs=2)
    assert sitk.GetArrayFromImage(pieces).max() < 0.7 * number


def test_one_reader_is_the_answer_and_no_object_an_empty_one():
    case = LESION_SETTINGS["touching"](3)
    fused = ic.InstanceConsensusFilter().Execute([case.raters[0]])
    assert len(np.unique(fused)) == len(np.unique(case.raters[0]))
    np.testing.assert_array_equal(fused > 0, case.raters[0] > 0)
    empty = ic.InstanceConsensusFilter()
    assert not empty.Execute([np.zeros((4, 5), np.uint8)] * 3).any()
    assert len(empty.GetObjects()) == 0
    assert empty.GetDetection() == ()
    assert empty.GetObjects().to_csv() == ""


def test_the_table_has_positions_in_mm_and_volumes_of_each_reader():
    mask = np.zeros((6, 8, 10), np.uint8)
    mask[2:4, 3:5, 6:8] = 1
    image = sitk.GetImageFromArray(mask)
    image.SetSpacing((1.0, 2.0, 5.0))
    image.SetOrigin((-3.0, 4.0, 7.0))
    table = ic.match_lesions([image, image])
    (lesion,) = table.lesions
    np.testing.assert_allclose(lesion.position, (-3 + 6.5, 4 + 2 * 3.5, 7 + 5 * 2.5))
    assert lesion.volumes == (0.08, 0.08)
    assert table.volume_unit == "ml"
    assert lesion.overlap == 1
    frame = table.to_frame()
    assert frame.loc[0, "readers"] == "0 1"
    assert frame.loc[0, "z_mm"] == 19.5
    assert table.to_csv().splitlines()[0].startswith("lesion,found_by,readers,there,kept,x_mm")
    assert json.loads(table.to_json())["lesions"][0]["finders"] == [0, 1]


def test_an_undefined_overlap_is_null_in_json():
    alone = np.zeros((5, 5), np.uint8)
    alone[1:3, 1:3] = 1
    table = ic.match_lesions([alone, np.zeros_like(alone)])
    assert json.loads(table.to_json())["lesions"][0]["overlap"] is None


def test_matched_maps_have_one_number_for_an_object_in_all_readers():
    case = LESION_SETTINGS["found .7"](4)
    filter_ = ic.InstanceConsensusFilter()
    filter_.Execute([*case.raters, None])
    *maps, missing = filter_.GetMatchedImages()
    assert missing is None
    for own, drawn in zip(maps, case.raters, strict=True):
        np.testing.assert_array_equal(own > 0, drawn > 0)
    for lesion in filter_.GetObjects().lesions:
        marked = [j for j, own in enumerate(maps) if (own == lesion.number).any()]
        assert tuple(marked) == lesion.finders


@pytest.mark.parametrize(
    "outline", [ic.MajorityVoteFilter(TieRule="prior"), ic.STAPLEImageFilter()]
)
def test_any_fuser_draws_the_outlines(outline):
    case = LESION_SETTINGS["found .7"](5)
    fused = ic.InstanceConsensusFilter(OutlineFilter=outline, OutputMap="mask").Execute(
        list(case.raters)
    )
    assert dice(fused == 1, case.truth > 0) > 0.85


def test_a_threshold_of_one_keeps_nothing_doubtful_and_of_zero_everything():
    case = LESION_SETTINGS["one invents"](2)
    every = ic.InstanceConsensusFilter(DetectionThreshold=0.0)
    every.Execute(list(case.raters))
    assert all(lesion.kept for lesion in every.GetObjects().lesions)
    none = ic.InstanceConsensusFilter(DetectionThreshold=1.0)
    assert not none.Execute(list(case.raters)).any()


def test_objects_that_were_not_kept_show_in_the_uncertainty_and_nowhere_else():
    case = LESION_SETTINGS["missed and false"](5)
    filter_ = ic.InstanceConsensusFilter()
    fused = filter_.Execute(list(case.raters))
    doubted = next(one for one in filter_.GetObjects().lesions if not one.kept and one.there > 0.1)
    where = np.any([own == doubted.number for own in filter_.GetMatchedImages()], axis=0)
    assert not (fused[where] == doubted.number).any()
    assert filter_.GetUncertaintyImage()[where].max() > 0.3
    assert filter_.GetProbabilityImage(doubted.number).max() == pytest.approx(doubted.there)


def test_a_cohort_of_the_same_readers_changes_what_is_believed_and_others_are_refused():
    cases = [LESION_SETTINGS["one invents"](seed) for seed in range(6)]
    tables = [ic.match_lesions(list(case.raters[:4])) for case in cases[1:]]
    alone, pooled = ic.InstanceConsensusFilter(), ic.InstanceConsensusFilter(Cohort=tables)
    for filter_ in (alone, pooled):
        filter_.Execute(list(cases[0].raters[:4]))
    assert len(pooled.GetObjects()) == len(alone.GetObjects())
    widths = [
        np.mean([d.sensitivity.high - d.sensitivity.low for d in f.GetDetection()])
        for f in (alone, pooled)
    ]
    assert widths[1] < widths[0]
    with pytest.raises(ParameterError, match="Cohort must hold tables of 3 raters, got 4"):
        pooled.Execute(list(cases[0].raters[:3]))


def test_more_objects_than_a_map_can_number_are_refused_by_their_number():
    noise = np.zeros((600, 600), np.uint8)
    noise[::2, ::2] = 1
    with pytest.raises(InputError, match=r"rater 0 has 90000 objects.*OutputMap to mask"):
        ic.InstanceConsensusFilter(InputsAreLabels=True).Execute([noise, noise])


def test_kidneys_and_their_masses_are_matched_as_their_annotators_named_them(shared_data):
    """KiTS21: the three annotators share names, which the filter does not use."""
    path = shared_data / "kits21" / "case_00064_annotations.nrrd"
    annotations = sitk.ReadImage(str(path))
    named = np.moveaxis(sitk.GetArrayFromImage(annotations), -1, 0)[:, 60:220]
    rng = np.random.default_rng(0)
    shuffled = [np.append(0, 1 + rng.permutation(40)).astype(np.uint8)[own] for own in named]
    filter_ = ic.InstanceConsensusFilter(
        InputObjects="labels", OutlineFilter=ic.MajorityVoteFilter()
    )
    filter_.Execute(shuffled)
    pairs = set()
    for names, own in zip(named, filter_.GetMatchedImages(), strict=True):
        pairs |= set(zip(names[names > 0].tolist(), own[names > 0].tolist(), strict=True))
    assert len(pairs) == len(np.unique(named)) - 1 == len(filter_.GetObjects())


def test_the_report_lists_objects_and_how_each_reader_finds(tmp_path):
    case = LESION_SETTINGS["missed and false"](5)
    filter_ = ic.InstanceConsensusFilter()
    filter_.Execute(list(case.raters))
    ic.report(filter_, tmp_path / "page.html", names=list("vwxyz"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="lesions"' in page
    for lesion in filter_.GetObjects().lesions:
        assert f"lesion {lesion.number}<" in page
    assert "false finds per case" in page


def test_long_names_of_raters_stand_beside_letters_and_not_in_every_row_of_the_report(tmp_path):
    case = LESION_SETTINGS["missed and false"](5)
    filter_ = ic.InstanceConsensusFilter()
    filter_.Execute(list(case.raters))
    names = [f"cases/of/a/long/way/reader_{number}_annotations.nrrd" for number in range(5)]
    ic.report(filter_, tmp_path / "page.html", names=names)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    lesions = page[page.index('id="lesions"') : page.index('id="labels"')]
    assert [lesions.count(name) for name in names] == [1] * 5
    for lesion in filter_.GetObjects().lesions:
        assert f"<td>{' '.join('ABCDE'[reader] for reader in lesion.finders)}</td>" in lesions


def test_noise_is_counted_before_it_is_matched(monkeypatch):
    """Issue 44, item 15: 64^3 voxels took 44 s and 7 GB before "more than 65534" was reported."""
    noise = np.random.default_rng(44).integers(0, 200, (42, 42, 42), dtype=np.uint8)
    monkeypatch.setattr(instance_consensus, "match_objects", None)  # must not be called
    with pytest.raises(InputError, match=r"rater 0 has \d+ objects, more than the 65534 labels of"):
        ic.InstanceConsensusFilter(InputsAreLabels=True).Execute([noise, noise])


def test_a_case_without_lesions_is_one_of_a_cohort():
    """Without lesions there is nothing to average."""
    case = LESION_SETTINGS["one invents"](0)
    raters = list(case.raters[:3])
    nothing = ic.match_lesions([np.zeros_like(one) for one in raters])
    assert nothing.sizes.shape == (0,)
    alone, pooled = ic.InstanceConsensusFilter(), ic.InstanceConsensusFilter(Cohort=[nothing])
    np.testing.assert_array_equal(alone.Execute(raters), pooled.Execute(raters))
