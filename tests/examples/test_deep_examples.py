"""Examples of DeepConsensusFilter on real data, and the paper's Table 5."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


@pytest.fixture
def example(request):
    module = importlib.import_module(f"examples.{request.param}")
    if hasattr(module, "DATA") and not module.DATA.is_dir():
        pytest.skip("the shared data is not beside the repository")
    return module


def using(name):
    return pytest.mark.parametrize("example", [name], indirect=True)


@using("paper.table5")
def test_rows_without_a_network_have_the_published_digits_and_a_threshold_solves_it(example):
    rows = example.compute()
    published = {name: rows[name] for name in example.PUBLISHED if name in rows}
    assert len(published) == 3
    assert published == {name: example.PUBLISHED[name] for name in published}
    assert rows["image > 0.35"].startswith("1.000")


@pytest.mark.slow
@using("paper.table5")
def test_the_papers_network_finds_the_threshold(example):
    pytest.importorskip("torch")
    row, reliabilities = example.deep(epochs=8)
    assert float(row.split()[0]) >= 0.995
    assert len(reliabilities) == 5


@using("benchmarks.deep.deep_bubil")
def test_the_crowds_vote_is_as_good_as_measured_before(example):
    rows = example.without_network(example.read_cases())
    assert np.mean(rows["vote"]) == pytest.approx(0.9250, abs=5e-5)
    assert np.mean(rows["best threshold"]) > np.mean(rows["vote, sigma 1"])


@pytest.mark.slow
@using("benchmarks.deep.deep_bubil")
def test_a_truth_free_model_of_other_images_loses_nothing_to_the_vote(example):
    pytest.importorskip("torch")
    cases = example.read_cases()
    brief = {"NumberOfIterations": 250, "NumberOfThreads": 1}
    ours = example.cross_fitted(cases, [0], example.NETWORKS["network"], **brief).filter_
    vote = example.without_network(cases[:: example.FOLDS])["vote"]
    assert np.mean(ours) > np.mean(vote) - 0.002


def kept_rows(title):
    """Return the stored Dice of each case by row name, and the seconds, for one data set."""
    kept = json.loads((BENCHMARKS / "deep" / "deep_real.json").read_text(encoding="utf-8"))
    (part,) = (part for name, part in kept.items() if name.startswith(title))
    return part["rows"]


def test_on_hippocampi_the_network_beats_the_vote_joint_fusion_and_the_image_alone():
    rows = kept_rows("Hippocampi")
    ours = np.mean(rows["network"]["dice"])
    assert len(rows["network"]["dice"]) == 6
    assert ours >= np.mean(rows["vote"]["dice"]) + 0.035
    assert ours >= np.mean(rows["JointLabelFusion"]["dice"])
    assert ours > np.mean(rows["network, image alone"]["dice"])
    assert rows["network"]["processor"] <= 30 * 60


@pytest.mark.parametrize("title", ["Crowds", "LIDC"])
def test_on_crowds_and_nodules_the_filter_loses_nothing_to_the_vote(title):
    rows = kept_rows(title)
    assert np.mean(rows["filter"]["dice"]) >= np.mean(rows["vote"]["dice"]) - 0.002


@using("benchmarks.deep.deep_lidc")
def test_a_left_out_nodule_is_fused_on_its_own_grid(example):
    pytest.importorskip("torch")
    nodules = example.read_nodules()
    name = next(iter(nodules))
    ct, masks = nodules[name]
    filter_ = example.leave_one_out(nodules, name, NumberOfIterations=3, NumberOfThreads=1)
    fused = filter_.Execute(ct, masks, [None] * len(masks))
    assert fused.GetSpacing() == ct.GetSpacing()
    assert fused.GetOrigin() == ct.GetOrigin()
    agreed = np.all([sitk.GetArrayFromImage(mask) == 1 for mask in masks], axis=0)
    assert (sitk.GetArrayFromImage(fused)[agreed] == 1).all()
