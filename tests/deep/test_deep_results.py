"""Results of DeepConsensusFilter are assessed, reported, shown and reviewed like other results."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from cohort_lists import image_list, label_lists

import itk_consensus as ic
from itk_consensus.assessment.assessment import assess
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.review.case import case_of_result
from itk_consensus.simulation.deep_phantoms import Cohort

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


@pytest.fixture
def executed(trained: DeepConsensusFilter, cohort: Cohort) -> DeepConsensusFilter:
    trained.Execute(image_list(cohort)[0], label_lists(cohort)[0])
    return trained


def test_its_result_has_findings_of_the_fusion_and_of_the_raters(executed):
    found = assess(executed.GetResult()).findings()
    rules = {one.rule for one in found.findings}
    assert {"presence", "pairwise Dice"} <= rules
    assert "gain" in {one.rule for one in executed.GetDiagnostics().findings}


def test_its_raters_are_compared_with_each_other_and_with_it(executed, cohort):
    agreement = assess(executed.GetResult()).agreement()
    assert len(agreement.raters) == len(label_lists(cohort)[0]) + 1
    assert agreement.reference is not None


def test_it_is_reported_on_a_page_and_shown_in_a_notebook(executed, tmp_path: Path):
    ic.report(executed, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "DeepConsensusFilter" in page or "deep-consensus" in page
    assert "<svg" in page or "data:image/png" in page
    assert "Dice" in ic.html_of(executed)


def test_its_disputes_are_where_a_rater_differs_from_it(executed):
    result = executed.GetResult()
    case = case_of_result(result)
    missing = case.rated[0].missing
    fused = result.decision(result.labels)
    maps = np.stack(result.rater_maps(missing))
    labels = np.array(result.labels)[fused]
    differs = ((maps != labels) & (maps != missing)).any(axis=0)
    marked = np.zeros(differs.shape, bool)
    for dispute in case.disputes:
        marked.reshape(-1)[dispute.places] = True
    np.testing.assert_array_equal(marked, differs)


def test_its_result_survives_a_pickle(executed):
    again = pickle.loads(pickle.dumps(executed.GetResult()))
    np.testing.assert_array_equal(again.label_image(), executed.GetResult().label_image())


def test_a_model_on_another_device_is_a_copy(executed, monkeypatch):
    torch = pytest.importorskip("torch")
    model = executed._trained_model()
    assert model.on(model.device) is model
    elsewhere = model.on(torch.device("meta"))
    assert elsewhere is model.on(torch.device("meta"))
    assert model.device == torch.device("cpu")
    assert elsewhere.device == torch.device("meta")
