"""A study of decisions: several adjudicators compared, and records that are signed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from itk_consensus.cli import main
from itk_consensus.core.errors import FileError
from itk_consensus.review.one_review import Remark
from itk_consensus.review.record import ReviewRecord, checksum
from itk_consensus.review.session import ReviewSession
from itk_consensus.review.signature import signature_path
from tests.review.four_readers import write_readers
from tests.review.test_records import case_of

KEY = b"a secret of the reading room"


@pytest.fixture
def readers(tmp_path: Path) -> list[Path]:
    return write_readers(tmp_path)


def reviewed(readers: list[Path], name: str, choices: dict[int, tuple[str, int | None]]) -> Path:
    output = readers[0].parent / f"{name}.nii.gz"
    record = output.with_name(f"{name}.review.json")
    session = ReviewSession(case_of(readers, record), output, who=name)
    for number, choice in choices.items():
        session.decide(number, *choice, Remark("edge is clear", "sure", 3.5))
    session.save()
    return record


def test_two_adjudicators_are_compared_dispute_by_dispute_and_map_by_map(
    readers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = reviewed(readers, "eve", {1: ("label", 1), 2: ("label", 0), 3: ("consensus", None)})
    # Choosing label 1, and choosing the only reader who marked it, are the same decision.
    bob = reviewed(readers, "max", {1: ("rater", 3), 2: ("label", 1), 4: ("label", 1)})
    assert main(["adjudicate", str(ann), "--compare", str(bob)]) == 0
    said = capsys.readouterr().out
    assert "1 of 2 disputes that both decided are alike" in said
    first, second = (ReviewRecord.read(path) for path in (ann, bob))
    case = case_of(readers)
    maps = []
    for record in (first, second):
        review = case.continued(record, "record")
        maps.append(review.adjudicated() == 1)
    dice = 2 * np.count_nonzero(maps[0] & maps[1]) / sum(map(np.count_nonzero, maps))
    assert f"Dice 1 {dice:.3f}" in said
    total = len(first.disputes)
    assert (
        f"3 of {total} disputes decided, 1 of them as the consensus has them; {total - 3} open"
        in said
    )
    decision = first.decisions[1]
    assert (decision.reason, decision.confidence, decision.seconds) == (
        "edge is clear",
        "sure",
        3.5,
    )


def test_reviews_of_other_inputs_are_not_compared(
    readers: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    ann = reviewed(readers, "eve", {1: ("label", 1)})
    fewer = reviewed(readers[:3], "fewer", {1: ("label", 1)})
    assert main(["adjudicate", str(ann), "--compare", str(fewer)]) == 2
    assert "is the review of other inputs" in capsys.readouterr().err


def test_a_signed_record_that_was_forged_is_refused_and_a_kill_leaves_it_valid(
    readers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, key = tmp_path / "out.nii.gz", tmp_path / "key"
    key.write_bytes(KEY)
    record = tmp_path / "out.review.json"
    case = case_of(readers, record)
    session = ReviewSession(case, output, who="Ann", key=KEY)
    session.decide(1, "label", 1)
    before = record.read_bytes()
    session.decide(2, "label", 0)
    again = ["adjudicate", str(record), "-o", str(tmp_path / "again.nii.gz"), "--overwrite"]
    assert main([*again, "--key", str(key)]) == 0
    after = record.read_bytes()
    record.write_bytes(before)  # as if killed after writing the signature, but before the record
    assert ReviewSession(case, output, key=KEY).review.decisions.keys() == {1}
    # A forgery with a correct checksum is detected only by the signature.
    forged = replace(ReviewRecord.from_json(after.decode(), "record"), done=True)
    forged.write(record)
    assert ReviewRecord.read(record).done
    capsys.readouterr()
    assert main([*again, "--key", str(key)]) == 2
    assert "was changed, or signed with another key" in capsys.readouterr().err
    with pytest.raises(FileError, match="was changed"):
        ReviewSession(case, output, key=KEY)
    signature_path(record).unlink()
    assert main([*again, "--key", str(key)]) == 2
    assert "is not signed" in capsys.readouterr().err
    short = tmp_path / "short"
    short.write_bytes(b"abc")
    assert main([*again, "--key", str(short)]) == 2
    assert "a key needs 16" in capsys.readouterr().err


def test_the_consensus_is_hidden_until_a_first_opinion_which_taking_back_does_not_undo(
    readers: list[Path], tmp_path: Path
) -> None:
    record = tmp_path / "out.review.json"
    case = case_of(readers, record)
    session = ReviewSession(case, tmp_path / "out.nii.gz", who="Ann", hide_consensus=True)
    assert session.is_hidden(1)
    session.decide(1, "label", 1)
    assert not session.is_hidden(1)
    session.undo()
    assert not session.is_hidden(1)
    assert session.is_hidden(2)
    assert ReviewRecord.read(record).consensus_hidden
    with pytest.raises(FileError, match="begun with the consensus hidden"):
        ReviewSession(case, tmp_path / "out.nii.gz")


def test_a_record_of_the_second_version_is_read(readers: list[Path], tmp_path: Path) -> None:
    path = reviewed(readers, "eve", {1: ("label", 1)})
    text = path.read_text().replace('"schema_version": 3', '"schema_version": 2')
    text = text.replace('  "consensus_hidden": false,\n', "")
    body, mark, _ = text.rpartition(',\n  "checksum": "')
    path.write_text(f'{body}{mark}{checksum(body)}"\n}}\n')
    kept = ReviewRecord.read(path)
    assert kept.decisions.keys() == {1}
    assert not kept.consensus_hidden
