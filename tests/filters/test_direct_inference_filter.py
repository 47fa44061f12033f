from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.core.process_object import ITERATION_EVENT
from itk_consensus.methods.direct_inference.direct_inference_filter import DirectInferenceFilter
from itk_consensus.methods.direct_inference.most_probable_map import direct_inference
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def stack_of(label_maps: list[np.ndarray]) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.multilabel(label_maps))


def test_the_image_holds_the_map_of_the_algorithm(label_maps):
    patterns = stack_of(label_maps)
    result = direct_inference(patterns)
    filter_ = DirectInferenceFilter()
    fused = filter_.Execute(label_maps)
    np.testing.assert_array_equal(fused, patterns.labels[patterns.expand(result.decision)])
    assert fused.dtype == np.uint8
    assert filter_.GetLabels() == (0, 1, 2, 4)
    assert filter_.GetLogEvidence() == result.log_evidence
    assert max(filter_.GetLogEvidences()) == result.log_evidence
    assert filter_.GetWinningStart() == result.start_names[result.starts.winner]
    assert len(filter_.GetStartNames()) == len(filter_.GetLogEvidences())


def test_any_foreground_value_will_do(masks):
    fused = itk_consensus.DirectInference(masks)
    tall = itk_consensus.DirectInference([mask.astype(np.int16) * 300 for mask in masks])
    np.testing.assert_array_equal(tall, fused.astype(np.int16) * 300)


def test_measurements_have_a_row_for_each_rater_and_a_column_for_each_label(label_maps):
    filter_ = DirectInferenceFilter()
    filter_.Execute([*label_maps, None])
    assert filter_.GetConfusionTables().shape == (6, 4, 4)
    np.testing.assert_allclose(filter_.GetConfusionTables()[:5].sum(axis=1), 1)
    assert np.isnan(filter_.GetConfusionTables()[5]).all()
    assert filter_.GetPerformanceDeviations().shape == (6, 4)
    quantiles = filter_.GetPerformanceQuantiles()
    assert quantiles.shape == (6, 4, 3)
    assert (np.diff(quantiles[:5], axis=2) > 0).all()
    assert sum(filter_.GetEstimatedPriorProbabilities()) == pytest.approx(1)
    assert np.isnan(filter_.GetSamplingError())


def test_the_most_careless_rater_is_known(label_maps):
    filter_ = DirectInferenceFilter()
    filter_.Execute(label_maps)
    recognised = np.einsum("jkk->jk", filter_.GetConfusionTables()).mean(axis=1)
    assert recognised.argmin() == 3


@pytest.mark.parametrize("samples", [0, 40])
def test_probabilities_of_all_labels_add_up_to_one(label_maps, samples: int):
    filter_ = DirectInferenceFilter(NumberOfSamples=samples, BurnIn=5)
    filter_.Execute(label_maps)
    total = sum(filter_.GetProbabilityImage(label) for label in filter_.GetLabels())
    np.testing.assert_allclose(total, 1)


def test_samples_change_probabilities_and_leave_the_label_map_alone(masks):
    one_map, sampled = DirectInferenceFilter(), DirectInferenceFilter(NumberOfSamples=200)
    one_map.Execute(masks)
    sampled.Execute(masks)
    np.testing.assert_array_equal(one_map.GetLabelImage(), sampled.GetLabelImage())
    assert not np.allclose(one_map.GetProbabilityImage(1), sampled.GetProbabilityImage(1))
    assert sampled.GetSamplingError() > 0


def test_samples_depend_on_the_random_seed_alone(masks):
    def probability(seed: int) -> np.ndarray:
        filter_ = DirectInferenceFilter(NumberOfSamples=20, RandomSeed=seed)
        filter_.Execute(masks)
        return filter_.GetProbabilityImage(1)

    np.testing.assert_array_equal(probability(5), probability(5))
    assert not np.array_equal(probability(5), probability(6))


def test_evidence_tells_a_fitting_prior_from_a_wrong_one(masks):
    fitting, at_chance = (DirectInferenceFilter(PseudoCounts=c) for c in [(20, 1), (900, 900)])
    fitting.Execute(masks)
    at_chance.Execute(masks)
    assert fitting.GetLogEvidence() > at_chance.GetLogEvidence() + 10


def test_a_prior_of_wrong_raters_gives_the_mirrored_map_and_says_so(masks):
    right, wrong = (DirectInferenceFilter(PseudoCounts=counts) for counts in [(20, 1), (1, 20)])
    fused = right.Execute(masks)
    with pytest.warns(ConsensusWarning, match="label-switched"):
        mirrored = wrong.Execute(masks)
    np.testing.assert_array_equal(mirrored, 1 - fused)
    assert wrong.GetLogEvidence() == pytest.approx(right.GetLogEvidence())


def test_one_rater_is_believed_with_a_warning(label_maps):
    with pytest.warns(ConsensusWarning, match="only one rater"):
        fused = DirectInferenceFilter().Execute([label_maps[0], None])
    np.testing.assert_array_equal(fused, label_maps[0])


def test_three_raters_have_few_enough_maps_to_try_them_all(masks):
    filter_ = DirectInferenceFilter()
    filter_.Execute(masks[:3])
    assert filter_.GetExactOptimum()
    filter_.Execute(masks)
    assert not filter_.GetExactOptimum()


def test_voxels_outside_the_mask_count_for_nothing(masks):
    mask = np.zeros_like(masks[0])
    mask[3:15, 4:19] = 1
    inside = (slice(3, 15), slice(4, 19))
    whole, cut = DirectInferenceFilter(MaskImage=mask), DirectInferenceFilter()
    fused = whole.Execute(masks)
    np.testing.assert_array_equal(fused[inside], cut.Execute([m[inside] for m in masks]))
    assert whole.GetLogEvidence() == cut.GetLogEvidence()
    assert not fused[mask == 0].any()


def test_aborting_returns_the_best_map_so_far(masks):
    filter_ = DirectInferenceFilter(NumberOfSamples=100_000)
    filter_.AddCommand(ITERATION_EVENT, filter_.Abort)
    fused = filter_.Execute(masks)
    assert set(np.unique(fused)) <= {0, 1}
    assert np.isnan(filter_.GetSamplingError())


def test_diagnostics_know_the_raters_and_the_starts(masks):
    filter_ = DirectInferenceFilter(NumberOfSamples=10)
    filter_.Execute(masks)
    rules = {finding.rule for finding in filter_.GetDiagnostics().findings}
    assert {"start disagreement", "background size", "rater under one half"} <= rules


def test_images_keep_their_space(masks):
    images = [sitk.GetImageFromArray(mask) for mask in masks]
    for image in images:
        image.SetSpacing((0.5, 2.0))
    fused = itk_consensus.DirectInference(images, numberOfInitializations=1)
    assert fused.GetSpacing() == (0.5, 2.0)
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(fused), DirectInferenceFilter().Execute(masks)
    )
