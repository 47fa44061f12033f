"""Cohorts that do not fit in memory, and monitored and resumed training."""

from __future__ import annotations

import logging
import tracemalloc

import numpy as np
import pytest
import SimpleITK as sitk
from cohort_lists import QUICK, abort_after, image_list, label_lists

pytest.importorskip("torch")

from itk_consensus.core.errors import FileError
from itk_consensus.deep.case_store import CaseStore, ChosenCases
from itk_consensus.deep.cases import Case
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter
from itk_consensus.simulation.deep_phantoms import easy_cohort

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


def write(cohort, folder):
    """Write the image and label files of every case."""
    images, labels = [], []
    for number, (image, drawn) in enumerate(
        zip(image_list(cohort), label_lists(cohort), strict=True)
    ):
        images.append(folder / f"{number}.nrrd")
        sitk.WriteImage(sitk.GetImageFromArray(image), images[-1])
        labels.append([str(folder / f"{number}_{rater}.nrrd") for rater in range(len(drawn))])
        for path, array in zip(labels[-1], drawn, strict=True):
            sitk.WriteImage(sitk.GetImageFromArray(array), path)
    return images, labels


def weights(filter_, path):
    filter_.Save(path)
    return path.read_bytes()


def case(value, side=8):
    labels = np.zeros((2, side, side), np.uint8)
    labels[0, 0, 0] = 1
    return Case(np.full((1, side, side), value, np.float32), labels, np.array([1, 2]))


def test_a_store_keeps_the_latest_cases_within_its_budget():
    made = []

    def maker(value):
        return lambda: made.append(value) or case(value)

    store = CaseStore([maker(value) for value in range(4)], 2 * case(0).nbytes)
    assert [int(store[i].image[0, 0, 0]) for i in (0, 1, 0, 2, 0, 1)] == [0, 1, 0, 2, 0, 1]
    assert made == [0, 1, 2, 1]
    assert [int(one.image[0, 0, 0]) for one in ChosenCases(store, [3, 1])[1:]] == [1]
    assert store[-1].image[0, 0, 0] == 3
    with pytest.raises(IndexError):
        store[4]
    alone = CaseStore([maker(0), maker(1)], 0)
    assert alone[0] is alone[0]


def test_files_give_the_weights_that_images_in_memory_give(cohort, tmp_path):
    images, labels = write(cohort, tmp_path)
    read = [sitk.ReadImage(path) for path in images]
    drawn = [[sitk.ReadImage(path) for path in case] for case in labels]
    found = []
    for given in ((read, drawn), (images, labels)):
        filter_ = DeepConsensusFilter(**QUICK, CacheSize=0)
        filter_.Fit(*given)
        found.append(weights(filter_, tmp_path / "model"))
    assert found[0] == found[1]


def test_forty_cases_from_files_need_no_more_memory_than_ten(tmp_path):
    images, labels = write(easy_cohort(10, 0, shape=(128, 128)), tmp_path)
    peaks = []
    for repeats in (1, 4):
        filter_ = DeepConsensusFilter(
            **{**QUICK, "NumberOfIterations": 3}, CacheSize=1, WindowSize=16, ValidationFraction=0
        )
        tracemalloc.start()
        filter_.Fit(images * repeats, labels * repeats)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 30 more cases have 4.4 MB of voxels.
    assert peaks[1] < peaks[0] + 0.3e6


def test_a_run_on_files_that_was_cut_short_resumes_to_the_same_weights(cohort, tmp_path):
    files = write(cohort, tmp_path)
    whole = DeepConsensusFilter(**QUICK)
    whole.Fit(*files)
    short = DeepConsensusFilter(**QUICK)
    abort_after(short, 7)
    short.Fit(*files, checkpoint=tmp_path / "state")
    again = DeepConsensusFilter(**QUICK)
    done = abort_after(again, 1000)
    again.Fit(*files, checkpoint=tmp_path / "state")
    assert len(done) < 12
    assert weights(again, tmp_path / "a") == weights(whole, tmp_path / "b")
    assert again.GetTrainingHistory() == whole.GetTrainingHistory()


def test_a_file_that_is_not_there_is_named(cohort, tmp_path):
    images, labels = write(cohort, tmp_path)
    images[3].unlink()
    with pytest.raises(FileError, match=r"3\.nrrd"):
        DeepConsensusFilter(**QUICK).Fit(images, labels)


def test_epochs_ask_for_more_iterations_but_never_for_fewer(cohort):
    lists = image_list(cohort), label_lists(cohort)
    for epochs, iterations in ((0, 2), (1, 3), (2.4, 6)):
        filter_ = DeepConsensusFilter(
            **{**QUICK, "NumberOfIterations": 2}, NumberOfEpochs=epochs, Patience=100
        )
        done = abort_after(filter_, 1000)
        filter_.Fit(*lists)
        assert len(done) == iterations


def test_progress_is_logged_and_the_history_can_be_asked_for(cohort, caplog):
    filter_ = DeepConsensusFilter(**QUICK)
    with caplog.at_level(logging.INFO, logger="itk_consensus.deep"):
        filter_.Fit(image_list(cohort), label_lists(cohort))
    history = filter_.GetTrainingHistory()
    assert [entry["iteration"] for entry in history][-1] == 12
    assert len(caplog.records) == len(history)
    assert "iteration 12: validation loss" in caplog.messages[-1]
