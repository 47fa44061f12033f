"""Agreement measures against reference libraries and manual counts."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
import SimpleITK as sitk
import torch
from monai.metrics import (
    compute_average_surface_distance,
    compute_hausdorff_distance,
    compute_surface_dice,
)
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_kappa

import itk_consensus as ic
from itk_consensus.assessment.agreement.chance import Ratings, fleiss_kappa, krippendorff_alpha
from itk_consensus.assessment.agreement.study import AgreementSettings, study_agreement
from itk_consensus.assessment.agreement.surfaces import OneWay
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.pair_counts import PairCounts

NO_SURFACES = AgreementSettings(surfaces=False)


def random_stack(seed: int) -> tuple[np.ndarray, tuple[float, ...]]:
    """Return (J, ...) label maps with varying degrees of agreement, and an anisotropic spacing."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(3, 9, size=rng.integers(2, 4)))
    labels = int(rng.integers(2, 5))
    truth = rng.integers(0, labels, shape)
    raters = [
        np.where(rng.random(shape) < rng.uniform(0, 0.6), rng.integers(0, labels, shape), truth)
        for _ in range(rng.integers(2, 6))
    ]
    if seed % 10 == 0:
        raters[0] = np.zeros(shape, int)
    if seed % 10 == 1:
        raters[1] = raters[0]
    return np.array(raters, dtype=np.uint8), tuple(rng.uniform(0.4, 3.0, len(shape)))


def patterns_of(raters: np.ndarray, **options: object) -> DecisionPatterns:
    return DecisionPatterns.from_stack(LabelStack.multilabel(list(raters), **options))


def study(raters: np.ndarray, spacing: tuple[float, ...], settings: AgreementSettings):
    names = [f"r{j}" for j in range(len(raters))]
    return study_agreement(patterns_of(raters), spacing, names, settings)


@pytest.mark.parametrize("seed", range(200))
def test_overlap_equals_simpleitk_label_overlap_measures(seed: int) -> None:
    raters, spacing = random_stack(seed)
    result = study(raters, spacing, NO_SURFACES)
    images = [sitk.GetImageFromArray(r) for r in raters]
    measures = sitk.LabelOverlapMeasuresImageFilter()
    for i, j in combinations(range(len(raters)), 2):
        measures.Execute(images[i], images[j])
        for agreement in result.labels:
            present = [(r == agreement.label).any() for r in (raters[i], raters[j])]
            if not any(present):
                assert agreement.dice[i, j] == 1
                continue
            if not all(present):
                assert agreement.dice[i, j] == 0
                continue
            dice = measures.GetDiceCoefficient(agreement.label)
            jaccard = measures.GetJaccardCoefficient(agreement.label)
            assert agreement.dice[i, j] == pytest.approx(dice, abs=1e-12)
            assert agreement.jaccard[i, j] == pytest.approx(jaccard, abs=1e-12)


@pytest.mark.parametrize("seed", range(200))
def test_kappa_and_alpha_equal_statsmodels_and_krippendorff(seed: int) -> None:
    raters, spacing = random_stack(seed)
    result = study(raters, spacing, NO_SURFACES)
    flat = raters.reshape(len(raters), -1)
    table, _ = aggregate_raters(flat.T)
    assert result.kappa == pytest.approx(statsmodels_kappa(table), abs=1e-10)
    expected = krippendorff.alpha(flat.astype(float), level_of_measurement="nominal")
    assert result.alpha == pytest.approx(expected, abs=1e-10)
    for agreement in result.labels:
        marked = (flat == agreement.label).astype(float)
        for region in ("grid", "union"):
            chosen = marked if region == "grid" else marked[:, marked.any(axis=0)]
            if len(np.unique(chosen)) < 2:
                assert np.isnan(agreement.alpha[region])
                continue
            table = np.stack([len(raters) - chosen.sum(0), chosen.sum(0)], axis=1)
            kappa = statsmodels_kappa(table)
            alpha = krippendorff.alpha(chosen, level_of_measurement="nominal")
            assert agreement.kappa[region] == pytest.approx(kappa, abs=1e-10)
            assert agreement.alpha[region] == pytest.approx(alpha, abs=1e-10)


@pytest.mark.filterwarnings("ignore:.*always_return_as_numpy:FutureWarning")
@pytest.mark.parametrize("seed", range(200))
def test_surface_measures_equal_monai(seed: int) -> None:
    raters, spacing = random_stack(seed)
    tolerance = 1.3 * min(spacing)
    result = study(raters, spacing, AgreementSettings(tolerance=tolerance))
    agreement = result.labels[0]
    i, j = 0, len(raters) - 1
    masks = [raters[r] == agreement.label for r in (i, j)]
    if not all(mask.any() for mask in masks):
        expected = np.inf if any(mask.any() for mask in masks) else np.nan
        np.testing.assert_equal(agreement.hausdorff[i, j], expected)
        return
    first, second = (torch.from_numpy(mask[None, None].astype(np.float32)) for mask in masks)
    common = {"include_background": True, "spacing": list(spacing)}
    hausdorff = compute_hausdorff_distance(first, second, **common)
    hausdorff95 = compute_hausdorff_distance(first, second, percentile=95, **common)
    mean = compute_average_surface_distance(first, second, symmetric=True, **common)
    overlap = compute_surface_dice(first, second, [tolerance], **common)
    assert agreement.hausdorff[i, j] == pytest.approx(float(hausdorff), rel=1e-5)
    assert agreement.hausdorff95[i, j] == pytest.approx(float(hausdorff95), rel=1e-5)
    assert agreement.mean_distance[i, j] == pytest.approx(float(mean), rel=1e-5)
    assert agreement.surface_dice[i, j] == pytest.approx(float(overlap), rel=1e-5)


def test_alpha_with_missing_raters_equals_krippendorff() -> None:
    rng = np.random.default_rng(5)
    raters = rng.integers(0, 3, (4, 6, 7)).astype(np.int16)
    raters[rng.random(raters.shape) < 0.3] = 9
    patterns = patterns_of(raters, missing_label=9)
    values = np.where(raters == 9, np.nan, raters).reshape(4, -1)
    expected = krippendorff.alpha(values, level_of_measurement="nominal")
    assert krippendorff_alpha(Ratings.of(patterns)) == pytest.approx(expected, abs=1e-10)


def test_kappa_with_missing_raters_counts_the_pairs_there_are() -> None:
    raters = np.array([[1, 0, 1, 9], [1, 0, 0, 1], [9, 0, 1, 1]], dtype=np.uint8)[:, None]
    shares = np.array([[0, 1], [1, 0], [1 / 3, 2 / 3], [0, 1]])
    observed = np.mean([1, 1, 1 / 3, 1])
    expected = (shares.mean(axis=0) ** 2).sum()
    kappa = fleiss_kappa(Ratings.of(patterns_of(raters, missing_label=9)))
    assert kappa == pytest.approx((observed - expected) / (1 - expected), abs=1e-12)


def test_conformity_and_specific_agreement_are_sums_over_pairs() -> None:
    raters, spacing = random_stack(7)
    agreement = study(raters, spacing, NO_SURFACES).labels[0]
    masks = raters == agreement.label
    pairs = list(combinations(masks, 2))
    shared = sum(np.count_nonzero(a & b) for a, b in pairs)
    assert agreement.conformity == shared / sum(np.count_nonzero(a | b) for a, b in pairs)
    sizes = sum(np.count_nonzero(a) + np.count_nonzero(b) for a, b in pairs)
    assert agreement.specific_agreement == 2 * shared / sizes


def test_only_voxels_that_both_annotated_count() -> None:
    raters = np.array([[[1, 1, 1, 0]], [[1, 9, 9, 0]]], dtype=np.uint8)
    names = ["a", "b"]
    patterns = patterns_of(raters, missing_label=9)
    result = study_agreement(patterns, (1.0, 1.0), names, NO_SURFACES)
    assert result[1].dice[0, 1] == 1
    assert result[1].volumes.tolist() == [3, 1]


def test_volumes_are_millilitres_and_their_variation_has_n_minus_one() -> None:
    raters = np.zeros((3, 4, 5, 6), np.uint8)
    for j, size in enumerate((10, 20, 30)):
        raters[j].reshape(-1)[:size] = 1
    result = study(raters, (2.0, 2.5, 1.0), NO_SURFACES)
    np.testing.assert_allclose(result[1].volumes, np.array([10, 20, 30]) * 5 / 1000)
    assert result[1].volume_variation == pytest.approx(0.5)


def test_one_voxel_masks_have_the_distance_between_their_centres() -> None:
    raters = np.zeros((2, 5, 5, 5), np.uint8)
    raters[0, 1, 1, 1] = raters[1, 3, 1, 1] = 1
    agreement = study(raters, (1.5, 1.0, 1.0), AgreementSettings(tolerance=2.0))[1]
    assert agreement.hausdorff[0, 1] == agreement.hausdorff95[0, 1] == 3.0
    assert agreement.mean_distance[0, 1] == 3.0
    assert agreement.surface_dice[0, 1] == 0.0


def test_tables_hold_one_row_per_pair_and_label() -> None:
    raters, spacing = random_stack(3)
    result = study(raters, spacing, AgreementSettings())
    number = len(raters) * (len(raters) - 1) // 2 * len(result.labels)
    assert len(result.to_csv().splitlines()) == number + 1
    assert len(result.to_pandas()) == number
    assert len(result.to_dict()["pairs"]) == number
    first, *_ = lines = result.table().splitlines()
    assert first.split() == ["label", *(str(one.label) for one in result.labels)]
    assert len(lines) == len(result.summary()[0])


def test_agreement_beyond_chance_is_left_out_where_nobody_asks_for_it() -> None:
    raters, spacing = random_stack(3)
    whole = study(raters, spacing, NO_SURFACES)
    brief = study(raters, spacing, AgreementSettings(surfaces=False, chance=False))
    assert np.isnan([brief.kappa, brief.alpha]).all()
    assert all(one.kappa == one.alpha == {} for one in brief.labels)
    assert brief.pairs() == whole.pairs()
    assert brief.mean_dice() == whole.mean_dice()


@pytest.mark.parametrize("number", [1, 2, 10, 20, 21, 500])
def test_the_95th_percentile_of_distances_is_numpys(number: int) -> None:
    distances = np.random.default_rng(number).gamma(2.0, size=number)
    expected = np.percentile(distances, 95)
    assert OneWay.of(distances, 1.0).percentile95 == expected


def test_pairs_count_only_what_both_annotated() -> None:
    raters = [np.array([1, 1, 9, 0]), np.array([1, 2, 1, 9])]
    pairs = PairCounts.of(patterns_of(raters, missing_label=9))
    assert pairs.marked[1].tolist() == [[2, 2], [1, 2]]
    assert pairs.shared[1].tolist() == [[2, 1], [1, 2]]


def test_every_column_of_the_tables_is_in_the_glossary() -> None:
    glossary = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    raters = [np.pad(np.ones((4, 4), np.uint8), n) for n in (2, 2, 2)]
    found = ic.agreement(raters, raters[0], surfaces=True)
    columns = {*found.pairs()[0], *found.summary()[0], *found.of_raters()[0]}
    unexplained = {
        name
        for name in columns - {"label", "first", "second", "rater"}
        if f"`{re.sub('^mean_|_to_reference$', '', name).replace('_voxels', '_mm')}`"
        not in glossary
        and f"`{name}`" not in glossary
        and not name.endswith("volume_voxels")
    }
    assert not unexplained
