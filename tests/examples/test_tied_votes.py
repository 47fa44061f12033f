"""MultiLabelSTAPLE with tied votes equals ITK 5.4 on request, and the corrected ITK by default."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def tied_votes() -> Any:
    return importlib.import_module("examples.benchmarks.methods.tied_votes")


def test_with_the_fault_300_stacks_with_ties_are_simpleitks(tied_votes: Any) -> None:
    found = tied_votes.differing(tied_votes.tied_stacks(), Initialization=tied_votes.FAULT)
    assert found == {"label maps": 0, "matrices": 0}


def fixed_algorithm(votes: np.ndarray, labels: int, iterations: int) -> tuple[Any, Any]:
    """Run the algorithm of ITK's main branch voxel by voxel on (raters, voxels) votes."""
    said = np.stack([votes == label for label in range(labels)], axis=1).astype(float)  # (J, K, N)
    counts = said.sum(axis=0)
    wins = (counts == counts.max(axis=0)).astype(float)
    wins[:, wins.sum(axis=0) > 1] = 0  # the fix: ties are not counted
    seed = np.einsum("jdn,tn->jdt", said, wins)
    rows = seed.sum(axis=2, keepdims=True)
    theta = np.divide(seed, rows, out=np.zeros_like(seed), where=rows > 0)
    prior = counts.sum(axis=1) / counts.sum()

    def expected() -> np.ndarray:
        joint = prior[:, None] * np.einsum("jdn,jdt->jtn", said, theta).prod(axis=0)
        total = joint.sum(axis=0)
        return np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)

    for _ in range(iterations):
        counted = np.einsum("jdn,tn->jdt", said, expected())
        columns = counted.sum(axis=1, keepdims=True)
        theta = np.divide(counted, columns, out=np.zeros_like(counted), where=columns > 0)
    return expected(), theta


def test_without_it_300_stacks_with_ties_are_the_fixed_algorithms(tied_votes: Any) -> None:
    for images in tied_votes.tied_stacks():
        stack = np.stack([sitk.GetArrayFromImage(image).ravel() for image in images])
        values, votes = np.unique(stack, return_inverse=True)
        filter_ = itk_consensus.MultiLabelSTAPLEImageFilter(
            MaximumNumberOfIterations=12, TerminationUpdateThreshold=0.0
        )
        filter_.Execute(images)
        truth, theta = fixed_algorithm(votes.reshape(stack.shape), len(values), 12)
        np.testing.assert_allclose(np.nan_to_num(filter_.GetConfusionTables()), theta, atol=1e-9)
        explained = truth.any(axis=0)  # at other voxels the posterior is undefined
        for label, expected in zip(values, truth, strict=True):
            ours = sitk.GetArrayFromImage(filter_.GetProbabilityImage(int(label))).ravel()
            np.testing.assert_allclose(ours[explained], expected[explained], atol=1e-9)


def test_the_fault_is_no_default_and_has_a_name_that_warns() -> None:
    filter_ = itk_consensus.MultiLabelSTAPLEImageFilter()
    assert filter_.GetInitialization() == "label_voting"
    for variant in ("basic", "restricted", "advanced"):
        filter_.SetVariant(variant)
        assert "fault" not in filter_.GetInitialization()
    with pytest.raises(
        itk_consensus.ParameterError, match="label_voting_with_the_fault_of_itk_5_4"
    ):
        filter_.SetInitialization("itk")


@pytest.mark.slow
def test_the_kept_figures_are_those_of_this_version(tied_votes: Any) -> None:
    kept = json.loads(tied_votes.RESULTS.read_text())
    assert kept.pop("run")["commit"]  # differs between runs
    assert kept == tied_votes.measured()
