"""A GPU waits neither for files nor for copies, and is not synchronised after every batch.

Devices are faked where torch allows it, and the results are compared with those of the CPU.
"""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from cohort_lists import QUICK, image_list, label_lists

torch = pytest.importorskip("torch")

from itk_consensus.deep import objective, training  # noqa: E402
from itk_consensus.deep.case_store import CaseStore  # noqa: E402
from itk_consensus.deep.cases import Case  # noqa: E402
from itk_consensus.deep.deep_consensus_filter import DeepConsensusFilter  # noqa: E402
from itk_consensus.deep.model import ConsensusModel, on_device  # noqa: E402
from itk_consensus.deep.training import prefetch  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::itk_consensus.core.errors.ConsensusWarning")


def saved(filter_, folder):
    filter_.Save(folder / "model")
    return (folder / "model").read_bytes()


def trained(cohort, mode="joint", iterations=12):
    filter_ = DeepConsensusFilter(**{**QUICK, "NumberOfIterations": iterations}, Mode=mode)
    filter_.Fit(image_list(cohort), label_lists(cohort))
    return filter_


def test_batches_drawn_ahead_are_the_batches_and_train_the_same_weights(
    cohort, tmp_path, monkeypatch
):
    plain = saved(trained(cohort), tmp_path)
    drew = []

    def ahead(self):
        def draw(iteration):
            drew.append(threading.current_thread() is threading.main_thread())
            return self._sampler.draw(iteration)

        return prefetch(draw, self.settings.iterations)

    monkeypatch.setattr(training.Trainer, "_batches", ahead)
    assert saved(trained(cohort), tmp_path) == plain
    assert drew == [False] * 12


def test_batches_ahead_come_in_order_and_their_errors_reach_the_caller():
    def draw(iteration):
        time.sleep(0.002 * (iteration % 3))
        if iteration == 5:
            raise FileNotFoundError("5.nrrd")
        return iteration, None

    with prefetch(draw, 7) as take:
        assert [take(number)[0] for number in range(5)] == list(range(5))
        with pytest.raises(FileNotFoundError, match="5"):
            take(5)
        assert take(6)[0] == 6
    # No batch is prepared beyond the end, and no thread remains.
    assert not [one for one in threading.enumerate() if "batches" in one.name]


def test_a_store_that_several_threads_ask_keeps_its_books():
    def made(number):
        labels = np.zeros((1, 4, 4), np.uint8)
        return Case(np.full((1, 4, 4), number, np.float32), labels, np.ones(1, np.int64))

    size = made(0).nbytes
    store = CaseStore([lambda n=n: made(n) for n in range(6)], 3 * size)
    found = []

    def ask(seed):
        for number in np.random.default_rng(seed).integers(0, 6, 300):
            found.append(store[number].image[0, 0, 0] == number)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1200
    assert all(found)
    assert store._bytes == size * len(store._kept) <= 3 * size


def test_a_gpu_gets_pinned_copies_that_nobody_waits_for(monkeypatch):
    asked = []

    def to(self, device, **how):
        asked.append((str(device), how, self.numpy().tolist()))
        return self

    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self + 1)
    monkeypatch.setattr(torch.Tensor, "to", to)
    on_device(np.zeros(2, np.float32), torch.device("cuda:1"))
    on_device(np.zeros(2, np.float32), torch.device("cpu"))
    assert asked == [("cuda:1", {"non_blocking": True}, [1, 1]), ("cpu", {}, [0, 0])]
    monkeypatch.undo()
    assert on_device(np.zeros((3, 2)), torch.device("meta")).shape == (3, 2)


def test_a_gpu_is_asked_for_tallies_once_in_a_while_and_none_is_lost(cohort, monkeypatch):
    """The fake accelerator computes on the CPU, but reports another device."""
    plain = trained(cohort, "set", 24)._model.rater_model.tally
    reads = []
    settle = objective.Objective.flush_tallies

    def counted(self):
        reads.append(len(self._met))
        settle(self)

    class Accelerator(ConsensusModel):
        device = torch.device("meta")

    cpu = torch.device("cpu")
    monkeypatch.setattr(objective.Objective, "flush_tallies", counted)
    monkeypatch.setattr(objective, "on_device", lambda array, _: on_device(array, cpu))
    built = objective.Objective

    def on_accelerator(model, *rest):
        made = built(model, *rest)
        made.model = Accelerator(**vars(model))
        return made

    monkeypatch.setattr(objective, "precision", lambda *_: torch.enable_grad())
    monkeypatch.setattr(training, "Objective", on_accelerator)
    tally = trained(cohort, "set", 24)._model.rater_model.tally
    # Tallies are read at evaluations, after every two batches; none remains to be read at the end.
    assert reads == [2] * 12 + [0]
    # The tallies are read one batch later, but have the same weight.
    np.testing.assert_allclose(tally.sum(), plain.sum(), rtol=1e-6)
