"""Records store decisions, apply only to the same inputs, and detect damage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pydicom
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.core.errors import FileError
from itk_consensus.images.dicom.series import read_dicom_series
from itk_consensus.review.case import ReviewCase, case_of_result, case_of_structures
from itk_consensus.review.record import ReviewRecord, default_record_path
from itk_consensus.storage.hashes import file_hash
from tests.images.dicom_objects import SHAPE, write_series
from tests.review.four_readers import write_readers


@pytest.fixture
def readers(tmp_path: Path) -> list[Path]:
    return write_readers(tmp_path)


def case_of(readers: list[Path], record: Path | None = None) -> ReviewCase:
    filter_ = ic.ConsensusFilter()
    filter_.Execute([sitk.ReadImage(str(path)) for path in readers])
    return case_of_result(filter_.GetResult(), files=readers, record=record)


def decided(readers: list[Path], record: Path) -> tuple[ReviewCase, np.ndarray]:
    """Return a record of three disputes, decided in three ways, one by painting."""
    case = case_of(readers, record)
    review = case.begun("Ann")
    review.decide(2, "rater", 2)
    review.decide(1, "label", 1)
    review.decide(3, "consensus")
    painted = review.adjudicated()
    painted.reshape(-1)[case.disputes[3].places[::2]] ^= 1
    painted[0, 0, :5] = 1
    review.paint("", painted)
    review.confirm(4)
    case.writer(review).write(record)
    return case, review.adjudicated()


def test_a_record_says_who_decided_what_and_what_it_changed(
    readers: list[Path], tmp_path: Path
) -> None:
    case, _ = decided(readers, tmp_path / "r.review.json")
    said = json.loads((tmp_path / "r.review.json").read_text())
    assert [one["sha256"] for one in said["inputs"]] == [[file_hash(path)] for path in readers]
    assert [one["path"] for one in said["inputs"]] == [path.name for path in readers]
    assert said["undecided"] == len(case.disputes) - 4
    second, first = said["disputes"][:2]
    assert first["decision"]["choice"] == "rater"
    assert first["decision"]["who"] == "Ann"
    assert first["voxels_after"] == dict(first["votes"][2].items())
    assert second["voxels_after"] == {"1": second["voxels"]}
    assert second["ml"] == pytest.approx(second["voxels"] * 0.9 * 0.9 * 2.0 / 1000)
    position = case.on_file.like.geometry.position(second["index"])
    assert second["position_mm"] == pytest.approx(position, abs=1e-3)
    (whole,) = said["maps"]
    changed = whole["voxels_after"]["1"] - whole["voxels_before"]["1"]
    parts = sum(
        one["voxels_after"].get("1", 0) - (one["voxels"] if one["consensus"] == 1 else 0)
        for one in said["disputes"]
    )
    assert changed == parts + 5


def test_a_record_applied_again_gives_the_same_voxels_each_time(
    readers: list[Path], tmp_path: Path
) -> None:
    record, out = tmp_path / "r.review.json", tmp_path / "out.nii.gz"
    _, expected = decided(readers, record)
    assert main(["adjudicate", str(record), "-o", str(out)]) == 0
    image = sitk.ReadImage(str(out))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(image), expected)
    assert image.GetOrigin() == pytest.approx(sitk.ReadImage(str(readers[0])).GetOrigin())
    before = file_hash(out)
    backwards = [str(path) for path in readers[::-1]]
    assert main(["adjudicate", str(record), *backwards, "-o", str(out), "--overwrite"]) == 0
    assert file_hash(out) == before


def test_other_inputs_are_refused_in_one_line(
    readers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.review.json"
    decided(readers, record)
    other = tmp_path / "other.nii.gz"
    image = sitk.ReadImage(str(readers[1]))
    image[3, 3, 3] = 1
    sitk.WriteImage(image, str(other))
    files = [str(path) for path in readers]
    for inputs, words in (
        ([files[0], str(other), *files[2:]], "other.nii.gz: is none of the inputs"),
        (files[:3], "dan was reviewed, and is not among the inputs"),
    ):
        code = main(["adjudicate", str(record), *inputs, "-o", str(tmp_path / "o.nii")])
        said = capsys.readouterr().err
        assert code == 2
        assert words in said
        assert said.count("\n") == 1
        assert not (tmp_path / "o.nii").exists()


def test_every_damage_to_a_record_is_noticed(readers: list[Path], tmp_path: Path) -> None:
    record = tmp_path / "r.review.json"
    decided(readers, record)
    good = record.read_bytes()
    ReviewRecord.read(record)
    rng = np.random.default_rng(3)
    for place in rng.integers(0, len(good), 200):
        bad = bytearray(good)
        bad[place] ^= 1 << int(rng.integers(0, 7))
        record.write_bytes(bad)
        with pytest.raises(FileError) as error:
            ReviewRecord.read(record)
        assert str(error.value).startswith(str(record))
    for bad_text in (good[: len(good) // 2], b"", b"{}", b"[]", b"\xff", good + b" "):
        record.write_bytes(bad_text)
        with pytest.raises(FileError):
            ReviewRecord.read(record)


def test_a_damaged_record_is_one_line_on_the_command_line(
    readers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.review.json"
    decided(readers, record)
    record.write_text(record.read_text().replace('"who": "Ann"', '"who": "Bob"', 1))
    assert main(["adjudicate", str(record), "-o", str(tmp_path / "o.nii")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "r.review.json: the record is damaged or was edited" in said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"choice": "rater"', '"choice": "label"', "decision must be an object, or None"),
        ('"rater": 2', '"rater": 3', "decided otherwise than the actions say"),
        ('"number": 2', '"number": 5', "not numbered from 1"),
        ('"undecided": ', '"undecided": 1', "not the number of undecided"),
        ('"schema_version": 3', '"schema_version": 4', "schema version 4"),
        ('"kind": "decide"', '"kind": "undo"', "choice does not fit"),
        ('"rater": 2, "struct', '"rater": 1, "struct', "became something else than was decided"),
    ],
)
def test_a_forged_record_with_a_right_checksum_must_still_make_sense(
    readers: list[Path], tmp_path: Path, old: str, new: str, words: str
) -> None:
    from itk_consensus.review.case import adjudicated_again
    from itk_consensus.review.record import checksum

    record = tmp_path / "r.review.json"
    decided(readers, record)
    body, mark, _ = record.read_text().replace(old, new, 1).rpartition(',\n  "checksum": "')
    record.write_text(f'{body}{mark}{checksum(body)}"\n}}\n')
    with pytest.raises(FileError, match=words):
        adjudicated_again(ReviewRecord.read(record), str(record), readers)


def test_a_half_done_review_is_taken_up_where_it_was_left(
    readers: list[Path], tmp_path: Path
) -> None:
    record = tmp_path / "r.review.json"
    case, expected = decided(readers, record)
    again = case.continued(ReviewRecord.read(record), str(record), "Bob")
    np.testing.assert_array_equal(again.adjudicated(), expected)
    assert again.decisions[1].who == "Ann"
    again.reopen(1)
    again.decide(1, "consensus")
    assert again.decisions[1].who == "Bob"
    with pytest.raises(FileError, match="in another order"):
        case_of(readers[::-1]).continued(ReviewRecord.read(record), "r")
    with pytest.raises(FileError, match="other inputs"):
        case_of(readers[:3]).continued(ReviewRecord.read(record), "r")


def test_another_consensus_of_the_same_inputs_is_another_review(
    readers: list[Path], tmp_path: Path
) -> None:
    record = tmp_path / "r.review.json"
    decided(readers, record)
    filter_ = ic.MajorityVoteFilter()
    filter_.Execute([sitk.ReadImage(str(path)) for path in readers])
    with pytest.raises(FileError, match=r"another consensus \(made by consensus"):
        case_of_result(filter_.GetResult(), files=readers).continued(ReviewRecord.read(record), "r")


def test_a_blinded_record_names_no_reader(readers: list[Path], tmp_path: Path) -> None:
    record = tmp_path / "r.review.json"
    named = case_of(readers, record)
    case = named.blinded()
    review = case.begun("Ann")
    review.decide(1, "rater", 3)
    case.writer(review).write(record)
    text = record.read_text()
    assert not any(path.stem.split(".")[0] in text for path in readers)
    assert '"rater": "reader 4"' in text
    out = tmp_path / "o.nii.gz"
    files = [str(path) for path in readers]
    assert main(["adjudicate", str(record), "-o", str(out)]) == 2
    assert main(["adjudicate", str(record), *files, "-o", str(out)]) == 0
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(sitk.ReadImage(str(out))), review.adjudicated()
    )


def test_blinded_readers_are_shuffled_alike_each_time_and_the_record_keeps_the_key(
    readers: list[Path], tmp_path: Path
) -> None:
    named = case_of(readers)
    case, again = named.blinded(), case_of(readers).blinded()
    assert case.given_order == again.given_order
    assert sorted(case.given_order or ()) == [0, 1, 2, 3]
    orders = set()
    for number in range(6):  # the order is shuffled differently in other cases
        image = sitk.ReadImage(str(readers[0]))
        image[number, 0, 0] = 1
        other = tmp_path / "other.nii.gz"
        sitk.WriteImage(image, str(other))
        orders.add(case_of([other, *readers[1:]]).blinded().given_order)
    assert len(orders) > 2
    for shown, given in enumerate(case.given_order or ()):
        np.testing.assert_array_equal(case.rated[0].maps[shown], named.rated[0].maps[given])
        assert case.inputs[shown].sha256 == named.inputs[given].sha256
        assert case.names_as_given[given] == case.names[shown]
        for one, before in zip(case.disputes, named.disputes, strict=True):
            assert one.votes[shown] == before.votes[given]
    kept = case.writer(case.begun()).record()
    assert kept.given_order == case.given_order


@pytest.mark.parametrize("name", ["out.nii.gz", "out.nrrd", "out.mha", "out.seg.nrrd"])
def test_an_adjudicated_label_map_is_written_in_every_format(
    name: str, readers: list[Path], tmp_path: Path
) -> None:
    record, out = tmp_path / "r.review.json", tmp_path / name
    _, expected = decided(readers, record)
    assert main(["adjudicate", str(record), "-o", str(out)]) == 0
    if name.endswith(".seg.nrrd"):
        (structure,) = ic.read_slicer_segmentation(out, like=sitk.ReadImage(str(readers[0])))
        assert structure.name == "label 1"
        array = sitk.GetArrayFromImage(structure.mask)
    else:
        array = sitk.GetArrayFromImage(sitk.ReadImage(str(out)))
    np.testing.assert_array_equal(array, expected)


def test_undecided_voxels_of_a_vote_stay_undecided_until_somebody_decides(
    tmp_path: Path, readers: list[Path]
) -> None:
    filter_ = ic.MajorityVoteFilter()
    fused = filter_.Execute([sitk.ReadImage(str(path)) for path in readers[:2]])
    case = case_of_result(filter_.GetResult(), files=readers[:2])
    np.testing.assert_array_equal(case.begun().adjudicated(), sitk.GetArrayFromImage(fused))
    assert case.rated[0].undecided == 2
    review = case.begun()
    for one in case.disputes:
        review.decide(one.number, "label", 0)
    assert set(np.unique(review.adjudicated())) == {0, 1}


def test_voxels_without_annotation_are_no_vote(tmp_path: Path) -> None:
    maps = [np.zeros((3, 4, 5), np.uint8) for _ in range(3)]
    maps[0][1, 1:3, 1:3] = 1
    maps[1][1, 1:3, 1:4] = 1
    maps[2][:] = 255
    files = [tmp_path / f"{number}.nrrd" for number in range(3)]
    for file, labels in zip(files, maps, strict=True):
        sitk.WriteImage(sitk.GetImageFromArray(labels), str(file))
    filter_ = ic.ConsensusFilter(MissingLabel=255)
    filter_.Execute([sitk.ReadImage(str(file)) for file in files])
    record = tmp_path / "r.review.json"
    case = case_of_result(filter_.GetResult(), files=files, record=record)
    assert all(one.votes[2] == {} for one in case.disputes)
    review = case.begun()
    for one in case.disputes:
        review.decide(one.number, "rater", 2)
    case.writer(review).write(record)
    out = tmp_path / "o.nrrd"
    assert main(["adjudicate", str(record), "-o", str(out)]) == 0
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(sitk.ReadImage(str(out))), case.rated[0].consensus
    )


def test_a_review_of_images_in_memory_is_known_by_its_voxels() -> None:
    filter_ = ic.ConsensusFilter()
    filter_.Execute(ic.sample_case())
    case = case_of_result(filter_.GetResult())
    assert {one.hashed for one in case.inputs} == {"voxels"}
    assert case.names == ["rater 0", "rater 1", "rater 2", "rater 3"]
    assert len(case.disputes) > 1
    assert all(0 <= p <= 1 for one in case.disputes for p in one.probability.values())


def test_readers_of_one_file_and_of_equal_file_names_are_told_apart(
    readers: list[Path], tmp_path: Path
) -> None:
    images = [sitk.ReadImage(str(path)) for path in readers[:3]]
    result = ic.ConsensusFilter().fuse(images)
    together = tmp_path / "together.nrrd"
    sitk.WriteImage(sitk.Compose(images), str(together))
    case = case_of_result(result, files=[together] * 3)
    assert case.names == ["together[0]", "together[1]", "together[2]"]
    places = []
    for name, image in zip(("ann", "bob", "cem"), images, strict=True):
        (tmp_path / name).mkdir()
        places.append(tmp_path / name / "mask.nii.gz")
        sitk.WriteImage(image, str(places[-1]))
    assert case_of_result(result, files=places).names == ["ann/mask", "bob/mask", "cem/mask"]


# -- structures ------------------------------------------------------------------------------


def structures(number: int) -> dict[str, np.ndarray]:
    z, y, x = np.mgrid[: SHAPE[0], : SHAPE[1], : SHAPE[2]]
    distance = np.sqrt((1.5 * (z - 5)) ** 2 + (y - 11) ** 2 + (x - 12) ** 2)
    found = {"Liver": distance < 7 + number}
    if number != 1:
        found["GTV"] = distance < 3 + 0.5 * number
    return found


@pytest.fixture
def rtstructs(tmp_path: Path) -> tuple[list[Path], Path]:
    """Write four readers' RTSTRUCTs with structure types other than the writer's default."""
    folder = tmp_path / "series"
    write_series(folder)
    series = read_dicom_series(folder)
    paths = []
    for number in range(4):
        path = tmp_path / f"reader{number}.dcm"
        masks = {name: image_on(series, mask) for name, mask in structures(number).items()}
        ic.write_dicom_contours(masks, path, series, method="hand", origin="MANUAL")
        dataset = pydicom.dcmread(path)
        types = {"Liver": "ORGAN", "GTV": "GTV"}
        for roi, seen in zip(
            dataset.StructureSetROISequence, dataset.RTROIObservationsSequence, strict=True
        ):
            seen.RTROIInterpretedType = types[roi.ROIName]
        dataset.save_as(path)
        paths.append(path)
    return paths, folder


def image_on(series: object, mask: np.ndarray) -> sitk.Image:
    image = sitk.GetImageFromArray(mask.astype(np.uint8))
    image.CopyInformation(series.grid())  # type: ignore[attr-defined]
    return image


def test_an_adjudicated_rtstruct_keeps_types_and_is_not_automatic(
    rtstructs: tuple[list[Path], Path], tmp_path: Path
) -> None:
    paths, folder = rtstructs
    series = read_dicom_series(folder)
    record, out = tmp_path / "r.review.json", tmp_path / "out.rtstruct.dcm"
    case = case_of_structures(paths, ic.ConsensusFilter(), series, record=record)
    assert {one.structure for one in case.disputes} == {"Liver", "GTV"}
    review = case.begun("Ann")
    for one in case.disputes:
        review.decide(one.number, "rater", 3)
    case.writer(review).write(record)
    words = ["--series", str(folder), "-o"]
    assert main(["adjudicate", str(record), *words, str(out)]) == 0
    dataset = pydicom.dcmread(out)
    types = [str(seen.RTROIInterpretedType) for seen in dataset.RTROIObservationsSequence]
    assert types == ["ORGAN", "GTV"]
    kinds = {str(roi.ROIGenerationAlgorithm) for roi in dataset.StructureSetROISequence}
    assert kinds == {"SEMIAUTOMATIC"}
    for one in ic.read_dicom_contours(out, series):
        np.testing.assert_array_equal(
            sitk.GetArrayFromImage(one.mask).astype(bool), structures(3)[one.name]
        )
    seg, slicer = tmp_path / "out.dcm", tmp_path / "out.seg.nrrd"
    assert main(["adjudicate", str(record), *words, str(seg)]) == 0
    assert main(["adjudicate", str(record), *words, str(slicer)]) == 0
    segments = pydicom.dcmread(seg).SegmentSequence
    assert {str(one.SegmentAlgorithmType) for one in segments} == {"SEMIAUTOMATIC"}
    for found in (
        ic.read_dicom_segmentation(seg, series),
        ic.read_slicer_segmentation(slicer, like=series.grid()),
    ):
        for one in found:
            np.testing.assert_array_equal(
                sitk.GetArrayFromImage(one.mask).astype(bool), structures(3)[one.name]
            )


def test_structures_that_overlap_do_not_become_one_label_map(
    rtstructs: tuple[list[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths, folder = rtstructs
    record = tmp_path / "r.review.json"
    series = read_dicom_series(folder)
    case = case_of_structures(paths, ic.ConsensusFilter(), series, record=record)
    case.writer(case.begun()).write(record)
    words = ["--series", str(folder), "-o", str(tmp_path / "o.nii.gz")]
    assert main(["adjudicate", str(record), *words]) == 2
    assert "overlaps another structure" in capsys.readouterr().err


def test_the_record_lies_beside_its_output() -> None:
    for name in ("a.nii.gz", "a.seg.nrrd", "a.rtstruct.dcm", "a.dcm", "a.mha"):
        assert default_record_path(Path("d", name)) == Path("d/a.review.json")
