"""Every diagnostic rule fires on a case constructed for it, and not on a sound case."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import SimpleITK as sitk
from scipy import ndimage

import itk_consensus
from examples.simulation import (
    STRUCTURE_SETTINGS,
    disc_phantom,
    ellipsoid_phantom,
    heterogeneous_raters,
    paper_raters,
    twelve_settings,
)
from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.assessment.judged_fusion import JudgedFusion
from itk_consensus.assessment.of_models import (
    equivalent_threshold,
    regularisation_target,
    with_more_background,
)
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.fusing.estimates import AnswerFacts
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice


def diagnose(raters, **parameters):
    staple = itk_consensus.STAPLEImageFilter(**parameters)
    staple.Execute([np.asarray(rater, np.uint8) for rater in raters])
    return staple.GetDiagnostics()


@pytest.fixture
def sound():
    truth = ellipsoid_phantom((64, 64), (22, 18)).truth
    return heterogeneous_raters(truth, 1, [(0.9, 0.95), (0.85, 0.93), (0.8, 0.97), (0.92, 0.9)] * 2)


def test_nothing_speaks_against_a_sound_case(sound):
    found = diagnose(sound, Variant="advanced").fusion
    assert found.concerns == ()
    assert Verdict.of(found).word == "use"


def test_two_raters_are_too_few(sound):
    assert diagnose(sound[:2])["few raters"].severity == "note"
    assert diagnose(sound)["few raters"].severity is None


def test_a_small_structure_is_reported_with_its_share():
    truth = disc_phantom(5).truth
    finding = diagnose(paper_raters(truth, 5, 0), Variant="advanced")["prevalence"]
    assert finding.severity == "note"
    assert 0 < finding.value < 0.1


def test_a_mirrored_rater_is_named(sound):
    finding = diagnose([*sound, 1 - sound[0]], Variant="advanced")["rater under one half"]
    assert finding.severity == "note"
    assert finding.who == (8,)
    assert "reader 8" in finding.what


def test_an_infallible_rater_is_implausible():
    outer = np.zeros((20, 20), np.uint8)
    outer[4:16, 4:16] = 1
    inner = np.zeros_like(outer)
    inner[6:14, 6:14] = 1
    assert diagnose([outer, outer, inner])["implausible performance"].severity == "note"


def test_raters_who_share_errors_are_found(sound):
    """A ninth rater copies the third at most voxels, and labels the others independently."""
    asked = np.random.default_rng(0).random(sound[0].shape) < 0.7
    follower = np.where(asked, sound[2], sound[3])
    finding = diagnose([*sound, follower], Variant="advanced")["correlated raters"]
    assert finding.severity == "note"
    assert finding.who == (2, 8)
    assert finding.what.startswith("Readers 2 and 8 ")
    assert diagnose(sound, Variant="advanced")["correlated raters"].value < 0.1


def test_copies_are_no_correlated_raters_and_make_none(sound):
    """Previously, copies made each other appear infallible, and made two independent raters appear
    similar.
    """
    for copies in ([sound[2]], [sound[0], sound[0]]):
        found = diagnose([*sound[:5], *copies], Variant="advanced")
        assert found["near-identical raters"].severity == "note"
        finding = found["correlated raters"]
        assert finding.severity is None
        assert finding.value < 0.1


def test_an_answer_no_rater_supports_is_found(sound):
    # With a prior near one, voxels that no rater marked become foreground.
    finding = diagnose(sound[:3], Prior=0.999999999)["beyond the raters"]
    assert finding.concern
    assert finding.value > 0


def test_volume_against_vote_is_the_ratio_of_voxels(sound):
    staple = itk_consensus.STAPLEImageFilter()
    staple.Execute(list(sound.astype(np.uint8)))
    vote = itk_consensus.MajorityVote(list(sound.astype(np.uint8)), tieRule="background")
    ratio = (staple.GetLabelImage() != 0).sum() / (vote != 0).sum()
    assert staple.GetDiagnostics()["volume against vote"].value == pytest.approx(ratio)


def test_start_disagreement_needs_several_starts(sound):
    assert diagnose(sound)["start disagreement"].value is None
    assert diagnose(sound, NumberOfInitializations=5)["start disagreement"].value is not None


def test_mirrored_starts_are_counted(sound):
    finding = diagnose(
        sound, Variant="advanced", NumberOfInitializations=20, InitializationRange=(0, 1)
    )["label switching"]
    assert 0 < finding.value < 1


@pytest.mark.parametrize("level", [1, 2, 4])
def test_a_thresholded_vote_is_recognised_with_its_level(sound, level):
    stack = list(sound[:5].astype(np.uint8))
    patterns = DecisionPatterns.from_stack(LabelStack.binary(stack, 1))
    found = equivalent_threshold(patterns, patterns.votes()[:, 1] >= level)
    assert found.dice == 1
    assert found.threshold == pytest.approx((level - 0.5) / 5)


def test_slope_and_offset_follow_the_papers_formula(sound):
    stack = list(sound[:3].astype(np.uint8))
    patterns = DecisionPatterns.from_stack(LabelStack.binary(stack, 1))
    truth = patterns.votes()[:, 1] >= 2
    found = equivalent_threshold(patterns, truth)
    t = patterns.expand(truth.astype(np.uint8)).astype(bool)
    c = np.empty((3, 2, 2))
    for j, mask in enumerate(stack):
        for d in (0, 1):
            for k in (0, 1):
                n = ((mask == d) & (t == k)).sum()
                c[j, d, k] = np.log((n + 1) / ((t == k).sum() + 2))
    m = c.mean(axis=0)
    prior = np.log(t.sum() + 1) - np.log((~t).sum() + 1)
    assert found.slope == pytest.approx(3 * (m[0, 0] + m[1, 1] - m[1, 0] - m[0, 1]))
    assert found.offset == pytest.approx(3 * (m[0, 1] - m[0, 0]) + prior)


def padded_to_ten_times_the_background(raters):
    """Return the raters on a canvas with exactly ten times as much agreed background."""
    flat = raters.reshape(len(raters), -1)
    background = int((flat == 0).all(axis=0).sum())
    return np.pad(flat, ((0, 0), (0, 9 * background)))[:, None, :]


def area(raters, **parameters):
    staple = itk_consensus.STAPLEImageFilter(**parameters)
    staple.Execute(list(raters))
    return int((staple.GetLabelImage() != 0).sum())


def expert_sets(shared_data):
    files = sorted((shared_data / "bubil").glob("d[23]_*_experts.nrrd"))
    assert len(files) > 10
    for file in files:
        pixels = sitk.GetArrayFromImage(sitk.ReadImage(str(file)))
        yield np.ascontiguousarray(np.moveaxis(pixels, -1, 0))


def test_predicted_background_change_equals_padding_on_real_experts(shared_data):
    changes = []
    for raters in expert_sets(shared_data):
        before = area(raters)
        after = area(padded_to_ten_times_the_background(raters))
        finding = diagnose(raters)["background size"]
        assert finding.value == pytest.approx((after - before) / before, abs=1e-12)
        changes.append(finding.value)
    assert np.any(np.abs(changes) > 0)


def test_restricted_and_masked_runs_do_not_change_with_padding_on_real_experts(shared_data):
    for raters in expert_sets(shared_data):
        padded = padded_to_ten_times_the_background(raters)
        flat = raters.reshape(len(raters), 1, -1)
        assert area(padded, Variant="restricted") == area(flat, Variant="restricted")
        assert diagnose(raters, Variant="restricted")["background size"].value == 0
        mask = np.ones(flat.shape[1:], np.uint8)
        wide = np.pad(mask, ((0, 0), (0, padded.shape[-1] - flat.shape[-1])))
        assert area(padded, MaskImage=wide) == area(flat, MaskImage=mask)


def test_more_background_is_the_padded_table(sound):
    stack = sound.astype(np.uint8)
    patterns = DecisionPatterns.from_stack(LabelStack.binary(list(stack), 1))
    padded = padded_to_ten_times_the_background(stack)
    expected = DecisionPatterns.from_stack(LabelStack.binary(list(padded), 1))
    larger = with_more_background(patterns, 10)
    np.testing.assert_array_equal(larger.patterns, expected.patterns)
    np.testing.assert_array_equal(larger.counts, expected.counts)


def far_off():
    """Return five raters of vessels, nearly all of whose marks STAPLE Basic accepts."""
    case = STRUCTURE_SETTINGS["vessels 3D r1"](0)
    return case.raters


def test_diagnostics_print_the_gravest_first_and_serialise():
    found = diagnose(far_off())
    assert found.severity in ("look", "do not use")
    lines = [line for line in str(found).splitlines() if not line.startswith(" ")]
    order = ("note", "look", "do not use")
    grades = [order.index(line.split(":")[0]) for line in lines]
    assert grades == sorted(grades, reverse=True)
    written = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert written["concerns"] == len(found.concerns)
    assert written["severity"] == found.severity
    assert {row["rule"] for row in written["findings"]} == {f.rule for f in found.findings}


def test_every_concern_says_what_to_do(sound):
    for parameters in ({}, {"Prior": 0.999999999}, {"NumberOfInitializations": 8}):
        for raters in (sound[:2], far_off()):
            for finding in diagnose(raters, **parameters).concerns:
                assert finding.do


def test_dice_to_what_raters_share_is_measured_on_label_maps():
    raters = far_off()
    staple = itk_consensus.STAPLEImageFilter()
    staple.Execute([rater.astype(np.uint8) for rater in raters])
    shared = itk_consensus.Consensus([rater.astype(np.uint8) for rater in raters])
    finding = staple.GetDiagnostics()["far from the consensus"]
    assert finding.value == pytest.approx(dice(staple.GetLabelImage(), shared))
    assert finding.concern


def test_advice_names_a_setting_only_where_it_was_tried_and_helps():
    named = 0
    for name in ("jitter r5", "vessels 3D r1", "organ 3D", "one good r10"):
        if name in STRUCTURE_SETTINGS:
            raters = STRUCTURE_SETTINGS[name](0).raters
        else:
            (setting,) = [s for s in twelve_settings(range(1)) if s.name == name]
            ((_, raters),) = setting.cases
        images = [rater.astype(np.uint8) for rater in raters]
        finding = diagnose(raters)["far from the consensus"]
        shared = itk_consensus.Consensus(images)
        advanced = itk_consensus.STAPLEImageFilter(Variant="advanced")
        advanced.Execute(images)
        closer = dice(advanced.GetLabelImage(), shared) > finding.value + 0.01
        assert ("Variant=advanced" in finding.do) == (finding.concern and closer)
        named += "Variant=advanced" in finding.do
        assert "Variant=advanced" not in str(advanced.GetDiagnostics())
    assert named


@pytest.mark.parametrize("number", [3, 5, 8])
def test_a_copy_is_found_among_any_number_of_raters(sound, number):
    raters = [*sound[: number - 1], sound[0]]
    for fuser in (itk_consensus.STAPLEImageFilter(), itk_consensus.MajorityVoteFilter()):
        fuser.Execute([np.asarray(rater, np.uint8) for rater in raters])
        finding = fuser.GetDiagnostics()["near-identical raters"]
        assert finding.severity == "note"
        assert finding.who == (0, number - 1)
    consensus = itk_consensus.ConsensusFilter()
    consensus.Execute([np.asarray(rater, np.uint8) for rater in raters])
    assert consensus.GetDiagnostics()["near-identical raters"].severity == "note"


def test_a_rater_who_never_met_another_is_no_copy(sound):
    images = [np.asarray(rater, np.uint8) for rater in sound[:4]]
    staple = itk_consensus.STAPLEImageFilter()
    staple.Execute([images[0], None, *images[1:]])
    assert staple.GetDiagnostics()["near-identical raters"].value == 0


def noted_rater(raters):
    fuser = itk_consensus.MajorityVoteFilter()
    fuser.Execute([None if rater is None else np.asarray(rater, np.uint8) for rater in raters])
    return fuser.GetDiagnostics()["deviating rater"]


@pytest.mark.parametrize("number", [3, 5, 8])
def test_a_rater_who_drew_something_else_is_noted_with_numbers(number):
    radii = [(22 + k % 3, 18 - k % 2) for k in range(number)]
    raters = [ellipsoid_phantom((64, 64), radius).truth for radius in radii]
    assert noted_rater(raters).severity is None
    raters[1] = ndimage.binary_dilation(raters[1], iterations=8)
    finding = noted_rater(raters)
    assert finding.severity == "note"
    assert finding.who == (1,)
    dices = [dice(raters[1], other) for k, other in enumerate(raters) if k != 1]
    assert finding.value == pytest.approx(np.mean(dices))
    assert f"mean Dice {np.mean(dices):.2f} to them" in finding.what


def test_among_two_nobody_deviates_and_who_met_nobody_is_left_out(sound):
    assert noted_rater([sound[0], ~sound[1].astype(bool)]).value is None
    three = [*sound[:2], None, ndimage.binary_dilation(sound[2], iterations=8)]
    assert noted_rater(three).who == (3,)


def test_another_label_at_the_same_place_deviates_too(sound):
    stack = [np.asarray(rater, np.uint8) for rater in sound[:4]]
    stack[2] = 2 * stack[2]
    finding = noted_rater(stack)
    assert finding.severity == "note"
    assert finding.value == 0


def test_a_rater_with_gaps_is_compared_where_others_annotated_too():
    disc = ellipsoid_phantom((64, 64), (22, 18)).truth.astype(np.uint8)
    seen = np.zeros_like(disc)
    seen[:32] = 1
    fuser = itk_consensus.MajorityVoteFilter(RaterMasks=[None, None, seen])
    fuser.Execute([disc, disc, ndimage.binary_dilation(disc, iterations=8).astype(np.uint8)])
    finding = fuser.GetDiagnostics()["deviating rater"]
    assert finding.who == (2,)
    grown = ndimage.binary_dilation(disc, iterations=8)[:32].sum() / disc[:32].sum()
    assert f"{grown:.2f} times their volume" in finding.what


def test_beside_raters_who_marked_nothing_no_volume_is_told(sound):
    empty = np.zeros_like(sound[0])
    message = noted_rater([empty, empty, sound[0]]).what
    assert message == (
        "Reader 2 is far from the others: mean Dice 0.00 to them, who have 1.00 among themselves."
    )


def test_identical_raters_do_not_deviate(sound):
    assert noted_rater([sound[0]] * 4).severity is None
    assert noted_rater([sound[0]] * 3 + [sound[1]]).who == (3,)


def test_voting_filters_and_many_labels_have_diagnostics_too(sound):
    stack = list(sound.astype(np.uint8))
    for fuser in (
        itk_consensus.LabelVotingImageFilter(),
        itk_consensus.MajorityVoteFilter(SmoothingSigma=1.0),
        itk_consensus.MultiLabelSTAPLEImageFilter(NumberOfInitializations=4),
    ):
        fuser.Execute(stack)
        assert fuser.GetDiagnostics()["few raters"].value == len(stack)


def test_diagnostics_of_a_smoothed_vote_describe_the_smoothed_map(sound):
    fuser = itk_consensus.MajorityVoteFilter(SmoothingSigma=2.0, TieRule="background")
    fused = fuser.Execute(list(sound[:4].astype(np.uint8)))
    found = fuser.GetDiagnostics()
    assert found["prevalence"].value == pytest.approx((fused != 0).mean())
    assert found["undecided"].value == 0
    plain = itk_consensus.MajorityVote(list(sound[:4].astype(np.uint8)), tieRule="background")
    assert found["volume against vote"].value == pytest.approx((fused != 0).sum() / plain.sum())


# -- recommendations of the paper
# ------------------------------------------------------------------


def in_every_em_filter(raters) -> dict[str, object]:
    """Yield the assessment of each filter that estimates rater performance by EM or in the same
    model.
    """
    images = [np.asarray(rater, np.uint8) for rater in raters]
    filters = {
        "STAPLE": itk_consensus.STAPLEImageFilter(Variant="advanced"),
        "MultiLabelSTAPLE": itk_consensus.MultiLabelSTAPLEImageFilter(Variant="advanced"),
        "COLLATE": itk_consensus.COLLATEFilter(),
        "SpatialSTAPLE": itk_consensus.SpatialSTAPLEFilter(),
        "DirectInference": itk_consensus.DirectInferenceFilter(),
    }
    for one in filters.values():
        one.Execute(images)
    cohort = itk_consensus.CohortSTAPLEFilter(Variant="advanced")
    cohort.Execute([images, images])
    found = {name: assess(one.GetResult()) for name, one in filters.items()}
    return {**found, "CohortSTAPLE": assess(cohort.GetResult().cases[1])}


def test_a_rater_below_chance_is_a_caution_in_every_em_filter(sound):
    for name, assessment in in_every_em_filter([*sound[:5], 1 - sound[6]]).items():
        finding = assessment.findings(False).fusion["rater below chance"]
        assert finding.severity == "look", name
        assert finding.who == (5,), name
        assert finding.value < 0, name
        assert "reader 5" in finding.what, name
        assert assessment.verdict(False).word != "use", name


def test_no_rater_is_below_chance_in_a_sound_case(sound):
    for name, assessment in in_every_em_filter(sound).items():
        found = assessment.findings(False)
        assert found["rater below chance"].severity is None, name
        assert found["rater under one half"].severity is None, name
        assert found["prevalence"].severity is None, name


def test_a_held_prior_asks_to_look_at_small_structures():
    small = paper_raters(disc_phantom(5).truth, 5, 0)
    assert diagnose(small)["prevalence"].severity == "look"
    assert diagnose(small, Variant="careful")["prevalence"].severity == "note"
    images = [np.asarray(rater, np.uint8) for rater in small]
    answers = []
    for variant in ("basic", "advanced"):
        staple = itk_consensus.STAPLEImageFilter(Variant=variant)
        staple.Execute(images)
        answers.append(staple.GetLabelImage() == 1)
    assert diagnose(small)["prevalence"].facts["dice"] == pytest.approx(dice(*answers))
    # If the prior has no effect, nothing is reported.
    sure = disc_phantom(10).truth
    alike = [sure, np.roll(sure, 1, 0), np.roll(sure, 1, 1), sure]
    assert diagnose(alike)["prevalence"].severity == "note"
    large = paper_raters(disc_phantom(32).truth, 5, 0)
    assert diagnose(large)["prevalence"].severity is None


def test_one_start_is_said_and_the_careful_variant_runs_ten(sound):
    assert diagnose(sound)["start disagreement"].severity == "note"
    staple = itk_consensus.STAPLEImageFilter(Variant="careful")
    staple.Execute(list(sound.astype(np.uint8)))
    assert len(staple.GetLogLikelihoods()) == 10
    assert staple.GetEstimatePrior()
    assert not staple.GetExcludeConsensusVoxels()
    assert staple.GetDiagnostics()["start disagreement"].severity is None
    staple.SetNumberOfInitializations(3)
    assert staple.GetNumberOfInitializations() == 3


def test_probabilities_without_doubt_name_the_filter_that_calibrates_them(sound):
    finding = diagnose(sound, Variant="advanced")["overconfidence"]
    assert finding.severity == "note"
    assert "TemperatureScalingFilter" in finding.do
    staple = itk_consensus.STAPLEImageFilter(Variant="advanced")
    staple.Execute(list(sound.astype(np.uint8)))
    disputed = (sound.any(axis=0)) & ~sound.all(axis=0)
    certain = np.abs(staple.GetProbabilityImage() - 0.5) > 0.49
    assert finding.value == pytest.approx(certain[disputed].mean())


def brute_line(raters, truth, alpha, of_prior) -> tuple[float, float]:
    """Return slope and offset of eqs. 28 and 29, computed voxel by voxel."""
    number = len(raters)
    mean = np.zeros((2, 2))
    for mask in raters:
        for t in (0, 1):
            counts = [alpha[0][t] + 1, alpha[1][t] + 1]
            for said, true in zip(mask.ravel(), truth.ravel(), strict=True):
                counts[int(said)] += int(true) == t
            for d in (0, 1):
                mean[d, t] += np.log(counts[d] / sum(counts)) / number
    sizes = [np.count_nonzero(truth == t) + of_prior[t] + 1 for t in (0, 1)]
    slope = number * (mean[0, 0] + mean[1, 1] - mean[1, 0] - mean[0, 1])
    offset = number * (mean[0, 1] - mean[0, 0]) + np.log(sizes[1] / sizes[0])
    return slope, offset


@pytest.mark.parametrize(
    ("parameters", "alpha", "of_prior"),
    [
        ({}, ((0, 0), (0, 0)), (0, 0)),
        ({"Variant": "advanced", "PriorPseudoCounts": (0, 50)}, ((2, 0), (0, 2)), (0, 50)),
        (
            {"SensitivityPrior": (20, 5), "SpecificityPrior": (30, 2)},
            ((29, 4), (1, 19)),
            (0, 0),
        ),
    ],
)
def test_the_threshold_sentence_is_what_brute_force_finds(sound, parameters, alpha, of_prior):
    raters = sound[:5].astype(np.uint8)
    staple = itk_consensus.STAPLEImageFilter(**parameters)
    staple.Execute(list(raters))
    fused = staple.GetLabelImage()
    slope, offset = brute_line(raters, fused, alpha, of_prior)
    implied = -offset / slope
    votes = raters.mean(axis=0)
    overlap = dice(votes >= implied, fused == 1)
    best = max(np.arange(5) / 5 + 0.1, key=lambda level: dice(votes >= level, fused == 1))
    finding = staple.GetDiagnostics()["thresholding"]
    assert finding.facts["implied"] == pytest.approx(implied)
    assert finding.facts["dice_implied"] == pytest.approx(overlap)
    assert finding.facts["threshold"] == pytest.approx(best)
    said = "is" if overlap >= 0.95 else "is not"
    assert finding.what.startswith(f"This result {said} the vote at ")
    assert f"{implied:.2f}" in finding.what
    assert f"(Dice {overlap:.2f}" in finding.what


def test_a_global_performance_that_is_no_target_is_said():
    facts = AnswerFacts(theta=np.full((2, 2, 2), 0.5), replaced_target=True)
    patterns = DecisionPatterns.from_stack(LabelStack.binary([np.eye(4, dtype=np.uint8)] * 2, 1))
    judged = JudgedFusion(
        patterns, np.zeros(len(patterns.counts), int), lambda: None, answer_facts=facts
    )
    assert regularisation_target(judged).severity == "look"
    assert regularisation_target(replace(judged, answer_facts=AnswerFacts())).severity is None


def test_causes_of_thousands_of_labels_are_told_in_one_pass() -> None:
    """The run time was cubic in the number of labels, so parcellations with thousands never
    finished.
    """
    causes = [Finding("empty", 0.0, "look", (0,), label) for label in range(4000)]
    effects = [
        Finding("pairwise Dice", 0.1, "look", who, label, because="empty", kind="poor")
        for label in range(4000)
        for who in ((0,), ())
    ]
    found = Diagnostics((*causes, *effects))
    own = [one for one in effects if one.who == (0,)]
    assert found.consequences(causes[0]) == tuple(effects)
    assert found.consequences(causes[1]) == tuple(own)


def test_names_of_labels_are_shared_by_findings() -> None:
    names = {label: f"region {label}" for label in range(100)}
    found = Diagnostics(tuple(Finding("empty", 0.0, "look", (0,), n) for n in names))
    assert all(one.label_names is names for one in found.named((), names).findings)


def test_findings_are_iterated_in_the_order_of_the_checks() -> None:
    masks = [np.eye(8, dtype=np.uint8), np.eye(8, dtype=np.uint8)]
    found = diagnose(masks)
    assert [one.rule for one in found] == [one.rule for one in found.findings]
    assert all(isinstance(one, Finding) for one in found)
    assert list(found.raters) + list(found.fusion) != []
