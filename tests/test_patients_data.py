"""Patient identity is not copied to outputs, files, pages, messages or reprs."""

from __future__ import annotations

import gzip
import io
import logging
import subprocess
import sys
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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
from itk_consensus.images.kept_metadata import Keep
from itk_consensus.methods.registry import FUSERS
from itk_consensus.review.case import case_of_result
from itk_consensus.review.session import ReviewSession

pydicom = pytest.importorskip("pydicom")
sys.path.insert(0, str(Path(__file__).parent / "images"))
from dicom_objects import position, write_contours, write_seg, write_series  # noqa: E402
from planted_patient import (  # noqa: E402
    GEOMETRY,
    GROUPS,
    KIND,
    NAME,
    UNREADABLE_BY_GDCM,
    VALUES,
    every_tag,
    plant,
    tells,
    what_tells,
)

SHAPE = (4, 24, 28)


def planted_series(folder: Path, *, unreadable: tuple[str, ...] = ()) -> list[Any]:
    """Write a CT with the planted identity in every tag; return its files and the planted
    values.
    """
    write_series(folder, SHAPE)
    slices = []
    for number, path in enumerate(sorted(folder.iterdir())):
        one = pydicom.dcmread(path)
        plant(one, number, unreadable=unreadable)
        drawn = np.zeros(SHAPE[1:], np.uint16)
        drawn[4:15, 5 : 12 + number % 3] = 1
        one.PixelData = drawn.tobytes()
        one.save_as(path)
        slices.append(one)
    return slices


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patient") / "series"
    planted_series(folder)
    return folder


def test_every_tag_of_the_four_groups_is_planted_with_every_kind_of_value(series: Path) -> None:
    """Check that all tags of pydicom's dictionary are planted, and that the search finds the
    values.
    """
    one = pydicom.dcmread(sorted(series.iterdir())[0])
    known = {tag for tag in pydicom.datadict.DicomDictionary if tag >> 16 in GROUPS}
    assert known <= set(every_tag()) <= set(one.keys())
    assert {kind for kinds in every_tag().values() for kind in kinds} <= {*VALUES, "SQ"}
    assert {0x00203100, 0x002031FF} <= set(one.keys())
    silent = {tag for tag in every_tag() if not tells(one[tag].value)}
    assert silent <= {*GEOMETRY, *KIND}
    assert sum(element.tag.is_private for element in one) > 100
    assert all(tells(element.value) for element in one if element.tag.is_private)


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write three readers' masks of one slice as DICOM images, without tags that GDCM cannot
    read.
    """
    folder = tmp_path_factory.mktemp("readers") / "masks"
    slices = planted_series(folder, unreadable=UNREADABLE_BY_GDCM)
    paths = sorted(folder.iterdir())[:3]
    for path, one in zip(paths, slices, strict=False):
        one.ImagePositionPatient = slices[0].ImagePositionPatient
        one.save_as(path)
    return paths


@pytest.fixture(scope="module")
def masks(readers: list[Path]) -> list[sitk.Image]:
    """Read the readers' masks, with all DICOM tags of the patient."""
    read = []
    for path in readers:
        reader = sitk.ImageFileReader()
        reader.SetFileName(str(path))
        reader.LoadPrivateTagsOn()
        image = sitk.Cast(reader.Execute(), sitk.sitkUInt8)
        for key in reader.GetMetaDataKeys():
            image.SetMetaData(key, reader.GetMetaData(key))
        for tag, (kind, *_) in every_tag().items():
            key = f"{tag >> 16:04x}|{tag & 0xFFFF:04x}"
            if not image.HasMetaDataKey(key) and kind != "SQ":
                image.SetMetaData(key, str(VALUES[kind]))
        image.SetMetaData("NRRD_space", "left-posterior")  # an entry that may be kept
        read.append(image)
    told = [key for key in read[0].GetMetaDataKeys() if tells(read[0].GetMetaData(key))]
    assert len({key for key in told if int(key[:4], 16) in GROUPS}) > 500
    return read


@contextmanager
def nothing_is_told(caplog: pytest.LogCaptureFixture) -> Iterator[list[Any]]:
    """Collect texts; then check that neither they nor warnings and logs contain the identity."""
    texts: list[Any] = []
    caplog.clear()
    with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        yield texts
    texts += [remark.message for remark in remarks]
    texts += [caplog.text, *(vars(record) for record in caplog.records)]
    assert not [told for text in texts if (told := what_tells(text))]


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
    fuser: Any, masks: list[sitk.Image], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with nothing_is_told(caplog) as texts:
        filter_ = fuser()
        for number, output in enumerate(outputs_of(filter_, masks)):
            keys = output.GetMetaDataKeys()
            assert not [key for key in keys if "|" in key]
            texts += [output, *map(output.GetMetaData, keys)]
            for suffix in ("nrrd", "mha", "nii"):
                path = tmp_path / f"{number}.{suffix}"
                sitk.WriteImage(output, str(path), useCompression=False)
                texts.append(path.read_bytes())
        diagnostics = filter_.GetDiagnostics()
        for shown in (filter_, filter_.fused, diagnostics, getattr(filter_, "run", None)):
            texts += [str(shown), repr(shown)]


def test_reports_and_statistics_tell_nobody(
    masks: list[sitk.Image], caplog: pytest.LogCaptureFixture
) -> None:
    """A report, the agreement and a band are tested, as text and as HTML for notebooks."""
    with nothing_is_told(caplog) as texts:
        agreement = ic.AgreementFilter()
        agreement.Execute(masks)
        consensus = ic.ConsensusFilter()
        consensus.Execute(masks)
        result = agreement.GetResult()
        things = [agreement, result, consensus, ic.agreement(masks), consensus.GetDiagnostics()]
        things += [result.pairs(), result.summary(), ic.show(consensus, masks[0])]
        for shown in things:
            texts += [str(shown), repr(shown), shown._repr_html_()]


@pytest.mark.parametrize("fuser", [ic.STAPLEImageFilter, ic.ConsensusFilter])
def test_keep_meta_data_keeps_all_of_it(fuser: Any, masks: list[sitk.Image]) -> None:
    """On request, outputs have all entries of the first image, and none of the other images."""
    fused = fuser(KeepMetaData="everything").Execute(masks)
    assert fused.GetMetaData("0010|0010") == masks[0].GetMetaData("0010|0010")
    assert set(fused.GetMetaDataKeys()) == set(masks[0].GetMetaDataKeys())


@pytest.mark.parametrize("name", ["STAPLE", "MultiLabelSTAPLE", "LabelVoting", "Consensus"])
def test_of_a_patients_masks_every_filter_keeps_what_describes_the_grid(
    name: str, masks: list[sitk.Image]
) -> None:
    assert getattr(ic, name)(masks).GetMetaDataKeys() == ("NRRD_space",)


@pytest.mark.parametrize("name", ["STAPLE", "MultiLabelSTAPLE", "LabelVoting", "Consensus"])
def test_a_key_that_a_pipeline_set_itself_stays(name: str) -> None:
    image = sitk.GetImageFromArray(np.eye(6, dtype=np.uint8))
    for key in ("study_arm", "PatientName", "who", "by", "note", "datatype", "0018|5100"):
        image.SetMetaData(key, "HFS")
    kept = getattr(ic, name)([image, image])
    assert sorted(kept.GetMetaDataKeys()) == ["0018|5100", "study_arm"]
    assert kept.GetMetaData("study_arm") == "HFS"
    nothing = getattr(ic, name)([image, image], keepMetaData="nothing")
    description = getattr(ic, name)([image, image], keepMetaData="description")
    assert nothing.GetMetaDataKeys() == description.GetMetaDataKeys() == ()


def test_the_global_default_of_metadata_holds_for_filters_that_say_nothing() -> None:
    image = sitk.GetImageFromArray(np.eye(6, dtype=np.uint8))
    image.SetMetaData("study_arm", "B")
    assert ic.ProcessObject.GetGlobalDefaultKeepMetaData() == "all_but_identity"
    ic.ProcessObject.SetGlobalDefaultKeepMetaData("Nothing")
    try:
        assert not ic.STAPLE([image, image]).GetMetaDataKeys()
        kept = ic.STAPLE([image, image], keepMetaData="all but identity")
        assert kept.GetMetaDataKeys() == ("study_arm",)
        with pytest.raises(ic.ParameterError, match="KeepMetaData must be one of nothing, desc"):
            ic.ProcessObject.SetGlobalDefaultKeepMetaData("some")
    finally:
        ic.ProcessObject.SetGlobalDefaultKeepMetaData("all_but_identity")


@pytest.mark.parametrize("fuse", [ic.STAPLE, ic.Consensus, ic.LabelVoting])
def test_an_image_that_shares_its_voxels_keeps_its_metadata_and_so_does_the_output(
    fuse: Any,
) -> None:
    """SimpleITK 2.5 drops the metadata as soon as the voxels are viewed."""
    image = sitk.GetImageFromArray(np.eye(6, dtype=np.uint8))
    image.SetMetaData("study_arm", "B")
    image.SetMetaData("0010|0010", NAME)
    shared = [sitk.Image(image) for _ in range(2)]
    fused = fuse(shared, keepMetaData="everything")
    for one in (fused, image, *shared):
        assert {key: one.GetMetaData(key) for key in one.GetMetaDataKeys()} == {
            "study_arm": "B",
            "0010|0010": NAME,
        }


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


@pytest.mark.parametrize(
    "key",
    ["0010|0010", "0010,0010", "(0010,0010)", "00100010", "0008|0060", "7fe0|0010", "00091001",
     "PatientName", "patientname", "patient_id", "Patient's name", "StudyDate", "study date",
     "StudyID", "studyid", "SeriesInstanceUID", "InstitutionName", "hospital", "Physician",
     "OperatorsName", "reader", "rater_id", "annotatedBy", "who", "by", "ScanTime", "mrn", "ID",
     "Comment", "comments", "ITK_FileNotes", "notes", "content", "NRRD_content", "description",
     "descrip", "aux_file", "intent_name", "db_name", "filename_or_obj", "source_path", "history",
     "Segment0_Name", "Segment12_Extent", "Segmentation_MasterRepresentation", "", " ", "_", "名前",
     "datatype", "bitpix", "scl_slope", "cal_max", "dim[1]", "pixdim[3]", "srow_x", "quatern_b",
     "ITK_original_spacing", "qto_xyz", "sto_ijk", "qfac", "created", "lastModified"],
)  # fmt: skip
def test_keys_that_speak_of_people_or_of_one_file_are_left_out(key: str) -> None:
    assert not Keep.ALL_BUT_IDENTITY(key, "1")


@pytest.mark.parametrize(
    "key", ["study_arm", "threshold", "Protocol", "spacing_rule", "slice_thickness", "calibrated",
            "model", "validated", "grid", "centroid", "dimension", "organ", "direction_cosines"],
)  # fmt: skip
def test_keys_that_speak_of_nobody_stay(key: str) -> None:
    assert Keep.ALL_BUT_IDENTITY(key, "B 2")
    assert not Keep.DESCRIPTION(key, "B 2")


@pytest.mark.parametrize(
    "value", [{"PatientName": NAME}, [{"name": NAME}], object(), b"DOE", np.array([{}], object)]
)
def test_what_may_hold_keys_of_its_own_is_left_out(value: Any) -> None:
    assert not Keep.ALL_BUT_IDENTITY("study_arm", value)
    assert Keep.ALL_BUT_IDENTITY("study_arm", ["B", 2, (1.5, True)])


@pytest.mark.parametrize(
    ("key", "kept"),
    [("NRRD_space", "left-posterior-superior"), ("NRRD_space", "3D-right-handed-time"),
     ("NRRD_kinds[0]", "domain"), ("NRRD_kinds[0]", "3D-masked-symmetric-matrix"),
     ("NRRD_centerings[2]", "cell"), ("NRRD_units[1]", '"mm"'), ("units", "micrometer"),
     ("qform_code_name", "NIFTI_XFORM_SCANNER_ANAT"), ("xyzt_units", "10"), ("space", "LPS"),
     ("affine", np.eye(4)), ("spatial_shape", (3, 4, 5)), ("original_channel_dim", "no_channel"),
     ("NRRD_measurement frame", "(1,0,0) (0,1,0) (0,0,1)"), ("direction", torch.eye(3))],
)  # fmt: skip
def test_descriptive_keys_hold_words_of_their_format_or_numbers(key: str, kept: Any) -> None:
    """Values are checked, since any key may contain a name."""
    assert Keep.DESCRIPTION(key, kept)
    assert Keep.ALL_BUT_IDENTITY(key, kept)
    assert not Keep.NOTHING(key, kept)
    for told in (NAME, f"{kept} {NAME}", [NAME], np.array([NAME]), np.array([NAME], object)):
        assert not Keep.DESCRIPTION(key, told)
        assert not Keep.ALL_BUT_IDENTITY(key, told)


def test_itk_images_tell_nobody(masks: list[sitk.Image]) -> None:
    images = []
    for mask in masks:
        image = itk.image_from_array(sitk.GetArrayFromImage(mask))
        image.GetMetaDataDictionary()["0010|0010"] = NAME
        image.GetMetaDataDictionary()["NRRD_space"] = "left-posterior"
        images.append(image)
    # itk's dictionaries are freed with their images, so references to the images must be kept.
    fused, voted = ic.Consensus(images), ic.LabelVoting(images)
    whole = ic.LabelVoting(images, keepMetaData="everything")
    assert tuple(fused.GetMetaDataDictionary().GetKeys()) == ("NRRD_space",)
    assert tuple(voted.GetMetaDataDictionary().GetKeys()) == ("NRRD_space",)
    assert whole.GetMetaDataDictionary()["0010|0010"] == NAME


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
    whole = ic.Consensus([image, image], keepMetaData="everything")
    assert all(whole.header[name] == image.header[name] for name in texts)


def test_tensors_and_data_arrays_tell_nobody() -> None:
    array = np.eye(5, dtype=np.uint8)[None].repeat(2, 0)
    meta = {"filename_or_obj": f"/{NAME}.dcm", "0010|0010": NAME, "space": "RAS"}
    tensor = MetaTensor(torch.from_numpy(array), affine=np.diag([2.0, 3, 4, 1]), meta=meta)
    fused = ic.Consensus([tensor, tensor])
    assert not tells(fused.meta)
    np.testing.assert_array_equal(fused.affine, tensor.affine)
    assert ic.Consensus([tensor, tensor], keepMetaData="everything").meta["0010|0010"] == NAME
    coordinates = {"x": ("x", np.arange(5.0), {"units": "mm", "by": NAME}), "patient": NAME}
    placed = xarray.DataArray(
        array, coordinates, ("z", "y", "x"), name=NAME, attrs={"who": NAME, "units": "1"}
    )
    fused = ic.Consensus([placed, placed])
    assert not tells(repr(fused))
    assert not tells(fused.to_dict())
    assert fused.attrs == {"units": "1"}
    assert fused.coords["x"].attrs == {"units": "mm"}
    xarray.testing.assert_identical(
        ic.Consensus([placed, placed], keepMetaData="everything"), placed
    )


def square(low: int, high: int, z: int) -> np.ndarray:
    corners = [(low, low), (high, low), (high, high), (low, high)]
    return np.array([position(x, y, z) for x, y in corners])


@pytest.fixture(scope="module")
def contours(series: Path) -> list[Path]:
    """Write two readers' RTSTRUCTs of the patient."""
    slices = [pydicom.dcmread(path) for path in sorted(series.iterdir())]
    paths = []
    for number in range(2):
        path = write_contours(
            series.with_name(f"contours{number}.dcm"),
            {"liver": [square(3, 12 + number, 1), square(3, 13, 2)]},
            slices,
        )
        dataset = pydicom.dcmread(path)
        plant(dataset, 10 + number)
        dataset.save_as(path)
        paths.append(path)
    return paths


def bare(one: Any) -> Any:
    """Return a slice without the planted values, but with its UIDs, for highdicom."""
    for tag in every_tag():
        if tag not in GEOMETRY + KIND and not pydicom.datadict.dictionary_keyword(tag).endswith(
            "UID"
        ):
            del one[tag]
    one.PatientID = one.PatientName = one.PatientBirthDate = one.PatientSex = one.StudyID = ""
    one.AccessionNumber = one.StudyDate = one.StudyTime = one.ReferringPhysicianName = ""
    return one


@pytest.fixture(scope="module")
def segmentations(series: Path) -> list[Path]:
    """Write two readers' SEGs of the patient."""
    slices = [bare(pydicom.dcmread(path)) for path in sorted(series.iterdir())]
    paths = []
    for number in range(2):
        drawn = np.zeros(SHAPE, bool)
        drawn[1:3, 4:14, 5 : 12 + number] = True
        path = write_seg(series.with_name(f"seg{number}.dcm"), {"liver": drawn}, slices, None)
        dataset = pydicom.dcmread(path)
        plant(dataset, 20 + number)
        dataset.save_as(path)
        paths.append(path)
    return paths


def test_series_and_structures_show_nobody(
    series: Path,
    contours: list[Path],
    segmentations: list[Path],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with nothing_is_told(caplog) as texts:
        given = ic.read_dicom_series(series)
        structures = {path.stem: ic.read_dicom_contours(path, given) for path in contours}
        structures |= {p.stem: ic.read_dicom_segmentation(p, given) for p in segmentations}
        matched = ic.match_structures(structures)
        fused = ic.fuse_structures(matched.masks(), ic.MajorityVoteFilter())
        for shown in (given, structures, matched, fused, structures["seg0"][0]):
            texts += [str(shown), repr(shown)]
        texts.append("".join(capfd.readouterr()))
    assert not fused["liver"].GetMetaDataKeys()
    assert "4 CT slices" in repr(given)
    assert tells(given.slices[0].PatientName)  # the name is available on explicit access


def told_within(dataset: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the keyword paths of all elements that contain parts of the identity."""
    for element in dataset:
        here = (*path, element.keyword or str(element.tag))
        if element.VR == "SQ":
            for item in element.value:
                yield from told_within(item, here)
        elif tells(element.value):
            yield here


#: Identity that an object of a study must have; the planted sex is not a valid term.
IDENTITY = {
    "PatientName", "PatientID", "PatientBirthDate", "StudyInstanceUID", "StudyDate", "StudyTime",
    "StudyID", "AccessionNumber", "ReferringPhysicianName", "FrameOfReferenceUID",
}  # fmt: skip
OF_SEG = {
    "SourceImageSequence ReferencedSOPInstanceUID",
    "ReferencedSeriesSequence SeriesInstanceUID",
    "ReferencedSeriesSequence ReferencedInstanceSequence ReferencedSOPInstanceUID",
    "PerFrameFunctionalGroupsSequence DerivationImageSequence SourceImageSequence "
    "ReferencedSOPInstanceUID",
}
_OF_FRAME = "ReferencedFrameOfReferenceSequence"
_OF_STUDY = f"{_OF_FRAME} RTReferencedStudySequence"
_OF_SERIES = f"{_OF_STUDY} RTReferencedSeriesSequence"
OF_RTSTRUCT = {
    f"{_OF_FRAME} FrameOfReferenceUID",
    f"{_OF_STUDY} ReferencedSOPInstanceUID",
    f"{_OF_SERIES} SeriesInstanceUID",
    f"{_OF_SERIES} ContourImageSequence ReferencedSOPInstanceUID",
    "ROIContourSequence ContourSequence ContourImageSequence ReferencedSOPInstanceUID",
    "StructureSetROISequence ReferencedFrameOfReferenceUID",
    "PredecessorStructureSetSequence ReferencedSOPInstanceUID",
}


def written_for(write: Callable[..., None], path: Path, source: Path, raters: list[Path]) -> Any:
    series = ic.read_dicom_series(source)
    drawn = np.zeros(SHAPE, np.uint8)
    drawn[1:3, 4:9, 4:9] = 1
    mask = sitk.GetImageFromArray(drawn)
    mask.CopyInformation(series.grid())
    write({"liver": mask}, path, series, method="MajorityVote", raters=raters)
    return pydicom.dcmread(path)


def test_a_seg_carries_the_identity_that_dicom_asks_for_and_no_more(
    series: Path, segmentations: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """highdicom would copy all patient, study, specimen and equipment modules."""
    with nothing_is_told(caplog):  # as in warnings and log lines
        seg = written_for(ic.write_dicom_segmentation, tmp_path / "a.dcm", series, segmentations)
    assert {" ".join(path) for path in told_within(seg)} == IDENTITY | OF_SEG
    assert not [element.tag for element in seg.iterall() if element.tag.is_private]


def test_an_rtstruct_carries_the_identity_that_dicom_asks_for_and_no_more(
    series: Path, contours: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with nothing_is_told(caplog):
        contoured = written_for(ic.write_dicom_contours, tmp_path / "a.dcm", series, contours)
    assert {" ".join(path) for path in told_within(contoured)} == IDENTITY | OF_RTSTRUCT
    assert not [element.tag for element in contoured.iterall() if element.tag.is_private]


@pytest.mark.parametrize(
    ("characters", "name"),
    [("ISO_IR 100", "Müßig^Jörg^^Dr.^KBE"),
     (["", "ISO 2022 IR 87"], "Yamada^Tarou=山田^太郎=やまだ^たろう"),
     ("ISO_IR 192", "Wáng^XiǎoDōng=王^小东"), ("GB18030", "Wang^XiaoDong=王^小东")],
)  # fmt: skip
@pytest.mark.parametrize("write", [ic.write_dicom_segmentation, ic.write_dicom_contours])
def test_names_are_carried_whole_in_every_character_set(
    write: Callable[..., None], characters: Any, name: str, tmp_path: Path
) -> None:
    write_series(tmp_path / "ct", SHAPE)
    for path in (tmp_path / "ct").iterdir():
        one = pydicom.dcmread(path)
        one.SpecificCharacterSet, one.PatientName, one.PatientSex = characters, name, "F"
        one.save_as(path)
    written = written_for(write, tmp_path / "a.dcm", tmp_path / "ct", [])
    assert str(written.PatientName) == name
    assert written.PatientSex == "F"


@pytest.mark.parametrize("write", [ic.write_dicom_segmentation, ic.write_dicom_contours])
def test_free_text_instead_of_a_date_or_a_sex_is_left_out(
    write: Callable[..., None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keywords = ("StudyDate", "StudyTime", "PatientBirthDate", "PatientSex")
    write_series(tmp_path / "ct", SHAPE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in (tmp_path / "ct").iterdir():
            one = pydicom.dcmread(path)
            for keyword in keywords:
                with pydicom.config.disable_value_validation():
                    setattr(one, keyword, NAME)
            one.save_as(path)
    assert all(tells(pydicom.dcmread(path).get(keyword)) for keyword in keywords)
    with nothing_is_told(caplog) as texts:
        written = written_for(write, tmp_path / "a.dcm", tmp_path / "ct", [])
        texts.append((tmp_path / "a.dcm").read_bytes())
    assert [written.get(keyword) for keyword in keywords] == [""] * 4


def test_the_first_file_that_a_process_reads_is_read_as_silently(
    series: Path, tmp_path: Path
) -> None:
    """pydicom's loggers are created when it is imported, after which a warning may already be
    logged.
    """
    one = pydicom.dcmread(next(series.iterdir()))
    (tmp_path / "ct").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one.SpecificCharacterSet = NAME
        one.save_as(tmp_path / "ct" / "a.dcm")
    program = (
        "import logging, sys; logging.basicConfig(level=1)\n"
        "from itk_consensus.images.dicom.series import read_dicom_series\n"
        "print(read_dicom_series(sys.argv[1]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "ct"], capture_output=True, check=True
    )
    assert b"1 CT slice" in ran.stdout
    assert not what_tells(ran.stdout + ran.stderr)


def test_threads_that_read_dicom_leave_warnings_and_loggers_as_they_were(tmp_path: Path) -> None:
    """Warning filters are global: if they were restored in the wrong order, some would be lost."""
    write_series(tmp_path / "ct", (3, 4, 4))
    before, interval = list(warnings.filters), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            read = list(pool.map(ic.read_dicom_series, [tmp_path / "ct"] * 16))
    finally:
        sys.setswitchinterval(interval)
    assert len({one.geometry for one in read}) == 1
    assert warnings.filters == before
    assert not logging.getLogger("pydicom").filters


@pytest.mark.parametrize("tag", KIND, ids=["character set", "class", "modality"])
def test_what_a_file_is_gets_named_in_terms_of_the_standard_only(
    tag: int,
    series: Path,
    contours: list[Path],
    segmentations: list[Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """If a modality, a class or a character set is replaced by a name, the name is not quoted."""
    value = VALUES["UI"] if tag == 0x00080016 else NAME
    for source in (*series.iterdir(), contours[0], segmentations[0]):
        one = pydicom.dcmread(source)
        is_slice = source.parent == series
        one.add_new(tag, "UI" if tag == 0x00080016 else "CS", value)
        (tmp_path / "ct").mkdir(exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one.save_as(tmp_path / ("ct" if is_slice else "") / source.name)
    with nothing_is_told(caplog) as texts:
        given = ic.read_dicom_series(tmp_path / "ct")
        texts += [str(given), repr(given)]
        calls: list[Callable[[], Any]] = [
            lambda: ic.read_dicom_contours(tmp_path / "contours0.dcm", given),
            lambda: ic.read_dicom_contours(tmp_path / "seg0.dcm", given),
            lambda: ic.read_dicom_segmentation(tmp_path / "seg0.dcm", given),
            lambda: ic.read_dicom_segmentation(tmp_path / "contours0.dcm", given),
            lambda: written_for(ic.write_dicom_segmentation, tmp_path / "a", tmp_path / "ct", []),
            lambda: written_for(ic.write_dicom_contours, tmp_path / "b", tmp_path / "ct", []),
        ]
        for call in calls:
            try:
                call()
            except (ic.InputError, ic.FileError) as error:
                texts += traceback.format_exception(error)
    if tag == 0x00080060:
        assert "4 DICOM slices" in repr(given)


def changed(path: Path, folder: Path, change: Callable[[Any], Any]) -> Path:
    """Copy a DICOM file to a folder, with a change."""
    one = pydicom.dcmread(path)
    change(one)
    folder.mkdir(exist_ok=True)
    one.save_as(folder / path.name)
    return folder / path.name


def of_another_series(one: Any) -> None:
    one.SeriesInstanceUID = f"{VALUES['UI']}.7.7"


def of_another_frame(one: Any) -> None:
    one.FrameOfReferenceUID = f"{VALUES['UI']}.8.8"


def without(keyword: str) -> Callable[[Any], None]:
    return lambda one: delattr(one, keyword)


def damaged(path: Path) -> None:
    """Write a name over the pixel spacing."""
    raw = path.read_bytes()
    spacing = raw.index(b"DS", raw.index(b"\x28\x00\x30\x00"))
    path.write_bytes(raw[: spacing + 4] + NAME.encode() + raw[spacing + 4 + len(NAME) :])


def test_errors_about_dicom_name_no_series_by_its_uid_and_quote_no_value(
    series: Path,
    contours: list[Path],
    segmentations: list[Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Errors report the number of slices by modality and series number, and explain how to
    choose.
    """
    first, *others = sorted(series.iterdir())
    for folder, change in (
        ("mixed", of_another_series),
        ("frames", of_another_frame),
        ("no frame", without("FrameOfReferenceUID")),
        ("no series", without("SeriesInstanceUID")),
        ("no place", without("ImagePositionPatient")),
        ("damaged", lambda one: None),
    ):
        changed(first, tmp_path / folder, change)
        for path in others if folder in ("mixed", "frames") else ():
            changed(path, tmp_path / folder, lambda one: None)
    damaged(tmp_path / "damaged" / first.name)
    for path in others:
        changed(path, tmp_path / "other", of_another_series)
        changed(path, tmp_path / "elsewhere", of_another_frame)
    given = ic.read_dicom_series(series)
    apart = ic.read_dicom_series(tmp_path / "other")
    chosen = ic.read_dicom_series(tmp_path / "mixed", number=1)
    elsewhere = ic.read_dicom_series(tmp_path / "elsewhere")
    lone = changed(contours[0], tmp_path, without("ReferencedFrameOfReferenceSequence"))
    wanted: list[tuple[str, Callable[[], Any]]] = [
        (r"holds 2 series \(1: 1 CT slice; 2: 3 CT slices\); choose one by its number .*--ser",
         lambda: ic.read_dicom_series(tmp_path / "mixed")),
        ("be 1 to 2, got 3", lambda: ic.read_dicom_series(tmp_path / "mixed", number=3)),
        ("must be 1 to 2", lambda: ic.read_dicom_series(tmp_path / "mixed", number=True)),
        (r"frames \(4 CT slices\): lies in 2 frames of ref",
         lambda: ic.read_dicom_series(tmp_path / "frames")),
        ("has no FrameOfRef", lambda: ic.read_dicom_series(tmp_path / "no frame")),
        ("has no SeriesInst", lambda: ic.read_dicom_series(tmp_path / "no series")),
        ("ImagePositionPatient", lambda: ic.read_dicom_series(tmp_path / "no place")),
        ("", lambda: ic.read_dicom_series(tmp_path / "damaged")),
        (r"another series than series .*other \(3 CT slices\); give the one it refers to",
         lambda: ic.read_dicom_contours(contours[0], apart)),
        (r"another series than series 1 of 2 of .* \(1 CT slice\); it is number 2 there",
         lambda: ic.read_dicom_segmentation(segmentations[0], chosen)),
        (r"another frame of reference than series .*elsewhere",
         lambda: ic.read_dicom_contours(contours[0], elsewhere)),
        ("another frame of", lambda: ic.read_dicom_segmentation(segmentations[0], elsewhere)),
        ("references no series", lambda: ic.read_dicom_contours(lone, given)),
        ("is a DICOM SEG, not an", lambda: ic.read_dicom_contours(segmentations[0], given)),
        ("is a DICOM RTSTRUCT, not a", lambda: ic.read_dicom_segmentation(contours[0], given)),
    ]  # fmt: skip
    with nothing_is_told(caplog) as texts:
        for message, call in wanted:
            with pytest.raises((ic.InputError, ic.FileError, ic.GeometryError), match=message) as r:
                call()
            texts += traceback.format_exception(r.value)


def test_a_series_is_chosen_by_its_number_and_uids_are_shown_to_who_asks(
    series: Path,
    contours: list[Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "both"
    for path in series.iterdir():
        changed(path, folder, lambda one: None)
    changed(next(series.iterdir()), tmp_path / "scout", of_another_series).rename(folder / "~.dcm")
    command = ["fuse", "--per-structure", "--series", folder, *contours]
    with nothing_is_told(caplog) as texts:
        assert main([*map(str, command), "-o", str(tmp_path / "a.seg.nrrd")]) != 0
        refused = "".join(capfd.readouterr())
        assert "2 series (1: 4 CT slices; 2: 1 CT slice)" in refused
        options = ["--series-number", "1", "-o", str(tmp_path / "a.seg.nrrd")]
        assert main([*map(str, command), *options]) == 0
        assert main(["info", str(folder)]) == 0
        listed = "".join(capfd.readouterr())
        assert "series 1 of 2: 4 CT slices" in listed
        texts += [refused, listed, (tmp_path / "a.seg.nrrd").read_bytes()]
    assert main(["info", str(folder), "--show-identity"]) == 0
    assert f"SeriesInstanceUID {VALUES['UI']}.7.7" in capfd.readouterr().out
    chosen = ic.read_dicom_series(folder, number=2)
    assert chosen.uid == f"{VALUES['UI']}.7.7"


def test_notes_of_one_reader_about_a_segment_are_not_the_consensuss(tmp_path: Path) -> None:
    """Only terminology is copied, without private tags and fields added by modules."""
    drawn = np.zeros((3, 9, 9), np.uint8)
    drawn[1, 2:6, 2:6] = 1
    terms = "TerminologyEntry:x~SCT^123037004^Anatomical Structure~SCT^10200004^Liver~^^~y~^^~^^"
    notes = {"Tags": f"Reader:{NAME}|{terms}|", "ID": NAME, "Comment": NAME}
    one = ic.Structure("liver", sitk.GetImageFromArray(drawn), details=notes)
    for name in "ab":
        ic.write_slicer_segmentation([one], tmp_path / f"{name}.seg.nrrd")
        assert tells((tmp_path / f"{name}.seg.nrrd").read_bytes())
    words = [*(str(tmp_path / f"{name}.seg.nrrd") for name in "ab"), "--per-structure", "-o"]
    assert main(["fuse", *words, str(tmp_path / "c.seg.nrrd")]) == 0
    written = (tmp_path / "c.seg.nrrd").read_bytes()
    assert not tells(written)
    assert terms.encode() in written


class Terminal(io.StringIO):
    """A stderr to which progress is written as in a terminal."""

    def isatty(self) -> bool:
        return True


def contents(path: Path) -> bytes:
    """Return all texts in a file, including the metadata of images."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            raw = b"".join(book.read(name) for name in book.namelist())
    if path.suffix in (".nrrd", ".mha", ".nii"):
        image = sitk.ReadImage(str(path))
        raw += "".join(image.GetMetaData(key) for key in image.GetMetaDataKeys()).encode()
    return raw


def test_no_command_prints_or_writes_the_patient(
    readers: list[Path],
    masks: list[sitk.Image],
    series: Path,
    contours: list[Path],
    segmentations: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    Path("in").mkdir()
    Path("out").mkdir()
    inputs = []
    for number, mask in enumerate(masks):
        inputs.append(f"in/{number}.nrrd")
        sitk.WriteImage(mask, inputs[-1])
        assert tells(Path(inputs[-1]).read_bytes())
    probability = sitk.Cast(
        sum(sitk.Cast(mask, sitk.sitkFloat64) for mask in masks) / 3.0, sitk.sitkFloat64
    )
    for key in masks[0].GetMetaDataKeys():
        probability.SetMetaData(key, masks[0].GetMetaData(key))
    rows = ["case,probability,reference,raters"]
    for number in range(10):
        sitk.WriteImage(probability, f"in/p{number}.nrrd")
        truth = sitk.Image(masks[number % 2 * 2])
        truth[(number, *[0] * (truth.GetDimension() - 1))] = 1  # makes every case unique
        sitk.WriteImage(truth, f"in/t{number}.nrrd")
        rows.append(f"{number},in/p{number}.nrrd,in/t{number}.nrrd,{';'.join(inputs)}")
    Path("calibration.csv").write_text("\n".join(rows) + "\n")
    both = [f"{case},{';'.join(inputs)}\n" for case in ("one", "two")]
    Path("cases.csv").write_text("case,raters\n" + "".join(both))
    consensus = ic.ConsensusFilter()
    consensus.Execute([sitk.ReadImage(path) for path in inputs])
    record = Path("out/decided.review.json")
    case = case_of_result(
        consensus.GetResult(), files=[Path(path) for path in inputs], record=record
    )
    ReviewSession(case, Path("out/decided.nrrd"), who="reviewer").keep()
    assert record.is_file()
    per_structure = ["fuse", "--per-structure", "--series", series]
    runs: list[list[Any]] = [
        ["fuse", *inputs, "-o", "out/fused.nrrd", "--probability", "out/p.nrrd", "--uncertainty",
         "out/u.mha", "--json", "out/f.json", "--report", "out/f.html"],
        ["fuse", *inputs, "-o", "out/staple.nii.gz", "--method", "staple", "--json", "out/s.json"],
        ["fuse", *readers, "-o", "out/dicom.mha", "--json", "out/d.json", "--report", "out/d.html"],
        ["agreement", *inputs, "--csv", "out/a.csv", "--json", "out/a.json"],
        ["agreement", *readers],
        ["report", *inputs, "-o", "out/r.html"],
        ["info", *inputs],
        ["info", *readers, series],
        ["fuse", *inputs, "-o", "out/fused.zarr", "--method", "staple"],
        ["atlas", "-t", "in/p0.nrrd", "-g", *["in/p1.nrrd"] * 3, "-l", *inputs,
         "-o", "out/atlas.nrrd"],
        ["adjudicate", "out/decided.review.json", "-o", "out/decided.nrrd"],
        ["batch", "cases.csv", "-o", "out/batch", "--jobs", "1"],
        ["batch", "cases.csv", "-o", "out/two", "--jobs", "2"],
        ["calibrate", "calibration.csv", "-o", "out/calibration.json", "--alpha", "0.2"],
        ["band", "in/p0.nrrd", "--raters", *inputs, "--calibration", "out/calibration.json", "-o",
         "out/band.nrrd"],
        [*per_structure, *contours, "-o", "out/s.seg.nrrd"],
        [*per_structure, *segmentations, "-o", "out/t.seg.nrrd"],
        [*per_structure, *contours, "-o", "out/u.seg.nrrd", "--report", "out/u.html", "--json",
         "out/u.json", "--uncertainty", "out/u-{structure}.nrrd", "--contact-sheet"],
        ["agreement", "--per-structure", "--series", series, *contours, "--csv", "out/v.csv"],
        ["info", "--per-structure", "--series", series, *contours],
        ["batch", "cases.csv", "-o", "out/bids", "--bids-output", "--reports", "--excel"],
    ]  # fmt: skip
    failing: list[list[Any]] = [
        ["fuse", inputs[0], contours[0], "-o", "out/x.nrrd"],
        ["fuse", inputs[0], segmentations[0], "-o", "out/x.nrrd"],
        ["fuse", readers[0], series / "000.dcm", "-o", "out/x.nrrd"],
        ["fuse", "--per-structure", *contours, "-o", "out/x.seg.nrrd"],
        ["info", contours[0]],
        ["info", *readers, inputs[0], sorted(series.iterdir())[-1]],
    ]
    with nothing_is_told(caplog) as texts:
        for arguments in (*runs, *failing):
            code = main([str(word) for word in arguments])
            printed = "".join([*capfd.readouterr(), terminal.getvalue()])
            terminal.truncate(terminal.seek(0))
            texts.append(printed)
            assert (code == 0) is (arguments in runs), f"{arguments}: {printed}"
        assert "#" in "".join(texts)  # the progress was written
        written = [path for path in Path("out").rglob("*") if path.is_file()]
        assert len(written) >= 17
        texts += map(contents, written)
