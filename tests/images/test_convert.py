from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.images.convert import Family, allocate, load, load_one, to_image
from itk_consensus.images.kept_metadata import Keep

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
REALS = [*INTEGERS, "float32", "float64"]
SHAPES = [(3, 4), (2, 3, 4), (2, 3, 4, 5)]
OWNER = "SomeImageFilter"


def voxels(shape: tuple[int, ...], dtype: str = "uint8") -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def sitk_image(array: np.ndarray) -> Any:
    image = sitk.GetImageFromArray(array, isVector=False)
    dimension = image.GetDimension()
    image.SetSpacing([0.5 + axis for axis in range(dimension)])
    image.SetOrigin([10.0 * axis for axis in range(dimension)])
    image.SetDirection(np.roll(np.eye(dimension), 1, axis=0).ravel().tolist())
    image.SetMetaData("PatientName", "Müller")
    image.SetMetaData("0008|0060", "SEG")
    return image


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def header(image: Any) -> tuple[Any, ...]:
    return image.GetSize(), image.GetSpacing(), image.GetOrigin(), image.GetDirection()


# ---- SimpleITK ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", REALS)
def test_simpleitk_voxels_are_viewed_not_copied(shape: tuple[int, ...], dtype: str) -> None:
    expected = voxels(shape, dtype)
    image = sitk_image(expected)
    loaded = load([image], owner=OWNER)
    (array,) = loaded.arrays
    np.testing.assert_array_equal(array, expected)
    assert array.dtype == dtype
    assert address(array) == address(sitk.GetArrayViewFromImage(image))
    assert loaded.family is Family.SIMPLEITK
    assert loaded.geometry.shape == shape
    assert loaded.geometry.spacing == image.GetSpacing()


def test_views_are_read_only() -> None:
    (array,) = load([sitk_image(voxels((3, 4)))], owner=OWNER).arrays
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1


def test_a_view_alone_keeps_its_simpleitk_image_alive_and_then_lets_it_go() -> None:
    expected = voxels((40, 50), "int32")
    image = sitk_image(expected)
    watched = weakref.ref(image)
    row = load([image], owner=OWNER).arrays[0][7]
    del image
    gc.collect()
    assert watched() is not None
    np.testing.assert_array_equal(row, expected[7])
    del row
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", REALS)
def test_simpleitk_round_trip_keeps_header_and_metadata(shape: tuple[int, ...], dtype: str) -> None:
    first = sitk_image(voxels(shape))
    answer = voxels(shape, dtype)
    image = to_image(answer, load([first, first], owner=OWNER, keep=Keep.EVERYTHING))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(image), answer)
    assert sitk.GetArrayViewFromImage(image).dtype == dtype
    assert header(image) == header(first)
    assert {k: image.GetMetaData(k) for k in image.GetMetaDataKeys()} == {
        "PatientName": "Müller",
        "0008|0060": "SEG",
    }


def test_latin1_metadata_of_old_files_survives(tmp_path: Path) -> None:
    path = tmp_path / "old.nrrd"
    named = sitk.Image([2, 2], sitk.sitkUInt8)
    named.SetMetaData("name", "M?ller")
    sitk.WriteImage(named, str(path))
    path.write_bytes(path.read_bytes().replace(b"M?ller", "Müller".encode("latin-1")))
    old = sitk.ReadImage(str(path))
    image = to_image(np.zeros((2, 2)), load([old], owner=OWNER, keep=Keep.EVERYTHING))
    assert image.GetMetaData("name") == "Müller"
    assert set(image.GetMetaDataKeys()) == set(old.GetMetaDataKeys())


@pytest.mark.parametrize("dtype", [*REALS, "bool"])
def test_a_simpleitk_output_is_written_in_its_own_memory(dtype: str) -> None:
    output = allocate(dtype, load([sitk_image(voxels((2, 3, 4)))], owner=OWNER))
    assert output.array.dtype == dtype
    assert output.array.flags.c_contiguous
    output.array[...] = voxels((2, 3, 4)) % 2
    image = output.image()
    assert address(output.array) == address(sitk.GetArrayViewFromImage(image))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(image), voxels((2, 3, 4)) % 2)


def test_an_output_array_keeps_its_image_alive() -> None:
    array = allocate("float64", load([sitk_image(voxels((60, 70)))], owner=OWNER)).array
    gc.collect()
    array[...] = 3.0
    others = [sitk.Image([70, 60], sitk.sitkFloat64) for _ in range(20)]
    assert (array == 3.0).all()
    assert len(others) == 20


def test_inputs_are_never_changed() -> None:
    image = sitk_image(voxels((3, 4)))
    before = sitk.Hash(image), header(image), image.GetMetaDataKeys()
    loaded = load([image], owner=OWNER, keep=Keep.EVERYTHING)
    output = to_image(loaded.arrays[0], loaded)
    output[0, 0] = 200
    output.SetMetaData("PatientName", "nobody")
    output.EraseMetaData("0008|0060")
    assert (sitk.Hash(image), header(image), image.GetMetaDataKeys()) == before
    assert image.GetMetaData("PatientName") == "Müller"
    assert loaded.metadata["PatientName"] == "Müller"


def test_subclasses_of_simpleitk_images_are_images() -> None:
    class Segmentation(sitk.Image):  # type: ignore[misc]
        pass

    loaded = load([Segmentation([4, 3], sitk.sitkUInt8)], owner=OWNER)
    assert loaded.geometry.size == (4, 3)


# ---- vector images, lists, missing raters --------------------------------------------------


def sitk_vector(components: int, shape: tuple[int, ...] = (2, 3, 4)) -> Any:
    return sitk.GetImageFromArray(voxels((*shape, components)), isVector=True)


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [v], lambda v: (v,), lambda v: iter([v])])
def test_a_vector_image_is_one_rater_per_component(wrap: Any) -> None:
    image = sitk_vector(3)
    loaded = load(wrap(image), owner=OWNER)
    assert len(loaded.arrays) == 3
    for component, array in enumerate(loaded.arrays):
        np.testing.assert_array_equal(array, voxels((2, 3, 4, 3))[..., component])
    assert loaded.owners == (image,)
    assert to_image(np.zeros((2, 3, 4)), loaded).GetNumberOfComponentsPerPixel() == 1


def test_vector_images_scalars_and_missing_raters_follow_one_another() -> None:
    scalar = sitk.GetImageFromArray(voxels((2, 3, 4), "int16"))
    loaded = load([None, sitk_vector(2), None, scalar, sitk_vector(1)], owner=OWNER)
    assert [None if a is None else a.dtype.name for a in loaded.arrays] == [
        *(None, "uint8", "uint8", None, "int16", "uint8")
    ]
    assert loaded.reference_index == 1


def test_a_scalar_image_alone_is_a_list_of_one() -> None:
    assert len(load(sitk_image(voxels((3, 4))), owner=OWNER).arrays) == 1


def test_generators_are_accepted() -> None:
    assert len(load((sitk_image(voxels((3, 4))) for _ in range(3)), owner=OWNER).arrays) == 3


def test_vector_views_keep_their_image_alive() -> None:
    image = sitk_vector(3)
    watched = weakref.ref(image)
    component = load(image, owner=OWNER).arrays[1]
    del image
    gc.collect()
    assert watched() is not None
    np.testing.assert_array_equal(component, voxels((2, 3, 4, 3))[..., 1])


# ---- arrays --------------------------------------------------------------------------------


def test_arrays_of_any_type_and_layout_are_viewed() -> None:
    base = voxels((4, 6), "int32")
    inputs = [
        base,
        np.asfortranarray(base),
        base.astype(">i4"),
        base.astype(bool),
        base.astype("float32"),
        np.repeat(base, 2, axis=1)[:, ::2],
    ]
    inputs[0].flags.writeable = False
    loaded = load(inputs, owner=OWNER)
    assert loaded.family is Family.NUMPY
    assert loaded.geometry.spacing == (1.0, 1.0)
    for array, given in zip(loaded.arrays, inputs, strict=True):
        assert np.shares_memory(array, given)
        assert array.dtype == given.dtype
        assert not array.flags.writeable


def test_loading_leaves_the_callers_array_writable() -> None:
    array = voxels((3, 4))
    load([array], owner=OWNER)
    assert array.flags.writeable


def test_arrays_come_back_as_themselves() -> None:
    loaded = load([voxels((3, 4))], owner=OWNER)
    answer = np.ones((3, 4), bool)
    assert to_image(answer, loaded) is answer
    output = allocate("int8", loaded)
    assert output.image() is output.array
    assert output.array.dtype == np.int8


def test_returning_an_input_array_gives_a_copy_in_c_order() -> None:
    given = np.asfortranarray(voxels((3, 4), ">i2"))
    loaded = load([given], owner=OWNER)
    returned = to_image(loaded.arrays[0], loaded)
    np.testing.assert_array_equal(returned, given)
    assert not np.shares_memory(returned, given)
    assert returned.flags.c_contiguous
    assert returned.dtype.isnative


def test_memory_mapped_arrays_stay_open(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", voxels((3, 4)))
    (view,) = load([np.load(tmp_path / "a.npy", mmap_mode="r")], owner=OWNER).arrays
    gc.collect()
    assert type(view) is np.ndarray
    np.testing.assert_array_equal(view, voxels((3, 4)))


# ---- errors --------------------------------------------------------------------------------

GOOD = sitk_image(voxels((3, 4)))


@pytest.mark.parametrize(
    ("images", "words"),
    [
        ([], "at least one image, got none"),
        ([None, None], "every input is None"),
        (None, "needs a list of images, got NoneType"),
        (7, "needs a list of images, got int"),
        (np.zeros((2, 3)), r"pass list\(a\) if the first axis is the rater"),
        ([GOOD, np.zeros((3, 4))], "input 0 is a SimpleITK image but input 1 is a NumPy array"),
        ([None, np.zeros((3, 4)), GOOD], "input 1 is a NumPy array but input 2 is a SimpleITK"),
        ("scan.nii.gz", "input 0 must be .* got the path 'scan.nii.gz'; read it first"),
        ([GOOD, Path("scan.nii.gz")], "input 1 must be .* got the path 'scan.nii.gz'"),
        ([[0, 1]], "input 0 must be an image of SimpleITK, .* or an array, got list"),
        ([np.zeros(3, complex)], "input 0 must be an array of .* array of complex128"),
        ([np.array(["a"])], "input 0 must be an array of .* array of <U1"),
        ([np.array([None])], "input 0 must be an array of .* array of object"),
        ([np.array(1)], "0-dimensional"),
        ([np.ma.masked_array([1, 2], [True, False])], "masked"),
        ([np.zeros((0, 3))], r"input 0 has no voxels: shape \(0, 3\)"),
        ([sitk.Image([0, 3], sitk.sitkUInt8)], r"input 0 has no voxels: size \(0, 3\)"),
        (sitk.Image(), "input 0 has no voxels"),
        ([sitk.Image([2, 2], sitk.sitkComplexFloat32)], "input 0 must be .* complex"),
        ([GOOD, sitk.Image([4, 3], sitk.sitkLabelUInt8)], "input 1 must be .* got .* label"),
    ],
)
def test_what_cannot_be_fused_is_refused_by_name(images: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        load(images, owner=OWNER)
    assert str(caught.value).startswith(f"{OWNER}: ")


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4)])
def test_different_grids_are_a_geometry_error(shape: tuple[int, ...]) -> None:
    with pytest.raises(GeometryError, match=r"input 1 does not occupy .* input 0"):
        load([voxels((3, 4)), voxels(shape)], owner=OWNER)
    with pytest.raises(GeometryError, match=r"input 2 does not occupy .* input 1"):
        load([None, GOOD, sitk_image(voxels(shape))], owner=OWNER)


def test_header_noise_is_judged_by_the_tolerances_given() -> None:
    first, noisy = sitk_image(voxels((3, 4))), sitk_image(voxels((3, 4)))
    noisy.SetOrigin([1e-5, 10.0])
    with pytest.raises(GeometryError, match=r"set CoordinateTolerance to 2\.2e-05"):
        load([first, noisy], owner=OWNER)
    loaded = load([first, noisy], owner=OWNER, coordinate_tolerance=2.2e-5)
    assert loaded.geometry.origin == (0.0, 10.0)
    noisy.SetOrigin([1e-7, 10.0])
    load([first, noisy], owner=OWNER)


def test_a_flipped_input_is_told_to_resample() -> None:
    first, flipped = sitk_image(voxels((3, 4))), sitk_image(voxels((3, 4)))
    flipped.SetDirection([-cosine for cosine in flipped.GetDirection()])
    with pytest.raises(GeometryError, match=r"sitk\.Resample"):
        load([first, flipped], owner=OWNER)


@pytest.mark.parametrize("dtype", ["float16", "complex64"])
def test_outputs_of_types_images_cannot_hold_are_refused(dtype: str) -> None:
    with pytest.raises(InputError, match=dtype):
        allocate(dtype, load([GOOD], owner=OWNER))


# ---- one additional image ------------------------------------------------------------------


def test_a_mask_is_viewed_and_keeps_its_image() -> None:
    like = load([GOOD], owner=OWNER)
    mask = load_one(sitk_image(voxels((3, 4), "int16")), like, owner=OWNER, parameter="MaskImage")
    gc.collect()
    np.testing.assert_array_equal(mask, voxels((3, 4)))
    given = np.ones((3, 4), bool)
    arrays = load([voxels((3, 4))], owner=OWNER)
    assert np.shares_memory(load_one(given, arrays, owner=OWNER, parameter="MaskImage"), given)


@pytest.mark.parametrize(
    ("inputs", "mask", "error", "words"),
    [
        ([GOOD], np.zeros((3, 4)), InputError, "must be an image like the inputs, got a NumPy"),
        ([np.zeros((3, 4))], GOOD, InputError, "must be an array like the inputs, got a SimpleITK"),
        (
            [np.zeros((3, 4))],
            np.zeros((4, 4)),
            GeometryError,
            r"shape \(4, 4\) instead of \(3, 4\)",
        ),
        ([GOOD], sitk.Image([4, 3], sitk.sitkUInt8), GeometryError, "as input 0: spacing"),
        ([None, GOOD], sitk.Image([4, 3], sitk.sitkUInt8), GeometryError, "as input 1: spacing"),
        ([GOOD], sitk_vector(2, (3, 4)), InputError, "must be a scalar image, got 2 components"),
        ([GOOD], "mask.nii.gz", InputError, "got the path 'mask.nii.gz'"),
    ],
)
def test_a_mask_that_does_not_fit_is_refused_by_name(
    inputs: Any, mask: Any, error: type[Exception], words: str
) -> None:
    like = load(inputs, owner=OWNER)
    with pytest.raises(error, match=words) as caught:
        load_one(mask, like, owner=OWNER, parameter="MaskImage")
    assert str(caught.value).startswith(f"{OWNER}: MaskImage ")


def test_mask_tolerances_can_be_raised() -> None:
    mask = sitk_image(voxels((3, 4)))
    mask.SetOrigin([0.01, 10.0])
    like = load([GOOD], owner=OWNER)
    load_one(mask, like, owner=OWNER, parameter="MaskImage", coordinate_tolerance=0.03)
    with pytest.raises(GeometryError):
        load_one(mask, like, owner=OWNER, parameter="MaskImage")


def test_importing_the_room_does_not_import_itk() -> None:
    script = (
        "import sys, itk_consensus.images.convert as c, SimpleITK as sitk\n"
        "loaded = c.load([sitk.Image([3, 3], sitk.sitkUInt8)], owner='x')\n"
        "c.allocate('float64', loaded).image()\n"
        "assert 'itk' not in sys.modules"
    )
    repository = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", script], cwd=repository, check=True)
