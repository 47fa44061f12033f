"""Patients' data stay where they were: no name goes into an output, a file, a page or a repr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import itk
import nibabel
import numpy as np
import pytest
import SimpleITK as sitk
import torch
import xarray
from monai.data import MetaTensor

import itk_consensus as ic
from itk_consensus.cli import main
from itk_consensus.filters.registry import FUSERS
from itk_consensus.images.kept_metadata import Keep

pydicom = pytest.importorskip("pydicom")
sys.path.insert(0, str(Path(__file__).parent / "images"))
from dicom_objects import SHAPE, position, write_contours, write_series  # noqa: E402

NAME, DATE, UID = "ZWERGNASE", "19340229", "2.25.31415926535897932384"
GROUPS = (0x0008, 0x0010, 0x0020, 0x0040)
TEXTS = ("PN", "LO", "SH", "LT", "ST", "UT", "UC", "AE", "CS")
#: What tells a file's kind and place; nobody's name.
NEEDED = (0x00080005, 0x00080016, 0x00080018, 0x00080060, 0x0020000E, 0x00200052)


def plant(dataset: Any) -> int:
    """Write a name into every tag of the groups that can hold one, a date and a UID likewise."""
    from pydicom.datadict import DicomDictionary

    number = 0
    for tag, (vr, *_) in DicomDictionary.items():
        if tag >> 16 not in GROUPS or tag in NEEDED:
            continue
        value = NAME if vr in TEXTS else {"DA": DATE, "DT": DATE, "UI": UID}.get(vr)
        if value is not None:
            dataset.add_new(tag, vr, value)
            number += 1
    return number


def tells(text: Any) -> bool:
    """Whether somebody's name, birthday or study can be read in it."""
    raw = text if isinstance(text, bytes) else str(text).encode(errors="replace")
    return (
        any(word.encode() in raw for word in (NAME, DATE, UID)) or NAME.encode("utf-16-le") in raw
    )


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DICOM series of somebody whose name is everywhere."""
    folder = tmp_path_factory.mktemp("patient") / "series"
    write_series(folder)
    for path in folder.iterdir():
        one = pydicom.dcmread(path)
        assert plant(one) > 300
        drawn = np.zeros(SHAPE[1:], np.uint16)
        drawn[4:15, 5 : 12 + int(one.InstanceNumber) % 3] = 1
        one.PixelData = drawn.tobytes()
        one.save_as(path)
    return folder


@pytest.fixture
def masks(series: Path) -> list[sitk.Image]:
    """Three readers' slices, on one grid, with all that DICOM says of the patient."""
    read = []
    for path in sorted(series.iterdir())[:3]:
        reader = sitk.ImageFileReader()
        reader.SetFileName(str(path))
        reader.LoadPrivateTagsOn()
        image = sitk.Cast(reader.Execute()[:, :, 0], sitk.sitkUInt8)
        for key in reader.GetMetaDataKeys():
            image.SetMetaData(key, reader.GetMetaData(key))
        image.SetOrigin((0.0, 0.0))
        read.append(image)
    assert sum(NAME in read[0].GetMetaData(key) for key in read[0].GetMetaDataKeys()) > 100
    return read


def outputs_of(filter_: Any, images: list[Any]) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield filter_.Execute(images)
        yield filter_.GetLabelImage()
        yield filter_.GetProbabilityImage()
        yield filter_.GetUncertaintyImage()
        yield filter_.GetDiceOptimalImage()


@pytest.mark.parametrize("fuser", FUSERS, ids=lambda fuser: fuser.__name__)
def test_no_output_of_any_fuser_tells_the_patient(
    fuser: Any, masks: list[sitk.Image], tmp_path: Path
) -> None:
    filter_ = fuser()
    for number, output in enumerate(outputs_of(filter_, masks)):
        keys = output.GetMetaDataKeys()
        assert not [key for key in keys if tells(output.GetMetaData(key)) or "|" in key]
        for suffix in ("nrrd", "mha", "nii"):
            path = tmp_path / f"{number}.{suffix}"
            sitk.WriteImage(output, str(path), useCompression=False)
            assert not tells(path.read_bytes())
    told = [filter_, repr(filter_), repr(filter_.fused), filter_.GetDiagnostics()]
    assert not [text for text in told if tells(text)]


@pytest.mark.parametrize("fuser", [ic.STAPLEImageFilter, ic.ConsensusFilter])
def test_keep_meta_data_keeps_all_of_it(fuser: Any, masks: list[sitk.Image]) -> None:
    """Who asks for it gets what the first reader's image had, and nothing of the others'."""
    fused = fuser(KeepMetaData=True).Execute(masks)
    assert fused.GetMetaData("0010|0010") == masks[0].GetMetaData("0010|0010")
    assert set(fused.GetMetaDataKeys()) == set(masks[0].GetMetaDataKeys())


@pytest.mark.parametrize("name", ["STAPLE", "MultiLabelSTAPLE", "LabelVoting"])
def test_drop_ins_keep_as_much_metadata_as_simpleitk_none(
    name: str, masks: list[sitk.Image]
) -> None:
    for image in masks:
        image.SetMetaData("NRRD_space", "left-posterior")
    theirs, ours = getattr(sitk, name)(masks), getattr(ic, name)(masks)
    assert theirs.GetMetaDataKeys() == ours.GetMetaDataKeys() == ()
    assert ic.Consensus(masks).GetMetaDataKeys() == ("NRRD_space",)


def test_what_describes_the_grid_of_files_is_kept_and_their_texts_are_not(tmp_path: Path) -> None:
    image = sitk.GetImageFromArray(np.eye(6, dtype=np.uint8))
    image.SetMetaData("descrip", NAME)
    image.SetMetaData("aux_file", NAME)
    for suffix in ("nrrd", "nii.gz"):
        sitk.WriteImage(image, str(tmp_path / f"a.{suffix}"))
    for suffix, kept in (("nrrd", "NRRD_kinds[0]"), ("nii.gz", "qform_code")):
        fused = ic.Consensus([sitk.ReadImage(str(tmp_path / f"a.{suffix}"))] * 2)
        assert kept in fused.GetMetaDataKeys()
        assert not any(tells(fused.GetMetaData(key)) for key in fused.GetMetaDataKeys())


@pytest.mark.parametrize(
    "key",
    ["0010|0010", "0010|0020", "0008|0090", "0008|0050", "0020|000d", "0040|a123", "PatientName",
     "ITK_FileNotes", "descrip", "intent_name", "NRRD_content", "filename_or_obj", "Comment", ""],
)  # fmt: skip
def test_the_allow_list_lets_no_identity_through(key: str) -> None:
    assert not Keep.DESCRIPTION(key, "1")
    assert Keep.EVERYTHING(key, "1")


def test_itk_images_tell_nobody(masks: list[sitk.Image]) -> None:
    images = []
    for mask in masks:
        image = itk.image_from_array(sitk.GetArrayFromImage(mask))
        image.GetMetaDataDictionary()["0010|0010"] = NAME
        image.GetMetaDataDictionary()["NRRD_space"] = "left-posterior"
        images.append(image)
    assert tuple(ic.Consensus(images).GetMetaDataDictionary().GetKeys()) == ("NRRD_space",)
    assert tuple(ic.LabelVoting(images).GetMetaDataDictionary().GetKeys()) == ()
    kept = ic.LabelVoting(images, keepMetaData=True).GetMetaDataDictionary()
    assert kept["0010|0010"] == NAME


@pytest.mark.parametrize(
    "make", [nibabel.Nifti1Image, nibabel.Nifti2Image, nibabel.Spm2AnalyzeImage, nibabel.MGHImage]
)
def test_headers_of_nibabel_tell_where_and_not_who(make: Any) -> None:
    affine = np.diag([2.0, 3.0, 4.0, 1.0])
    image = make(np.eye(4, dtype=np.uint8)[..., None].repeat(3, -1), affine)
    texts = [name for name in ("descrip", "aux_file", "db_name", "intent_name", "patient_id")
             if name in image.header.keys()]  # fmt: skip  # noqa: SIM118 - no dict
    for name in texts:
        image.header[name] = NAME[: image.header.structarr[name].dtype.itemsize]
    if hasattr(image.header, "extensions"):
        image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", NAME.encode()))
        image.header.set_xyzt_units("mm", "sec")
        image.set_sform(affine, code="scanner")
    fused = ic.Consensus([image, image])
    assert type(fused) is make
    np.testing.assert_allclose(fused.affine, image.affine)
    assert fused.header.get_zooms() == image.header.get_zooms()
    assert not any(NAME[:8].encode() in fused.header[name].tobytes() for name in texts)
    if hasattr(image.header, "extensions"):
        assert not fused.header.extensions
        assert fused.header.get_xyzt_units() == ("mm", "sec")
        assert fused.get_sform(coded=True)[1] == 1
    whole = ic.Consensus([image, image], keepMetaData=True)
    assert all(whole.header[name] == image.header[name] for name in texts)


def test_tensors_and_data_arrays_tell_nobody() -> None:
    array = np.eye(5, dtype=np.uint8)[None].repeat(2, 0)
    meta = {"filename_or_obj": f"/{NAME}.dcm", "0010|0010": NAME, "space": "RAS"}
    tensor = MetaTensor(torch.from_numpy(array), affine=np.diag([2.0, 3, 4, 1]), meta=meta)
    fused = ic.Consensus([tensor, tensor])
    assert not tells(fused.meta)
    np.testing.assert_array_equal(fused.affine, tensor.affine)
    assert ic.Consensus([tensor, tensor], keepMetaData=True).meta["0010|0010"] == NAME
    coordinates = {"x": ("x", np.arange(5.0), {"units": "mm", "by": NAME}), "patient": NAME}
    placed = xarray.DataArray(
        array, coordinates, ("z", "y", "x"), name=NAME, attrs={"who": NAME, "units": "1"}
    )
    fused = ic.Consensus([placed, placed])
    assert not tells(repr(fused))
    assert not tells(fused.to_dict())
    assert fused.attrs == {"units": "1"}
    assert fused.coords["x"].attrs == {"units": "mm"}
    xarray.testing.assert_identical(ic.Consensus([placed, placed], keepMetaData=True), placed)


def square(low: int, high: int, z: int) -> np.ndarray:
    corners = [(low, low), (high, low), (high, high), (low, high)]
    return np.array([position(x, y, z) for x, y in corners])


@pytest.fixture
def contours(series: Path, tmp_path: Path) -> list[Path]:
    """Two readers' RTSTRUCTs of the patient."""
    slices = [pydicom.dcmread(path) for path in sorted(series.iterdir())]
    paths = []
    for number in range(2):
        path = write_contours(
            tmp_path / f"reader{number}.dcm",
            {"liver": [square(3, 12 + number, 2), square(3, 13, 3)]},
            slices,
        )
        dataset = pydicom.dcmread(path)
        plant(dataset)
        dataset.save_as(path)
        paths.append(path)
    return paths


def test_series_and_structures_show_nobody(
    series: Path, contours: list[Path], capfd: pytest.CaptureFixture[str]
) -> None:
    given = ic.read_dicom_series(series)
    assert tells(given.slices[0].PatientName)
    readers = {path.stem: ic.read_dicom_contours(path, given) for path in contours}
    matched = ic.match_structures(readers)
    fused = ic.FuseStructures(matched.masks(), ic.MajorityVoteFilter())
    shown = [given, readers, matched, fused, readers["reader0"][0]]
    assert not [one for one in shown if tells(str(one)) or tells(repr(one))]
    assert not fused["liver"].GetMetaDataKeys()
    assert not tells("".join(capfd.readouterr()))


def test_errors_quote_no_value_of_a_data_set(series: Path, tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    one = pydicom.dcmread(next(series.iterdir()))
    del one.ImagePositionPatient
    one.save_as(tmp_path / "odd" / "a.dcm")
    raw = (tmp_path / "odd" / "a.dcm").read_bytes()
    with pytest.raises(ic.InputError, match="ImagePositionPatient") as raised:
        ic.read_dicom_series(tmp_path / "odd")
    assert not tells(raised.value)
    spacing = raw.index(b"DS", raw.index(b"\x28\x00\x30\x00"))
    damaged = raw[: spacing + 4] + NAME.encode() + raw[spacing + 4 + len(NAME) :]
    (tmp_path / "odd" / "a.dcm").write_bytes(damaged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ic.InputError, ic.FileError)) as raised:
            ic.read_dicom_series(tmp_path / "odd")
    assert not tells(raised.value)
    assert raised.value.__cause__ is None


def test_no_command_prints_or_writes_the_patient(
    masks: list[sitk.Image],
    series: Path,
    contours: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("out").mkdir()
    inputs = []
    for number, mask in enumerate(masks):
        inputs.append(f"in/{number}.nrrd")
        sitk.WriteImage(mask, inputs[-1])
        assert tells(Path(inputs[-1]).read_bytes())
    Path("cases.csv").write_text(f"case,raters\none,{';'.join(inputs)}\n")
    runs: list[list[Any]] = [
        ["fuse", *inputs, "-o", "out/fused.nrrd", "--probability", "out/p.nrrd", "--uncertainty",
         "out/u.mha", "--json", "out/f.json", "--report", "out/f.html"],
        ["fuse", *inputs, "-o", "out/staple.nrrd", "--method", "staple", "--json", "out/s.json"],
        ["agreement", *inputs, "--csv", "out/a.csv", "--json", "out/a.json"],
        ["report", *inputs, "-o", "out/r.html"],
        ["info", *inputs],
        ["batch", "cases.csv", "-o", "out/batch", "--jobs", "1"],
        ["fuse", "--per-structure", "--series", series, *contours, "-o", "out/s.seg.nrrd"],
    ]  # fmt: skip
    said = ""
    for arguments in runs:
        code = main([str(word) for word in arguments])
        printed = "".join(capfd.readouterr())
        said += printed
        assert code == 0, f"{arguments[0]}: {printed}"
    assert not tells(said)
    written = [path for path in Path("out").rglob("*") if path.is_file()]
    assert len(written) >= 11
    for path in written:
        raw = path.read_bytes()
        if path.suffix in (".nrrd", ".mha"):
            image = sitk.ReadImage(str(path))
            raw += "".join(image.GetMetaData(key) for key in image.GetMetaDataKeys()).encode()
        assert not tells(raw), path
