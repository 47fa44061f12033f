"""A session is saved after every action, and works without a screen."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.core.errors import FileError
from itk_consensus.images import grey_windows as windows
from itk_consensus.review import opening
from itk_consensus.review.case import ReviewCase, case_of_result
from itk_consensus.review.readers import reader_rows
from itk_consensus.review.record import ReviewRecord
from itk_consensus.review.session import ReviewSession
from tests.review.four_readers import ct, masks, write_readers

Run = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def case(tmp_path: Path) -> ReviewCase:
    readers = write_readers(tmp_path)
    filter_ = ic.ConsensusFilter()
    filter_.Execute([sitk.ReadImage(str(path)) for path in readers])
    return case_of_result(filter_.GetResult(), files=readers, record=tmp_path / "out.review.json")


def test_every_action_is_in_the_record_when_it_returns(case: ReviewCase, tmp_path: Path) -> None:
    session = ReviewSession(case, tmp_path / "out.nii.gz", who="Ann")
    assert not session.resumed

    def kept() -> dict[int, str]:
        record = ReviewRecord.read(tmp_path / "out.review.json")
        return {n: d.choice for n, d in record.decisions.items()}

    session.decide(1, "rater", 1)
    assert kept() == {1: "rater"}
    painted = session.review.adjudicated()
    painted.reshape(-1)[case.disputes[1].places[:3]] ^= 1
    assert session.paint("", painted).drafted == {2: 3}
    assert kept() == {1: "rater"}
    session.confirm(2)
    assert kept() == {1: "rater", 2: "painted"}
    assert session.undo()
    assert session.undo()
    assert kept() == {1: "rater"}
    session.reopen(1)
    assert kept() == {}
    assert not (tmp_path / "out.nii.gz").exists()
    session.save(done=True)
    assert ReviewRecord.read(tmp_path / "out.review.json").done
    session.save()  # as at the end of a session
    assert ReviewRecord.read(tmp_path / "out.review.json").done
    assert session.is_saved
    written = sitk.ReadImage(str(tmp_path / "out.nii.gz"))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(written), case.rated[0].consensus)


def test_a_session_goes_on_or_begins_anew_but_never_blindly(
    case: ReviewCase, tmp_path: Path
) -> None:
    output = tmp_path / "out.nii.gz"
    ReviewSession(case, output, who="Ann").decide(2, "label", 1)
    again = ReviewSession(case, output, who="Bob")
    assert again.resumed
    assert again.review.decisions[2].who == "Ann"
    with pytest.raises(FileError, match="begun not blinded"):
        ReviewSession(case, output, blinded=True)
    assert ReviewSession(case, output, fresh=True).review.decisions == {}
    Path(tmp_path / "out.review.json").write_text("{")
    with pytest.raises(FileError, match=r"out\.review\.json: is not JSON: .* line 1"):
        ReviewSession(case, output)


def test_a_session_without_an_output_writes_nothing(case: ReviewCase, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    session = ReviewSession(case)
    session.decide(1, "label", 1)
    session.save()
    assert sorted(tmp_path.iterdir()) == before
    result = session.result()
    assert isinstance(result, sitk.Image)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(result), session.review.adjudicated())


def test_readers_are_compared_with_the_consensus(case: ReviewCase) -> None:
    consensus = case.rated[0].consensus
    for row, mask in zip(reader_rows(case), masks(), strict=True):
        assert row.volume_ml == pytest.approx(mask.sum() * 0.9 * 0.9 * 2.0 / 1000)
        assert row.dice == pytest.approx(ic.dice(mask == 1, consensus == 1))
        assert row.bias == pytest.approx(mask.sum() / consensus.sum() - 1)


def test_windows_are_those_of_the_modality() -> None:
    image = sitk.GetArrayFromImage(ct())
    anything = np.zeros(image.shape, bool)
    assert "lung" in [one.name for one in windows.windows_for(image, anything)]
    magnetic = windows.windows_for(np.linspace(0, 900, 1000).reshape(10, 10, 10), anything)
    assert [one.name for one in magnetic] == ["1 to 99 %", "all values"]
    assert magnetic[1].width == pytest.approx(900)
    assert magnetic[1].level == pytest.approx(450)
    empty = windows.windows_for(np.full((2, 2), np.nan), np.zeros((2, 2), bool))
    assert empty[0].width > 0


@pytest.mark.parametrize(
    ("inside", "around", "name"),
    [
        (30, -800, "lung"),
        (-650, -850, "lung"),
        (40, 30, "soft tissue"),
        (60, -100, "soft tissue"),
        (700, 40, "bone"),
    ],
)
def test_a_structure_is_shown_in_the_window_of_its_surroundings(
    inside: float, around: float, name: str
) -> None:
    """A nodule in the lung was displayed in a soft-tissue window, in which the lung is black."""
    structure = np.zeros((9, 20, 20), bool)
    structure[3:6, 8:13, 8:13] = True
    image = np.where(structure, inside, around).astype(np.float32)
    image[:, 0] = -1000  # the air outside the body
    assert windows.windows_for(image, structure)[0].name == name


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    readers = [str(path) for path in write_readers(tmp_path)]
    assert main(["review", *readers]) == 2
    said = capsys.readouterr().err
    assert "pip install 'itk-consensus[review]'" in said
    assert said.count("\n") == 1
    with pytest.raises(ic.MissingDependencyError, match="review needs trame"):
        ic.review([np.eye(3, dtype=np.uint8)] * 2)


def test_in_a_notebook_it_says_where_to_call_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda name: True)

    async def cell() -> None:
        ic.review([np.eye(3, dtype=np.uint8)] * 2)

    with pytest.raises(ic.ParameterError, match="as in a notebook"):
        asyncio.run(cell())


def test_the_room_is_the_function(run_python: Run) -> None:
    answer = run_python(
        "import itk_consensus, itk_consensus.review.record\nassert callable(itk_consensus.review)"
    )
    assert answer.returncode == 0, answer.stderr
