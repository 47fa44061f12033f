from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import pytest
from cohort_lists import QUICK, image_list, label_lists, truth_list

from itk_consensus.core.errors import ConsensusWarning
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import Cohort, easy_cohort

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture
def evidence():
    """Return the example module that measures the requirements of the network."""
    return importlib.import_module("examples.benchmarks.deep.deep_evidence")


@pytest.fixture(scope="session")
def cohort() -> Cohort:
    """Return ten small cases that can be trained on in a second or two."""
    return easy_cohort(10, 0, shape=(24, 28))


@pytest.fixture(scope="session")
def fitted(cohort: Cohort) -> DeepConsensusFilter:
    """Return a filter trained with references, but only briefly."""
    filter_ = DeepConsensusFilter(**QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsensusWarning)
        filter_.Fit(image_list(cohort), label_lists(cohort), truth_list(cohort))
    return filter_


@pytest.fixture
def trained(fitted: DeepConsensusFilter, tmp_path: Path) -> DeepConsensusFilter:
    """Return a separate copy of the filter trained in `fitted`."""
    fitted.Save(tmp_path / "trained.model")
    filter_ = DeepConsensusFilter.Load(tmp_path / "trained.model")
    filter_.SetNumberOfThreads(1)
    filter_.SetWithoutGain("network")
    return filter_
