"""Scores of submissions against several readers: hand-computed examples, laws, a simulated
study.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy
import SimpleITK as sitk
from hypothesis import given, settings
from hypothesis import strategies as st

import itk_consensus as ic
from itk_consensus.assessment.scoring import rules
from itk_consensus.assessment.scoring.study_scores import READERS
from itk_consensus.core.errors import InputError, ParameterError

#: Three readers of eight voxels, two of whom mark one voxel less than the previous reader.
READ = [
    np.array([1, 1, 1, 1, 0, 0, 0, 0], bool),
    np.array([1, 1, 1, 0, 0, 0, 0, 0], bool),
    np.array([1, 1, 0, 0, 0, 0, 0, 0], bool),
]
SHARE = np.mean(READ, axis=0)


def test_soft_dice_is_that_worked_out_by_hand():
    p = np.array([1, 0.5, 0.5, 0, 0, 0, 0, 0])
    # The sum of p s is 1 + .5 + 1/3, the sum of p is 2, and the sum of s is 3.
    assert rules.soft_dice(p, SHARE) == pytest.approx(2 * (1.5 + 1 / 3) / 5)
    assert rules.soft_dice(np.zeros(3), np.zeros(3)) == 1


def test_qubiq_dice_is_that_worked_out_by_hand():
    p = READ[1].astype(float)
    # At thresholds .1 to .3 the readers' map has four voxels, three of which the mask contains
    # (Dice 6/7); at .4 to .6 it has three (Dice 1), and at .7 to .9 two (Dice 4/5).
    assert rules.threshold_averaged_dice(p, SHARE) == pytest.approx((6 / 7 + 1 + 4 / 5) / 3)


def test_curvas_dice_and_confidence_are_those_worked_out_by_hand():
    mask = np.array([1, 0, 1, 1, 1, 0, 0, 0], bool)
    # All readers mark voxels 0 and 1, none marks 4 to 7; of these, the mask contains 0 and 4.
    assert rules.consensus_dice(mask, READ) == pytest.approx(2 * 1 / (2 + 2))
    assert math.isnan(rules.consensus_dice(mask, [READ[0], ~READ[0]]))
    p = np.array([0.9, 0.7, 0.2, 0.2, 0.4, 0, 0, 0])
    assert rules.consensus_confidence(p, READ) == pytest.approx((0.8 + (0.6 + 3) / 4) / 2)


def test_curvas_calibration_error_is_that_worked_out_by_hand():
    # The confidences are .9 (right), .9 (wrong), .61 (right) and .61 (right), in bins 45 and 30.
    p = np.array([[0.1, 0.9, 0.61, 0.39], [0.9, 0.1, 0.39, 0.61]])
    found = rules.multiclass_calibration_error(p, np.array([1, 1, 0, 1]))
    assert found == pytest.approx((2 * abs(0.9 - 0.5) + 2 * abs(0.61 - 1)) / 4)


@settings(max_examples=25, deadline=None)
@given(volume=st.floats(0, 200), volumes=st.lists(st.integers(20, 120), min_size=2, max_size=6))
def test_curvas_volume_score_is_the_integral_of_its_definition(volume, volumes):
    mean, deviation = np.mean(volumes), np.std(volumes)
    found = rules.volume_score(volume, volumes)
    if not deviation:
        assert math.isnan(found)
        return
    v = np.linspace(mean - 3 * deviation, mean + 3 * deviation, 40_001)
    apart = scipy.stats.norm.cdf(v, mean, deviation) - (v >= volume)
    assert found == pytest.approx(np.trapezoid(apart**2, v), abs=1e-3 * deviation)


def test_rules_of_samples_are_those_worked_out_by_hand():
    samples = [READ[0], READ[2]]
    # Dice of masks of 4 and 2 voxels with masks of 4, 3, 2: 1, 6/7, 2/3 and 2/3, 4/5, 1.
    assert rules.dice_max(samples, READ) == pytest.approx((1 + 6 / 7 + 1) / 3)
    # Samples are repeated three times and readers twice: the middle reader is shared.
    assert rules.dice_match(samples, READ) == pytest.approx((2 + 6 / 7 + 4 / 5 + 2) / 6)
    # IoU: 1, 3/4, 1/2 and 1/2, 2/3, 1.
    assert rules.matched_iou(samples, READ) == pytest.approx((2 + 3 / 4 + 2 / 3 + 2) / 6)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_table_of_votes_is_scored_as_its_voxels(seed):
    rng = np.random.default_rng(seed)
    columns, counts = rng.random((9, 5)) < 0.5, rng.integers(1, 6, 9)
    voxels = np.repeat(columns, counts, axis=0).T
    table = columns.T
    for rule in (rules.energy_distance, rules.dice_max, rules.dice_match, rules.matched_iou):
        whole = rule(voxels[:2], voxels[2:])
        assert rule(table[:2], table[2:], counts) == pytest.approx(whole)
    share, of_voxels = table[2:].mean(axis=0), voxels[2:].mean(axis=0)
    for rule in (rules.soft_dice, rules.threshold_averaged_dice, rules.plural_calibration_error):
        p, of_voxel = table[0] * 0.5, voxels[0] * 0.5
        assert rule(p, share, counts) == pytest.approx(rule(of_voxel, of_voxels))
    for rule in (rules.consensus_dice, rules.consensus_confidence):
        whole = rule(voxels[0], list(voxels[2:]))
        assert rule(table[0], list(table[2:]), counts) == pytest.approx(whole, nan_ok=True)


def disk(radius, centre=(16, 16), size=32):
    y, x = np.mgrid[:size, :size]
    return ((y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2).astype(np.uint8)


def image(array, spacing=(0.5, 0.5, 2.0)):
    made = sitk.GetImageFromArray(np.asarray(array))
    made.SetSpacing(spacing[: made.GetDimension()])
    return made


def study(cases=6, seed=0):
    """Return varying readers, a submission as good as the best one, and one that is too large."""
    rng = np.random.default_rng(seed)
    readers, fair, wide = {}, {}, {}
    for number in range(cases):
        centre = 16 + rng.normal(0, 1, 2)
        drawn = [disk(8 + rng.normal(0, 0.8), centre) for _ in range(3)]
        name = f"case{number}"
        readers[name] = {"ann": image([drawn[0]] * 3), "bob": image([drawn[1]] * 3),
                         "eve": image([drawn[2]] * 3)}  # fmt: skip
        fair[name] = image([disk(8, centre)] * 3)
        wide[name] = image([disk(11, centre)] * 3)
    return readers, {"fair": fair, "wide": wide}


def test_the_order_and_the_ceiling_of_a_planted_study_are_found():
    readers, submissions = study(12)
    found = ic.score_study(readers, submissions, surfaces=True, lesions=True)
    rows = {row["scored"]: row for row in found.summary()}
    assert rows["fair"]["dice"] > rows[READERS]["dice"] > rows["wide"]["dice"]
    assert rows["wide"]["volume_bias_ml"] > 0.05
    assert rows["fair"]["surface_dice"] > rows["wide"]["surface_dice"]
    assert [one.name for one in found.ranking(1, "dice").ranks] == ["fair", "wide"]
    (pair,) = found.comparisons(1, "dice")
    assert pair.difference.low > 0 and pair.corrected_p < 0.01  # noqa: PT018


def test_a_reader_as_submission_reaches_what_he_reaches_beside_the_others():
    readers, _ = study(1)
    (case,) = readers
    # The copied reading is in two of the three reference sets, so its score exceeds the ceiling.
    # Therefore a submission must not be one of the readers.
    found = ic.score_study(readers, {"copy of ann": {case: readers[case]["ann"]}})
    mine = found.cases[0].submissions["copy of ann"][1]["dice"]
    others = found.cases[0].readers["ann"][1]["dice"]
    assert mine == pytest.approx((1 + 2 * others) / 3)


def test_dice_is_the_mean_over_readers_and_the_vote_leaves_one_out():
    readers, submissions = study(1)
    (case,) = readers
    arrays = {name: sitk.GetArrayFromImage(one) for name, one in readers[case].items()}
    fair = sitk.GetArrayFromImage(submissions["fair"][case])
    found = ic.score_study(readers, submissions).cases[0].submissions["fair"][1]
    assert found["dice"] == pytest.approx(np.mean([ic.dice(fair, one) for one in arrays.values()]))
    # With two readers a tie is background: the consensus is what both mark.
    pairs = [("bob", "eve"), ("ann", "eve"), ("ann", "bob")]
    votes = [ic.dice(fair, arrays[one] & arrays[other]) for one, other in pairs]
    assert found["consensus_dice"] == pytest.approx(np.mean(votes))


def test_a_missing_case_is_scored_as_empty_and_said():
    readers, submissions = study(3)
    del submissions["wide"]["case1"]
    with pytest.warns(ic.ConsensusWarning, match=r"wide has no file in 1 case \(case1\)"):
        found = ic.score_study(readers, submissions, surfaces=True)
    rows = [row for row in found.of_cases() if row["missing"]]
    assert [(row["case"], row["scored"], row["dice"]) for row in rows] == [("case1", "wide", 0)]
    # The length of the image's diagonal: 16 x 16 x 6 mm.
    assert rows[0]["hausdorff95_mm"] == pytest.approx(math.hypot(16, 16, 6))
    assert json.loads(found.to_json())["missing"] == {"case1": ["wide"]}


def test_a_structure_that_nobody_drew_in_a_case_agrees():
    two = np.zeros((4, 8, 8), np.uint8)
    two[1:3, 2:5, 2:5] = 2
    one = np.where(np.arange(8) < 4, 1, two)
    readers = {"a": [image(one), image(one)], "b": [image(two), image(two)]}
    found = ic.score_study(readers, {"net": {"a": image(one), "b": image(two)}}, rules=list(RULES))
    rows = [row for row in found.of_cases() if row["case"] == "b" and row["scored"] == "net"]
    assert [row["structure"] for row in rows] == ["label 1", "label 2", "all structures"]
    assert [row["dice"] for row in rows] == [1, 1, 1]
    assert rows[2]["curvas_ece"] == 0


RULES = ("soft-dice", "qubiq", "curvas2024", "samples")


def test_a_probability_of_whole_numbers_is_scored_as_its_mask():
    readers, submissions = study(1)
    (case,) = readers
    mask = sitk.GetArrayFromImage(submissions["wide"][case])
    soft = np.clip(mask.astype(np.float32), 1e-6, 1 - 1e-6)
    both = {"mask": {case: image(mask)}, "soft": {case: image(soft)}}
    found = ic.score_study(readers, both, rules=RULES, lesions=True).cases[0].submissions
    for name, value in found["mask"][1].items():
        assert found["soft"][1][name] == pytest.approx(value, abs=1e-3), name


def test_samples_are_scored_by_their_vote_and_their_share():
    readers, _ = study(1)
    (case,) = readers
    drawn = list(readers[case].values())
    found = ic.score_study(readers, {"all": {case: drawn}}, rules=RULES).cases[0]
    scores = found.submissions["all"][1]
    arrays = [sitk.GetArrayFromImage(one).astype(bool) for one in drawn]
    pairs = [[arrays[1], arrays[2]], [arrays[0], arrays[2]], [arrays[0], arrays[1]]]
    wanted = np.mean([rules.energy_distance(arrays, pair) for pair in pairs])
    assert scores["energy_distance"] == pytest.approx(wanted)
    share = np.mean([rules.soft_dice(np.mean(arrays, 0), np.mean(pair, 0)) for pair in pairs])
    assert scores["soft_dice"] == pytest.approx(share)


def test_probabilities_of_several_labels_are_one_image_with_a_component_each():
    readers = {"a": [image(np.eye(6, dtype=np.uint8) * 2 + 0)] * 2}
    truth = np.eye(6)
    p = np.stack([0.9 - 0.8 * truth, 0.05 + 0 * truth, 0.05 + 0.8 * truth]).astype(np.float32)
    vector = sitk.GetImageFromArray(np.moveaxis(p, 0, -1), isVector=True)
    vector.SetSpacing((0.5, 0.5))
    found = ic.score_study(readers, {"net": {"a": vector}}, rules=("curvas2024",))
    scores = found.cases[0].submissions["net"]
    assert scores[2]["dice"] == 1
    # The confidence is .9 or .85, and all predictions are right.
    assert scores["all structures"]["curvas_ece"] == pytest.approx((30 * 0.1 + 6 * 0.15) / 36)


def test_one_reader_alone_has_no_ceiling():
    readers, submissions = study(2)
    alone = {case: {"ann": one["ann"]} for case, one in readers.items()}
    found = ic.score_study(alone, submissions)
    rows = {row["scored"]: row for row in found.summary()}
    assert rows[READERS]["dice"] is None
    assert rows["fair"]["dice"] > rows["wide"]["dice"]


def test_readers_on_two_grids_cost_their_case_alone_and_are_named():
    readers, submissions = study(3)
    readers["case1"]["bob"] = image(np.zeros((2, 2, 2), np.uint8))
    with pytest.warns(ic.ConsensusWarning, match="^case case1 is not scored: readers: bob does"):
        found = ic.score_study(readers, submissions)
    assert [one.case for one in found.cases] == ["case0", "case2"]
    assert "input" not in found.failed["case1"]


def test_a_submission_on_another_grid_is_empty_there_and_takes_no_case_from_the_others():
    readers, submissions = study(3)
    alone = ic.score_study(readers, {"wide": submissions["wide"]})
    submissions["fair"]["case1"] = image(np.zeros((2, 2, 2), np.uint8))
    with pytest.warns(ic.ConsensusWarning, match="fair cannot be compared .* 1 case .case1.*size"):
        found = ic.score_study(readers, submissions)
    assert not found.failed
    assert found.values("fair", 1, "dice")[1] == 0
    assert found.values("wide", 1, "dice") == pytest.approx(alone.values("wide", 1, "dice"))
    assert list(json.loads(found.to_json())["refused"]) == ["case1"]


def test_submissions_that_fit_nowhere_are_an_error():
    readers, submissions = study(2)
    small = dict.fromkeys(readers, image(np.zeros((2, 2, 2), np.uint8)))
    with pytest.raises(InputError, match=r"no case could be scored: case case0: .*same space"):
        ic.score_study(readers, {"net": small})
    with pytest.warns(ic.ConsensusWarning, match="net cannot be compared .* 2 cases"):
        ic.score_study(readers, {"net": small, "fair": submissions["fair"]})


def times(one, number):
    made = sitk.Cast(one, sitk.sitkUInt8) * number
    made.CopyInformation(one)
    return made


def test_a_label_of_one_readers_one_file_enters_no_mean():
    readers, submissions = study(4)
    readers["case2"]["bob"] = times(readers["case2"]["bob"], 255)
    with pytest.warns(ic.ConsensusWarning) as said:
        found = ic.score_study(readers, submissions)
    assert found.structures == {1: "label 1"}
    texts = [str(one.message) for one in said]
    assert any(one.startswith("label 255 is not scored") and "only bob in 1 case (case2)" in one
               for one in texts)  # fmt: skip
    assert any(one.startswith("case case2: bob says label 255 where the others say label 1")
               for one in texts)  # fmt: skip
    # If its name is given, the structure is scored, and the mean is labelled as covering all
    # structures.
    with pytest.warns(ic.ConsensusWarning):
        asked = ic.score_study(readers, submissions, structures={1: "organ", 255: "other"})
    assert list(asked.parts.values()) == ["organ", "other", "all structures"]


def test_a_structure_that_two_readers_share_in_one_case_is_scored():
    readers, submissions = study(3)
    for name in ("ann", "eve"):
        readers["case2"][name] = times(readers["case2"][name], 7)
    with pytest.warns(ic.ConsensusWarning):
        found = ic.score_study(readers, submissions)
    assert list(found.structures) == [1, 7]


def test_a_submission_with_another_label_number_is_told():
    readers, submissions = study(2)
    submissions["wide"] = {case: times(one, 255) for case, one in submissions["wide"].items()}
    with pytest.warns(
        ic.ConsensusWarning, match=r"wide has label 255 in 2 cases \(case0 and case1\)"
    ):
        found = ic.score_study(readers, submissions)
    assert found.values("wide", 1, "dice").tolist() == [0, 0]


def test_readers_whose_files_are_wrong_are_named():
    readers, submissions = study(3)
    readers["case1"]["eve"] = times(readers["case1"]["eve"], 0)
    with pytest.warns(ic.ConsensusWarning) as said:
        found = ic.score_study(readers, submissions)
    (row,) = found.findings()
    assert (row["case"], row["reader"], row["rule"]) == ("case1", "eve", "empty mask")
    assert [str(one.message) for one in said] == list(found.notes)
    assert found.notes[0].startswith("case case1: eve drew nothing")
    assert found.notes[1].startswith("readers' files that may be wrong: 1, in 1 of 3 cases.")


def test_the_distance_to_the_ceiling_is_paired_by_case():
    readers, submissions = study(8)
    found = ic.score_study(readers, submissions)
    apart = found.distance_to_ceiling("fair", 1, "dice")
    differences = found.values("fair", 1, "dice") - found.ceiling(1, "dice")
    assert apart.value == pytest.approx(differences.mean())
    assert differences.min() < apart.low < apart.value < apart.high < differences.max()


def test_names_that_do_not_meet_are_an_error():
    readers, submissions = study(1)
    with pytest.raises(InputError, match="readers have 'case0', the submission 'case_0'"):
        ic.score_study(readers, {"net": {"case_0": submissions["fair"]["case0"]}})
    with pytest.raises(ParameterError, match="qubiq"):
        ic.score_study(readers, submissions, rules=["qubic"])


def test_tables_can_be_pasted():
    readers, submissions = study(4)
    submissions["a_b & c"] = submissions.pop("wide")
    found = ic.score_study(readers, submissions)
    markdown = found.to_markdown().splitlines()
    assert markdown[0].startswith("|  | Dice to the readers |")
    assert [line.split("|")[1].strip() for line in markdown[2:]] == ["fair", "a_b & c", READERS]
    latex = found.to_latex()
    assert r"a\_b \& c &" in latex
    assert latex.count(r"\\") == 4


def test_units_are_voxels_of_arrays_and_files_may_be_given(tmp_path):
    readers, submissions = study(1)
    arrays = {"case0": [sitk.GetArrayFromImage(one) for one in readers["case0"].values()]}
    wide = sitk.GetArrayFromImage(submissions["wide"]["case0"])
    found = ic.score_study(arrays, {"wide": {"case0": wide}})
    assert "volume_error_voxels" in found.of_cases()[0]
    sitk.WriteImage(submissions["wide"]["case0"], tmp_path / "wide.nii.gz")
    found = ic.score_study(readers, {"wide": {"case0": tmp_path / "wide.nii.gz"}})
    assert "volume_error_ml" in found.of_cases()[0]
