"""Named structures on the command line: pages, JSON, uncertainty, agreement, info."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.images.structures import Structure, mask_of

pydicom = pytest.importorskip("pydicom")
sys.path.insert(0, str(Path(__file__).parents[1] / "images"))
from dicom_objects import write_series  # noqa: E402

SHAPE = (8, 24, 28)
NAME = "Doe^Jane"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write three readers' RTSTRUCTs on a CT; the second uses other spellings, the first has
    one more structure.
    """
    folder = tmp_path_factory.mktemp("study")
    write_series(folder / "ct", SHAPE)
    z, y, x = np.indices(SHAPE)
    for path in (folder / "ct").iterdir():
        one = pydicom.dcmread(path)
        plane = np.where(x[0] < 8, 1100, 200).astype(np.uint16)
        one.PixelData, one.RescaleSlope, one.RescaleIntercept = plane.tobytes(), 1, -1024
        one.PatientName = NAME
        one.save_as(path)
    series = ic.read_dicom_series(folder / "ct")
    for number in range(3):
        masks = {
            "GTVp" if number != 1 else "gtv_p": (y - 12) ** 2 + (x - 14) ** 2 < (5 + number) ** 2,
            "Heart": (abs(y - 12) < 9) & (abs(x - 14) < 8 + number),
        }
        if number == 0:
            masks["Node"] = (abs(y - 4) < 2) & (abs(x - 4) < 2)
        kinds = ("GTV", "ORGAN", "GTV")
        structures = [
            Structure(
                name,
                mask_of(inside & (abs(z - 4) < 3), series.grid()),
                (1.0, 0.0, 0.2 * number),
                details={"RTROIInterpretedType": kind},
            )
            for (name, inside), kind in zip(masks.items(), kinds, strict=False)
        ]
        ic.write_dicom_contours(structures, folder / f"r{number}.dcm", series, method="hand")
    return folder


def inputs(study: Path) -> list[str]:
    return [str(study / f"r{number}.dcm") for number in range(3)]


def options(study: Path) -> list[str]:
    return ["--per-structure", "--series", str(study / "ct")]


@pytest.fixture(scope="module")
def fused(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fused")
    words = ["--method", "vote", "-o", str(out / "c.rtstruct.dcm"), "--json", str(out / "c.json")]
    words += ["--report", str(out / "c.html"), "--uncertainty", str(out / "u-{structure}.nrrd")]
    assert main(["fuse", *inputs(study), *options(study), *words]) == 0
    return out


def test_a_page_has_a_section_for_each_structure_on_the_ct_of_the_series(fused: Path) -> None:
    text = (fused / "c.html").read_text(encoding="utf-8")
    for number, name in enumerate(("GTVp", "Heart", "Node")):
        assert f'<h2 id="structure-{number}">{name}</h2>' in text
    assert "Grey values: lung" in text
    assert NAME.split("^")[0] not in text
    assert "no consensus" in text  # of the lymph node, which only one reader drew


def test_json_and_uncertainty_are_written_for_each_structure(fused: Path, study: Path) -> None:
    content = json.loads((fused / "c.json").read_text(encoding="utf-8"))
    assert list(content["structures"]) == ["GTVp", "Heart", "Node"]
    assert content["only_one_reader"] == ["Node"]
    assert content["structures"]["Heart"]["number_of_raters"] == 3
    for name in ("GTVp", "Heart", "Node"):
        image = sitk.ReadImage(str(fused / f"u-{name}.nrrd"))
        assert image.GetSize() == SHAPE[::-1]
        certain = sitk.GetArrayViewFromImage(image).max() == 0
        assert certain == (name == "Node")


def test_types_and_colours_of_structures_survive_the_command_line(fused: Path, study: Path) -> None:
    """The command line dropped the types, which treatment planning needs."""
    dataset = pydicom.dcmread(fused / "c.rtstruct.dcm")
    types = [one.RTROIInterpretedType for one in dataset.RTROIObservationsSequence]
    assert types == ["GTV", "ORGAN"]
    assert [list(one.ROIDisplayColor) for one in dataset.ROIContourSequence] == [[255, 0, 0]] * 2


def test_what_one_reader_drew_is_said_before_it_is_written(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*options(study), "--method", "vote", "-o", str(tmp_path / "c.seg.nrrd")]
    assert main(["fuse", *inputs(study), *words, "--rename", "Heart=Herz"]) == 0
    said = capsys.readouterr().err
    assert "only" in said
    assert "drew 'Node', so it is not a consensus" in said
    assert '--rename "Node=NEW"' in said
    assert main(["fuse", *inputs(study), *words, "--overwrite", "--rename", "Haert=x"]) == 2
    assert "no rater has a structure 'Haert'; there are Heart" in capsys.readouterr().err


def test_what_speaks_against_a_structure_is_said_and_guards(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shifted mask in an RTSTRUCT caused no message."""
    series = ic.read_dicom_series(study / "ct")
    z, y, x = np.indices(SHAPE)
    files = []
    for number, middle in enumerate((9, 9, 19)):
        ball = (z - 4) ** 2 + (y - 12) ** 2 + (x - middle) ** 2 < 16
        files.append(str(tmp_path / f"reader{number}.dcm"))
        mask = mask_of(ball, series.grid())
        ic.write_dicom_contours({"Lens": mask}, files[-1], series, method="hand")
    words = [*options(study), "--method", "vote", "-o", str(tmp_path / "c.seg.nrrd")]
    assert main(["fuse", *files, *words, "--fail-on", "look"]) == 1
    said = capsys.readouterr().out
    assert "Lens: Look. " in said
    assert "reader2" in said
    page = ["report", *files, *options(study), "-o", str(tmp_path / "p.html")]
    assert main([*page, "--fail-on", "look"]) == 1


def test_a_fused_rtstruct_or_seg_is_no_reader(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("earlier.rtstruct.dcm", "earlier.dcm", "earlier.seg.nrrd"):
        earlier = str(tmp_path / name)
        assert main(["fuse", *inputs(study), *options(study), "-o", earlier]) == 0
        capsys.readouterr()
        words = ["fuse", *inputs(study), earlier, *options(study), "-o", str(tmp_path / "o.dcm")]
        assert main(words) == 2
        assert f"{earlier}: was written by itk-consensus" in capsys.readouterr().err


def test_what_lies_in_one_place_is_suggested(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*inputs(study)[1:], *options(study), "--rename", "gtv_p=Tumour"]
    assert main(["info", *words]) == 0
    said = capsys.readouterr().err
    assert "overlaps 'Tumour' (Dice 0." in said or "overlaps 'GTVp' (Dice 0." in said
    assert '--rename "Tumour=GTVp"' in said or '--rename "GTVp=Tumour"' in said


def test_what_is_no_consensus_is_not_written_unless_asked_and_told_first(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A consensus without voxels was written like any other, and --fail-on accepted it."""
    out = tmp_path / "c.rtstruct.dcm"
    words = ["fuse", *inputs(study), *options(study), "--method", "vote", "-o", str(out)]
    assert main([*words, "--fail-on", "do-not-use"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("Node: Do not use. Only 1 of 3 readers drew it")
    assert "Node: Only 1 of 3 readers drew it: that is no consensus; it is not written" in said.err
    names = [one.ROIName for one in pydicom.dcmread(out).StructureSetROISequence]
    assert names == ["GTVp", "Heart"]
    assert main([*words, "--overwrite", "--write-all"]) == 0
    names = [one.ROIName for one in pydicom.dcmread(out).StructureSetROISequence]
    assert names == ["GTVp", "Heart", "Node"]
    assert main([*words, "--overwrite", "--structures", "Node"]) == 2
    assert "no structure is a consensus" in capsys.readouterr().err


def test_an_empty_consensus_is_no_consensus(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two readers outline parotids on different sides."""
    series = ic.read_dicom_series(study / "ct")
    _, y, x = np.indices(SHAPE)
    files = []
    for number, middle in enumerate((8, 20)):
        masks = {
            "Parotid_R": (y - 12) ** 2 + (x - middle) ** 2 < 16,
            "Heart": (abs(y - 12) < 9) & (abs(x - 14) < 8),
        }
        files.append(str(tmp_path / f"r{number}.dcm"))
        structures = {name: mask_of(mask, series.grid()) for name, mask in masks.items()}
        ic.write_dicom_contours(structures, files[-1], series, method="hand")
    out = tmp_path / "c.rtstruct.dcm"
    words = ["fuse", *files, *options(study), "--method", "vote", "--tie-rule", "background"]
    assert main([*words, "-o", str(out), "--fail-on", "do-not-use"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("Parotid_R: Do not use.")
    assert "Parotid_R: the consensus is empty; it is not written" in said.err
    (roi,) = pydicom.dcmread(out).StructureSetROISequence
    assert roi.ROIName == "Heart"


def five_parotids(study: Path, folder: Path, swapped: int) -> list[str]:
    """Write five readers' parotids, one of whom swapped the sides and uses other spellings."""
    series = ic.read_dicom_series(study / "ct")
    z, y, x = np.indices(SHAPE)
    files = []
    for number in range(5):
        left, right = (
            (z - 4) ** 2 + (y - 12) ** 2 + (x - middle) ** 2 < (4 + 0.2 * number) ** 2
            for middle in (20, 7)
        )
        masks = {"Parotid_L": left, "Parotid_R": right}
        if number == swapped:
            masks = {"PAROTID LT": right, "PAROTID RT": left}
        files.append(str(folder / f"reader{number}.dcm"))
        structures = {name: mask_of(mask, series.grid()) for name, mask in masks.items()}
        ic.write_dicom_contours(structures, files[-1], series, method="hand")
    return files


def test_swapped_sides_are_named_with_both_names_and_decide(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = five_parotids(study, tmp_path, 3)
    words = [*options(study), "--method", "vote", "-o", str(tmp_path / "c.rtstruct.dcm")]
    words += ["--report", str(tmp_path / "c.html"), "--json", str(tmp_path / "c.json")]
    assert main(["fuse", *files, *words]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for name in ("Parotid_L", "Parotid_R"):
        assert f"{name}: Look. " in said
    swapped = "reader3 has Parotid_L and Parotid_R the other way round: if put right, Dice to"
    assert swapped in said
    content = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    (sentence,) = content["swapped"]
    assert "would rise from 0.00 to 0.8" in sentence
    page = (tmp_path / "c.html").read_text("utf-8")
    assert "Parotid_L and Parotid_R the other way round" in page
    # A finding that the swap explains or contradicts is neither reported a second time nor listed
    # as a passed check.
    for contradicted in ("is mirrored", "lies ", "in the same place", "Moving no mask"):
        assert contradicted not in page
    # One of two readers determines the result.
    words[words.index("-o") + 1] = str(tmp_path / "d.rtstruct.dcm")
    two = [files[0], files[3], *words[: words.index("--report")], "--write-all"]
    assert main(["fuse", *two, "--fail-on", "do-not-use"]) == 1
    assert main(["info", *files, *options(study)]) == 0
    assert "the other way round" in capsys.readouterr().err


def test_a_reader_whose_mask_was_ignored_is_not_counted_in_the_description(
    study: Path, tmp_path: Path
) -> None:
    """Planning systems read "consensus of 5 of 5 readers", though one had swapped the sides."""
    out = tmp_path / "c.rtstruct.dcm"
    assert main(["fuse", *five_parotids(study, tmp_path, 3), *options(study), "-o", str(out)]) == 0
    for roi in pydicom.dcmread(out).StructureSetROISequence:
        assert roi.ROIDescription == "look: consensus of 4 of 5 readers (1 left out)"


def test_files_that_name_structures_are_fused_by_number_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mask = sitk.GetImageFromArray(np.pad(np.ones((3, 4, 5), np.uint8), 3))
    files = [str(tmp_path / f"r{number}.seg.nrrd") for number in range(3)]
    for file in files:
        ic.write_slicer_segmentation({"Heart": mask}, file)
    assert main(["fuse", *files, "--method", "vote", "-o", str(tmp_path / "x.nrrd")]) == 0
    assert "add --per-structure to fuse them by name" in capsys.readouterr().err
    words = ["--per-structure", "--method", "vote", "-o", str(tmp_path / "y.seg.nrrd")]
    assert main(["fuse", *files, *words]) == 0
    assert "by number" not in capsys.readouterr().err


def test_planning_systems_are_told_what_the_file_is(fused: Path) -> None:
    dataset = pydicom.dcmread(fused / "c.rtstruct.dcm")
    assert dataset.StructureSetDescription.startswith("Consensus of 3 readers by MajorityVote")
    for roi in dataset.StructureSetROISequence:
        assert "consensus of 3 of 3 readers" in roi.ROIDescription
        assert "/" not in roi.ROIDescription


def test_islands_and_smoothing_are_options_of_contours(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fuse", *inputs(study), *options(study), "--method", "vote", "-o"]
    assert main([*words, str(tmp_path / "a.rtstruct.dcm"), "--smooth", "0.8"]) == 0
    assert main([*words, str(tmp_path / "b.rtstruct.dcm"), "--least-island", "99"]) == 0
    capsys.readouterr()
    assert main([*words, str(tmp_path / "c.seg.nrrd"), "--smooth", "0.8"]) == 2
    assert "--smooth and --holes apply only to contours" in capsys.readouterr().err
    assert main([*words, str(tmp_path / "c.rtstruct.dcm"), "--smooth", "0.01"]) == 2
    assert "smooth must be" in capsys.readouterr().err
    points = [
        sum(
            int(contour.NumberOfContourPoints)
            for roi in pydicom.dcmread(tmp_path / f"{name}.rtstruct.dcm").ROIContourSequence
            for contour in roi.ContourSequence
        )
        for name in "ab"
    ]
    assert points[0] < points[1]


def test_report_writes_the_page_of_structures_alone(study: Path, tmp_path: Path) -> None:
    page = tmp_path / "only.html"
    words = [*options(study), "--method", "vote", "-o", str(page), "--window", "bone"]
    assert main(["report", *inputs(study), *words]) == 0
    assert "Grey values: bone" in page.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["only.html"]


@pytest.mark.parametrize("command", ["fuse", "agreement", "info", "report"])
def test_an_rtstruct_is_named_for_what_it_is(
    command: str, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["-o", str(tmp_path / "x.nrrd")] if command in ("fuse", "report") else []
    assert main([command, *inputs(study), *more]) == 2
    said = capsys.readouterr().err
    assert "is an RTSTRUCT" in said
    assert "add --per-structure --series FOLDER" in said
    assert main([command, *inputs(study), *more, "--series", str(study / "ct")]) == 2
    assert "--series applies to named structures; add --per-structure" in capsys.readouterr().err


def test_agreement_is_measured_for_each_structure(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / name) for name in ("a.csv", "a.json")]
    words = [*inputs(study), *options(study), "--csv", files[0], "--json", files[1]]
    assert main(["agreement", *words]) == 0
    with open(files[0]) as stream:
        rows = list(csv.DictReader(stream))
    assert [row["structure"] for row in rows] == ["GTVp"] * 3 + ["Heart"] * 3
    assert list(json.loads(Path(files[1]).read_text(encoding="utf-8"))["structures"]) == [
        "GTVp",
        "Heart",
    ]
    series = ic.read_dicom_series(study / "ct")
    masks = [ic.read_dicom_contours(path, series)[1].mask for path in inputs(study)]
    expected = ic.agreement(masks)[1].dice[0, 1]
    assert float(rows[3]["dice"]) == pytest.approx(expected)
    assert "Heart\n" in capsys.readouterr().out


def test_info_lists_structures_with_volume_type_and_colour(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", inputs(study)[0], *options(study)]) == 0
    said = capsys.readouterr().out
    heart, _ = (line for line in said.splitlines() if line.strip().startswith("Heart  "))
    assert heart.split()[3:] == ["ORGAN", "255,0,0"]


def test_the_patient_is_named_in_a_page_only_if_that_is_asked(study: Path, tmp_path: Path) -> None:
    page, out = tmp_path / "c.html", tmp_path / "c.seg.nrrd"
    words: list[Any] = [*options(study), "--method", "vote", "-o", out, "--report", page]
    assert main(["fuse", *inputs(study), *map(str, words), "--show-identity"]) == 0
    assert NAME in page.read_text(encoding="utf-8")
    assert main(["fuse", *inputs(study), *map(str, words), "--overwrite"]) == 0
    assert "Jane" not in page.read_text(encoding="utf-8")
    series = ic.read_dicom_series(study / "ct")
    assert "Jane" not in repr(series) + str(series)


def test_an_image_of_each_structure_needs_a_name_of_its_own(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*options(study), "-o", str(tmp_path / "c.seg.nrrd")]
    assert main(["fuse", *inputs(study), *words, "--uncertainty", str(tmp_path / "u.nrrd")]) == 2
    assert "--uncertainty needs {structure} in its name" in capsys.readouterr().err
    assert not (tmp_path / "c.seg.nrrd").exists()


def test_swapped_names_are_put_right_by_a_file_in_any_spelling(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows in the how-to were rejected, since the reader spells Parotid_L differently."""
    files = five_parotids(study, tmp_path, 3)
    names = tmp_path / "names.csv"
    assert main(["info", *files, *options(study), "--write-names", str(names)]) == 0
    assert "the other way round" in capsys.readouterr().err
    text = names.read_text(encoding="utf-8")
    assert "reader3,PAROTID LT,Parotid_L,5,Parotid_R,0.8" in text
    assert "reader3,PAROTID RT,Parotid_R,5,Parotid_L,0.8" in text
    by_hand = "reader,old,new\nreader3,Parotid_L,Parotid_R\nreader3,Parotid_R,Parotid_L\n"
    taken = text.replace("LT,Parotid_L", "LT,Parotid_R").replace("RT,Parotid_R", "RT,Parotid_L")
    for content in (by_hand, taken):
        names.write_text(content, encoding="utf-8")
        assert main(["info", *files, *options(study), "--rename", str(names)]) == 0
        said = capsys.readouterr()
        assert not said.err
        assert "taken for one: Parotid_L, PAROTID RT" in said.out


def test_agreement_tells_that_names_were_swapped(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table for a paper was printed without a warning."""
    assert main(["agreement", *five_parotids(study, tmp_path, 3), *options(study)]) == 0
    assert "reader3 has Parotid_L and Parotid_R the other way" in capsys.readouterr().err


def test_a_name_without_a_contour_was_not_drawn(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Templates leave such names: three of five readers outvoted the two who drew, and the page
    said "use".
    """
    series = ic.read_dicom_series(study / "ct")
    y, x = np.indices(SHAPE)[1:]
    drawn, empty = (mask_of(np.hypot(y - 12, x - 14) < radius, series.grid()) for radius in (6, 0))
    files = []
    for number in range(5):
        masks = {"Mandible": drawn if number < 2 else empty, "Cord": drawn}
        masks["Lens_L"] = drawn if number else empty
        files.append(str(tmp_path / f"reader{number}.dcm"))
        ic.write_dicom_contours(masks, files[-1], series, method="hand")
    out, page = tmp_path / "c.rtstruct.dcm", tmp_path / "c.html"
    words = [*options(study), "--method", "vote", "-o", str(out), "--report", str(page)]
    assert main(["fuse", *files, *words, "--fail-on", "do-not-use"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("Mandible: Do not use. Only 2 of 5 readers drew it")
    assert "reader4 drew nothing under 'Mandible': counted as not drawn, not as empty" in said.err
    assert "not drawn by reader0: Lens_L" in said.out
    assert "counted as not drawn" in page.read_text(encoding="utf-8")
    rois = {one.ROIName: one for one in pydicom.dcmread(out).StructureSetROISequence}
    assert rois.keys() == {"Cord", "Lens_L"}
    assert "consensus of 4 of 5 readers" in rois["Lens_L"].ROIDescription
    assert main(["info", files[2], *options(study), "--structures", "Mandible"]) == 2
    assert "no structure is called 'Mandible'; there are Cord, Lens_L" in capsys.readouterr().err


def test_files_in_which_nobody_drew_are_refused(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    series = ic.read_dicom_series(study / "ct")
    ic.write_dicom_contours(
        {"Lens_L": mask_of(np.zeros(SHAPE), series.grid())},
        tmp_path / "a.dcm", series, method="hand",
    )  # fmt: skip
    assert main(["info", str(tmp_path / "a.dcm"), *options(study)]) == 2
    assert "no file contains a structure with voxels" in capsys.readouterr().err
