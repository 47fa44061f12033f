from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.images.convert import Family, allocate, load, load_one, to_image
from itk_consensus.images.kept_metadata import Keep

itk = pytest.importorskip("itk")

OWNER = "SomeImageFilter"
SHAPES = [(3, 4), (2, 3, 4), (2, 3, 4, 5)]
WRAPPED = ["uint8", "uint16", "uint32", "uint64", "int16", "int32", "float32", "float64"]


def voxels(shape: tuple[int, ...], dtype: str = "uint8") -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def itk_image(array: np.ndarray, **arguments: Any) -> Any:
    image = itk.image_from_array(np.ascontiguousarray(array), **arguments)
    dimension = image.GetImageDimension()
    image.SetSpacing([0.5 + axis for axis in range(dimension)])
    image.SetOrigin([10.0 * axis for axis in range(dimension)])
    image.SetDirection(itk.matrix_from_array(np.roll(np.eye(dimension), 1, axis=0)))
    image.GetMetaDataDictionary()["PatientName"] = "Müller"
    image.GetMetaDataDictionary()["Dose"] = 2.5
    return image


def header(image: Any) -> tuple[Any, ...]:
    region = image.GetLargestPossibleRegion()
    return (
        tuple(region.GetIndex()),
        tuple(region.GetSize()),
        tuple(image.GetSpacing()),
        tuple(image.GetOrigin()),
        np.asarray(image.GetDirection()).tolist(),
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", WRAPPED)
def test_itk_voxels_are_viewed_not_copied(shape: tuple[int, ...], dtype: str) -> None:
    image = itk_image(voxels(shape, dtype))
    loaded = load([image], owner=OWNER)
    (array,) = loaded.arrays
    np.testing.assert_array_equal(array, voxels(shape, dtype))
    assert array.dtype == dtype
    assert type(array) is np.ndarray
    assert not array.flags.writeable
    assert np.shares_memory(array, itk.array_view_from_image(image))
    assert loaded.family is Family.ITK
    assert loaded.geometry.shape == shape
    assert loaded.geometry.spacing == tuple(0.5 + axis for axis in range(len(shape)))


def test_boolean_itk_images_are_read() -> None:
    image = itk.Image[itk.B, 2].New()
    image.SetRegions([4, 3])
    image.Allocate()
    image.FillBuffer(False)
    image.SetPixel([1, 2], True)
    (array,) = load([image], owner=OWNER).arrays
    assert array.dtype == np.bool_
    assert np.argwhere(array).tolist() == [[2, 1]]


def test_a_view_alone_keeps_its_itk_image_alive() -> None:
    image = itk_image(voxels((40, 50), "int32"))
    references = image.GetReferenceCount()
    row = load([image], owner=OWNER).arrays[0][7]
    del image
    gc.collect()
    others = [itk_image(np.full((40, 50), 9, "int32")) for _ in range(20)]
    np.testing.assert_array_equal(row, voxels((40, 50), "int32")[7])
    assert references == 1
    assert len(others) == 20


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", WRAPPED)
def test_itk_round_trip_keeps_header_and_metadata(shape: tuple[int, ...], dtype: str) -> None:
    first = itk_image(voxels(shape))
    image = to_image(voxels(shape, dtype), load([first], owner=OWNER, keep=Keep.EVERYTHING))
    np.testing.assert_array_equal(itk.array_from_image(image), voxels(shape, dtype))
    assert itk.array_view_from_image(image).dtype == dtype
    assert header(image) == header(first)
    metadata = image.GetMetaDataDictionary()
    assert {key: metadata[key] for key in metadata.GetKeys()} == {
        "PatientName": "Müller",
        "Dose": 2.5,
    }


@pytest.mark.parametrize("dtype", [*WRAPPED, "bool"])
def test_an_itk_output_is_written_in_its_own_memory(dtype: str) -> None:
    output = allocate(dtype, load([itk_image(voxels((2, 3, 4)))], owner=OWNER))
    assert output.array.dtype == dtype
    assert output.array.flags.c_contiguous
    output.array[...] = voxels((2, 3, 4)) % 2
    image = output.image()
    assert np.shares_memory(output.array, itk.array_view_from_image(image))
    np.testing.assert_array_equal(itk.array_from_image(image), voxels((2, 3, 4)) % 2)


@pytest.mark.parametrize(
    ("values", "dtype", "stored"),
    [
        ([-128, 0, 127, 5], "int8", "int16"),
        ([0, 1, 2, 3], "int8", "int16"),
        ([0, 1, 2**62 + 1, 5], "int64", "uint64"),
        ([-5, 1, -(2**53), 2**53], "int64", "float64"),
    ],
)
def test_types_itk_does_not_wrap_become_the_next_wider(
    values: list[int], dtype: str, stored: str
) -> None:
    answer = np.reshape(values, (2, 2)).astype(dtype)
    loaded = load([itk_image(voxels((2, 2)))], owner=OWNER, keep=Keep.EVERYTHING)
    output = allocate(dtype, loaded)
    assert output.array.dtype == dtype
    output.array[...] = answer
    image = output.image()
    assert itk.array_view_from_image(image).dtype == stored
    assert [int(value) for value in itk.array_from_image(image).ravel()] == values
    assert image.GetMetaDataDictionary()["PatientName"] == "Müller"


def test_values_no_itk_image_can_hold_are_refused_not_rounded() -> None:
    like = load([itk_image(voxels((1, 2)))], owner=OWNER)
    with pytest.raises(InputError, match=r"int64 values -1 to 9007199254740993"):
        to_image(np.array([[-1, 2**53 + 1]]), like)
    with pytest.raises(InputError, match="float16"):
        to_image(np.zeros((1, 2), "float16"), like)


def test_an_output_survives_when_only_a_filter_holds_it() -> None:
    like = load([itk_image(voxels((100, 100)))], owner=OWNER)
    caster = itk.CastImageFilter[itk.Image[itk.UC, 2], itk.Image[itk.F, 2]].New(
        to_image(np.full((100, 100), 7, "uint8"), like)
    )
    gc.collect()
    others = [np.full((100, 100), 9, "uint8") for _ in range(20)]
    caster.Update()
    assert (itk.array_view_from_image(caster.GetOutput()) == 7).all()
    assert len(others) == 20


def test_big_endian_and_fortran_ordered_answers_are_not_scrambled() -> None:
    answer = np.asfortranarray(voxels((3, 4), ">i2"))
    image = to_image(answer, load([itk_image(voxels((3, 4)))], owner=OWNER))
    np.testing.assert_array_equal(itk.array_from_image(image), answer)


def test_itk_inputs_are_never_changed() -> None:
    image = itk_image(voxels((3, 4)))
    loaded = load([image], owner=OWNER, keep=Keep.EVERYTHING)
    output = to_image(loaded.arrays[0], loaded)
    itk.array_view_from_image(output)[...] = 200
    output.GetMetaDataDictionary()["PatientName"] = "nobody"
    np.testing.assert_array_equal(itk.array_from_image(image), voxels((3, 4)))
    assert image.GetMetaDataDictionary()["PatientName"] == "Müller"
    image.GetMetaDataDictionary()["PatientName"] = "changed later"
    assert loaded.metadata.dictionary["PatientName"] == "Müller"


def test_a_cropped_input_gives_an_output_itk_accepts_beside_it() -> None:
    whole = itk_image(voxels((6, 8)))
    cropper = itk.ExtractImageFilter.New(whole, ExtractionRegion=itk.ImageRegion[2]([2, 1], [4, 3]))
    cropper.Update()
    cropped = cropper.GetOutput()
    assert tuple(cropped.GetLargestPossibleRegion().GetIndex()) == (2, 1)
    loaded = load([cropped], owner=OWNER)
    np.testing.assert_array_equal(loaded.arrays[0], voxels((6, 8))[1:4, 2:6])
    expected_origin = whole.TransformIndexToPhysicalPoint([2, 1])
    np.testing.assert_allclose(loaded.geometry.origin, tuple(expected_origin))
    output = to_image(loaded.arrays[0], loaded)
    assert header(output) == header(cropped)
    pair = itk.compose_image_filter(cropped, output)
    first, second = np.moveaxis(itk.array_view_from_image(pair), -1, 0)
    np.testing.assert_array_equal(first, second)


def test_a_pipeline_behind_an_input_is_brought_up_to_date() -> None:
    source = itk_image(voxels((3, 4)))
    caster = itk.CastImageFilter[itk.Image[itk.UC, 2], itk.Image[itk.F, 2]].New(source)
    (array,) = load([caster.GetOutput()], owner=OWNER).arrays
    np.testing.assert_array_equal(array, voxels((3, 4), "float32"))
    assert array.dtype == np.float32


def test_itk_vector_images_are_one_rater_per_component() -> None:
    stack = voxels((2, 3, 4, 3), "float32")
    for image_type in (itk.VectorImage[itk.F, 3], itk.Image[itk.Vector[itk.F, 3], 3]):
        image = itk_image(stack, ttype=image_type)
        for images in (image, [image]):
            loaded = load(images, owner=OWNER)
            assert len(loaded.arrays) == 3
            for component, array in enumerate(loaded.arrays):
                np.testing.assert_array_equal(array, stack[..., component])
        assert header(to_image(stack[..., 0], loaded)) == header(image)
    single = itk_image(voxels((2, 3, 4, 1)), ttype=itk.VectorImage[itk.UC, 3])
    assert [a.shape for a in load([single], owner=OWNER).arrays] == [(2, 3, 4)]


def test_simpleitk_and_itk_may_be_mixed_and_the_first_decides() -> None:
    one = itk_image(voxels((2, 3, 4)))
    other = sitk.GetImageFromArray(voxels((2, 3, 4), "uint16"))
    other.SetSpacing(tuple(one.GetSpacing()))
    other.SetOrigin(tuple(one.GetOrigin()))
    other.SetDirection(np.asarray(one.GetDirection()).ravel().tolist())
    assert load([other, one], owner=OWNER).family is Family.SIMPLEITK
    loaded = load([None, one, other], owner=OWNER)
    assert loaded.family is Family.ITK
    assert header(to_image(voxels((2, 3, 4)), loaded)) == header(one)
    mask = load_one(other, loaded, owner=OWNER, parameter="MaskImage")
    np.testing.assert_array_equal(mask, voxels((2, 3, 4)))


def test_itk_objects_that_are_no_label_images_are_refused_by_name() -> None:
    complex_image = itk.Image[itk.complex[itk.F], 2].New()
    complex_image.SetRegions([4, 3])
    complex_image.Allocate()
    image = itk_image(voxels((3, 4)))
    for wrong, name in [
        (complex_image, "itkImageCF2"),
        (itk.MetaDataDictionary(), "MetaDataDictionary"),
        (itk.Image[itk.UC, 2].New(), "no voxels"),
    ]:
        with pytest.raises(InputError, match=f"{OWNER}: input 1 .*{name}"):
            load([image, wrong], owner=OWNER)
    with pytest.raises(InputError, match="input 0 is an itk image but input 1 is a NumPy"):
        load([image, np.zeros((3, 4))], owner=OWNER)


def test_itk_geometry_is_checked() -> None:
    first, moved = itk_image(voxels((3, 4))), itk_image(voxels((3, 4)))
    moved.SetOrigin([0.0, 10.1])
    moved_to = r"input 1 .* origin \(0.0, 10.1\) instead of \(0.0, 10.0\)"
    with pytest.raises(GeometryError, match=moved_to):
        load([first, moved], owner=OWNER)
