"""No decision changes and nothing is lost, regardless of the order of a reviewer's actions."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from itk_consensus.cli import main
from itk_consensus.methods.voting.label_voting_filter import LabelVotingImageFilter
from itk_consensus.review.case import ReviewCase, case_of_result
from itk_consensus.review.decisions import Decision
from itk_consensus.review.record import ReviewRecord, checksum
from itk_consensus.review.session import ReviewSession

SHAPE = (3, 6, 7)


def write_readers(folder: Path) -> list[Path]:
    rng = np.random.default_rng(7)
    base = np.zeros(SHAPE, np.uint8)
    base[:, 1:5, 1:4], base[1:, 2:5, 4:6] = 1, 2
    paths = []
    for number in range(3):
        labels = base.copy()
        noisy = rng.random(SHAPE) < 0.12
        labels[noisy] = rng.integers(0, 3, noisy.sum())
        paths.append(folder / f"{number}.nrrd")
        sitk.WriteImage(sitk.GetImageFromArray(labels), str(paths[-1]))
    return paths


def case_of(paths: list[Path], record: Path) -> ReviewCase:
    filter_ = LabelVotingImageFilter()
    filter_.Execute([sitk.ReadImage(str(path)) for path in paths])
    return case_of_result(filter_.GetResult(), files=paths, record=record)


class Reviewing(RuleBasedStateMachine):
    """State machine that compares a review with a simple model of decisions, undo and redo."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.output = self.folder / "out.nrrd"
        self.record = self.folder / "out.review.json"
        self.paths = write_readers(self.folder)
        self.case = case_of(self.paths, self.record)
        self.session = ReviewSession(self.case, self.output, who="Ann")
        self.numbers = [one.number for one in self.case.disputes]
        self.locked: dict[int, tuple[Decision, bytes]] = {}
        self.past: list[dict[int, tuple[Decision, bytes]]] = []
        self.future: list[dict[int, tuple[Decision, bytes]]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def voxels(self, number: int) -> bytes:
        places = self.case.disputes[number - 1].places
        return bytes(self.session.review.adjudicated().reshape(-1)[places].tobytes())

    def seen(self) -> dict[int, tuple[Decision, bytes]]:
        return {n: (d, self.voxels(n)) for n, d in self.session.review.decisions.items()}

    def did(self, *unlocked: int) -> None:
        """Check that earlier decisions are unchanged, except for reopened ones."""
        now = self.seen()
        for number, before in self.locked.items():
            assert number in unlocked or now.get(number) == before
        self.past.append(self.locked)
        self.future.clear()
        self.locked = now

    @rule(data=st.data())
    def decide(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.numbers))
        what = data.draw(st.sampled_from([("consensus", None), ("label", 1), ("rater", 2)]))
        if number in self.locked:
            try:
                self.session.decide(number, *what)
            except ValueError:
                assert self.seen() == self.locked
                return
            raise AssertionError("a decided dispute was decided again")
        self.session.decide(number, *what)
        self.did()

    @rule()
    def accept_all(self) -> None:
        if left := self.session.review.undecided[-3:]:
            self.session.decide(left, "consensus")
            self.did()

    @rule(seed=st.integers(0, 99))
    def paint(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        painted = self.session.review.shown().copy()
        where = rng.random(SHAPE) < 0.1
        painted[where] = rng.integers(0, 3, where.sum())
        stroke = self.session.paint("", painted)
        if stroke.drafted or stroke.corrected:
            self.did()
        assert self.seen() == self.locked

    @precondition(lambda self: self.session.review.drafts)
    @rule(data=st.data())
    def confirm_or_discard(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.session.review.drafts)))
        data.draw(st.sampled_from([self.session.confirm, self.session.discard]))(number)
        self.did()

    @precondition(lambda self: self.locked)
    @rule(data=st.data())
    def reopen(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.locked)))
        self.session.reopen(number)
        assert number not in self.session.review.decisions
        self.did(number)

    @rule()
    def undo(self) -> None:
        assert self.session.undo() == bool(self.past)
        if self.past:
            self.future.append(self.locked)
            self.locked = self.past.pop()
        assert self.seen() == self.locked

    @rule()
    def redo(self) -> None:
        assert self.session.redo() == bool(self.future)
        if self.future:
            self.past.append(self.locked)
            self.locked = self.future.pop()
        assert self.seen() == self.locked

    @rule()
    def kill_and_reopen(self) -> None:
        before = self.session.review
        self.session = ReviewSession(self.case, self.output, who="Ann")
        after = self.session.review
        assert after.actions == before.actions
        assert after.decisions == before.decisions
        np.testing.assert_array_equal(after.shown(), before.shown())

    @rule(done=st.sampled_from([None, True]))
    def save(self, done: bool | None) -> None:
        self.session.save(done=done)
        kept = ReviewRecord.read(self.record)
        assert kept.done == (done or self.session.done)
        assert kept.saved_actions == len(kept.actions)
        written = sitk.GetArrayFromImage(sitk.ReadImage(str(self.output)))
        again = self.folder / "again.nrrd"
        assert main(["adjudicate", str(self.record), "-o", str(again), "--overwrite"]) == 0
        np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(again))), written)
        for number, (_, voxels) in self.locked.items():
            places = self.case.disputes[number - 1].places
            kept_voxels = written.reshape(-1)[places]
            assert kept_voxels.astype(self.case.rated[0].consensus.dtype).tobytes() == voxels

    @invariant()
    def the_record_on_disk_says_what_was_decided(self) -> None:
        if self.record.exists():
            kept = ReviewRecord.read(self.record)
            assert kept.decisions == {n: one for n, (one, _) in self.locked.items()}
            assert kept.actions == self.session.review.actions


Reviewing.TestCase.settings = settings(max_examples=12, stateful_step_count=25, deadline=None)
TestNoSequenceOfActionsChangesWhatIsDecided = Reviewing.TestCase


def as_first_version(path: Path) -> None:
    """Rewrite a record in the first version of the format, which did not store actions."""
    written: dict[str, Any] = json.loads(path.read_text())
    for name in ("actions", "given_order", "saved_actions", "consensus_hidden", "checksum"):
        written.pop(name)
    written["schema_version"] = 1
    for one in written["disputes"]:
        one.pop("draft")
        for name in ("reason", "confidence", "seconds"):
            (one["decision"] or {}).pop(name, None)
    body = json.dumps(written, indent=2).rstrip("}").rstrip()
    path.write_text(f'{body},\n  "checksum": "{checksum(body)}"\n}}\n')


def test_a_record_of_the_first_version_resumes_with_its_disputes_and_can_be_undone(
    tmp_path: Path,
) -> None:
    paths, record = write_readers(tmp_path), tmp_path / "out.review.json"
    case = case_of(paths, record)
    session = ReviewSession(case, tmp_path / "out.nrrd", who="Ann")
    session.decide(1, "rater", 2)
    painted = session.review.shown().copy()
    painted.reshape(-1)[case.disputes[1].places[:1]] ^= 1
    painted[0, 0, 0] = 2
    session.paint("", painted)
    session.confirm(2)
    expected = session.review.adjudicated()
    as_first_version(record)
    # A later version may divide disputes differently; the record's own disputes must be kept.
    other = ReviewCase(**{**vars(case), "disputes": case.disputes[::-1], "unlisted_voxels": 7})
    again = ReviewSession(other, tmp_path / "out.nrrd", who="Bob")
    assert [one.places.tolist() for one in again.case.disputes] == [
        one.places.tolist() for one in case.disputes
    ]
    np.testing.assert_array_equal(again.review.adjudicated(), expected)
    assert again.review.decisions[1].who == "Ann"
    assert {n: d.choice for n, d in again.review.decisions.items()} == {1: "rater", 2: "painted"}
    while again.undo():
        pass
    np.testing.assert_array_equal(again.review.adjudicated(), case.rated[0].consensus)
