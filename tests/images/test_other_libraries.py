"""Images of nibabel, MONAI, xarray and torch, masked arrays, and array-like objects."""

from __future__ import annotations

import subprocess
import sys
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
from monai.transforms import LoadImage

import itk_consensus
from itk_consensus.core.errors import GeometryError, InputError, Where
from itk_consensus.images import convert
from itk_consensus.images.families.affine import geometry_of_affine

OWNER = "SomeFilter"


def voxels(shape: tuple[int, ...] = (3, 4, 5), seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 3, shape).astype(np.uint8)


def oblique(array: np.ndarray) -> sitk.Image:
    """Return an image whose axes are rotated, flipped and of unequal spacing."""
    image = sitk.GetImageFromArray(array)
    turn = sitk.Euler3DTransform()
    turn.SetRotation(0.3, -0.2, 0.5)
    image.SetDirection((np.reshape(turn.GetMatrix(), (3, 3)) @ np.diag([-1, 1, 1])).ravel())
    image.SetSpacing([0.5, 1.25, 2.0])
    image.SetOrigin([-7.0, 11.0, 3.5])
    return image


def load(*images: Any) -> convert.LoadedImages:
    return convert.load(list(images), owner=OWNER)


def assert_same_space(one: convert.LoadedImages, other: convert.LoadedImages) -> None:
    assert one.geometry.size == other.geometry.size
    for field in ("spacing", "origin", "direction"):
        # NIfTI stores the affine as float32.
        np.testing.assert_allclose(
            getattr(one.geometry, field), getattr(other.geometry, field), atol=2e-6
        )


@pytest.fixture
def nifti(tmp_path: Path) -> Path:
    """Write a file with SimpleITK."""
    path = tmp_path / "labels.nii.gz"
    sitk.WriteImage(oblique(voxels()), str(path))
    return path


# -- nibabel and MONAI, against files that SimpleITK writes and reads -------------------------


def test_nibabel_lies_where_simpleitk_says(nifti: Path) -> None:
    ours, theirs = load(nibabel.load(nifti)), load(oblique(voxels()))
    assert_same_space(ours, theirs)
    np.testing.assert_array_equal(ours.arrays[0], theirs.arrays[0])


def test_nibabel_comes_back_to_where_it_was(nifti: Path, tmp_path: Path) -> None:
    fused = itk_consensus.LabelVoting([nibabel.load(nifti)] * 3)
    assert isinstance(fused, nibabel.Nifti1Image)
    fused.to_filename(tmp_path / "fused.nii.gz")
    back = sitk.ReadImage(str(tmp_path / "fused.nii.gz"))
    assert back.GetPixelID() == sitk.sitkUInt8
    assert_same_space(load(back), load(oblique(voxels())))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(back), voxels())


@pytest.mark.parametrize("reader", ["ITKReader", "NibabelReader"])
@pytest.mark.parametrize("channel", [True, False])
def test_metatensors_lie_where_simpleitk_says(nifti: Path, reader: str, channel: bool) -> None:
    tensor = LoadImage(reader=reader, ensure_channel_first=channel, image_only=True)(nifti)
    assert isinstance(tensor, MetaTensor)
    ours, theirs = load(tensor), load(oblique(voxels()))
    assert_same_space(ours, theirs)
    np.testing.assert_array_equal(ours.arrays[0], theirs.arrays[0])
    fused = itk_consensus.LabelVoting([tensor] * 3)
    assert isinstance(fused, MetaTensor)
    assert fused.shape == tensor.shape
    assert fused.device == tensor.device
    torch.testing.assert_close(fused.affine, tensor.affine)
    np.testing.assert_array_equal(fused.numpy(), tensor.numpy())


def test_metatensors_that_say_lps_are_not_turned() -> None:
    affine = np.diag([2.0, 3.0, 4.0, 1.0])
    ras, lps = MetaTensor(voxels(), affine=affine), MetaTensor(voxels(), affine=affine)
    lps.meta["space"] = "LPS"
    assert load(ras).geometry.direction == (-1, 0, 0, 0, -1, 0, 0, 0, 1)
    assert load(lps).geometry.direction == (1, 0, 0, 0, 1, 0, 0, 0, 1)


def test_channels_of_a_metatensor_are_components() -> None:
    tensor = MetaTensor(torch.from_numpy(voxels((2, 3, 4, 5))))
    loaded = load(tensor)
    assert len(loaded.arrays) == 2
    back = convert.to_vector_image(loaded.arrays, loaded)
    np.testing.assert_array_equal(back.numpy(), tensor.numpy())


def test_a_batch_of_metatensors_is_refused() -> None:
    with pytest.raises(InputError, match=r"SomeFilter: input 0 .*decollate_batch"):
        load(MetaTensor(torch.zeros(1, 1, 3, 4, 5)))


def test_nibabel_images_of_more_axes_and_types_come_back() -> None:
    for shape, dtype in (((5, 4), np.int64), ((5, 4, 3, 2), np.int16)):
        image = nibabel.Nifti1Image(voxels(shape).astype(dtype), np.diag([2, 3, 4, 1]), dtype=dtype)
        fused = itk_consensus.LabelVoting([image] * 3)
        assert fused.get_data_dtype() == dtype
        np.testing.assert_array_equal(np.asarray(fused.dataobj), voxels(shape))
        np.testing.assert_array_equal(fused.affine, image.affine)


def test_an_affine_without_length_is_refused() -> None:
    with pytest.raises(InputError, match="x: input 0 has an affine with an axis of zero"):
        geometry_of_affine(np.diag([1, 0, 1, 1]), (2, 3, 4), Where(owner="x", input_index=0))


def test_libraries_mix_where_all_know_their_place(nifti: Path) -> None:
    mixed = [sitk.ReadImage(str(nifti)), nibabel.load(nifti)]
    convert.load(mixed, owner=OWNER, coordinate_tolerance=1e-4, direction_tolerance=1e-5)
    with pytest.raises(InputError, match="input 1 is a torch tensor"):
        load(nibabel.load(nifti), torch.zeros(3, 4, 5))


# -- xarray ------------------------------------------------------------------------------------


def labelled(array: np.ndarray, **changes: Any) -> xarray.DataArray:
    coordinates = {"z": [5.0, 3.0, 1.0], "y": [0, 1, 2, 3], "x": np.linspace(-1, 1, 5)} | changes
    return xarray.DataArray(array, coordinates, ("z", "y", "x"), "labels", {"units": "mm"})


def test_xarray_coordinates_are_the_geometry() -> None:
    geometry = load(labelled(voxels())).geometry
    assert geometry.spacing == (0.5, 1.0, 2.0)
    assert geometry.origin == (-1.0, 0.0, 5.0)
    assert geometry.direction == (1, 0, 0, 0, 1, 0, 0, 0, -1)


def test_xarray_comes_back_with_coordinates_and_attributes() -> None:
    fused = itk_consensus.LabelVoting([labelled(voxels())] * 3, keepMetaData="everything")
    xarray.testing.assert_identical(fused, labelled(voxels()))


def test_xarray_elsewhere_uneven_or_transposed_is_refused() -> None:
    first = labelled(voxels())
    with pytest.raises(GeometryError, match="origin"):
        load(first, labelled(voxels(), z=[6.0, 4.0, 2.0]))
    with pytest.raises(InputError, match="evenly spaced coordinates along 'y'"):
        load(labelled(voxels(), y=[0, 1, 2, 4]))
    square = voxels((4, 4))
    with pytest.raises(GeometryError, match="axes"):
        load(xarray.DataArray(square, dims=("y", "x")), xarray.DataArray(square, dims=("x", "y")))


# -- tensors and arrays -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.bfloat16, torch.float32])
def test_tensors_come_back_as_tensors_on_their_device(dtype: torch.dtype) -> None:
    tensors = [torch.from_numpy(voxels(seed=seed)).to(dtype) for seed in range(3)]
    filter_ = itk_consensus.MajorityVoteFilter(TieRule="lowest")
    fused = filter_.Execute(tensors)
    expected = itk_consensus.MajorityVote([voxels(seed=s) for s in range(3)], TieRule="lowest")
    assert isinstance(fused, torch.Tensor)
    assert fused.device == tensors[0].device
    np.testing.assert_array_equal(fused.numpy(), expected)
    assert filter_.GetProbabilityImage(1).dtype == torch.float64


def test_one_bare_tensor_and_a_sparse_one_are_refused() -> None:
    with pytest.raises(InputError, match=r"pass list\(a\)"):
        convert.load(torch.zeros(2, 3), owner=OWNER)
    with pytest.raises(InputError, match="SomeFilter: input 0 must be a dense tensor"):
        load(torch.zeros(2, 3).to_sparse())


def test_itks_views_of_images_are_arrays() -> None:
    view = itk.array_view_from_image(itk.image_from_array(voxels()))
    assert type(view) is not np.ndarray
    np.testing.assert_array_equal(itk_consensus.LabelVoting([view] * 3), voxels())


class Exporter:
    """An array that supports only DLPack, only __array__, or only the array API standard."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


class DlpackOnly(Exporter):
    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class ArrayOnly(Exporter):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype)


class Standard(ArrayOnly):
    device = "somewhere"

    def __array_namespace__(self) -> Any:
        class Namespace:
            @staticmethod
            def asarray(array: np.ndarray, device: str) -> Standard:
                assert device == "somewhere"
                return Standard(array)

        return Namespace


@pytest.mark.parametrize("kind", [DlpackOnly, ArrayOnly])
def test_whatever_looks_like_an_array_is_one(kind: type[Exporter]) -> None:
    np.testing.assert_array_equal(itk_consensus.LabelVoting([kind(voxels())] * 3), voxels())


def test_arrays_of_the_standard_come_back_where_they_were() -> None:
    fused = itk_consensus.LabelVoting([Standard(voxels())] * 3)
    assert isinstance(fused, Standard)
    np.testing.assert_array_equal(fused.array, voxels())


@pytest.mark.parametrize("own_masks", [False, True])
def test_masked_voxels_are_missing(own_masks: bool) -> None:
    rng = np.random.default_rng(5)
    arrays = [voxels(seed=seed) for seed in range(4)]
    hidden = [rng.random(arrays[0].shape) < 0.3 for _ in arrays]
    # Masked values are not even labels.
    masked = [
        np.ma.masked_array(np.where(gap, 77, array), gap)
        for array, gap in zip(arrays, hidden, strict=True)
    ]
    own = [rng.random(arrays[0].shape) < 0.8 for _ in arrays] if own_masks else None
    both = [~gap & (own[i] if own else True) for i, gap in enumerate(hidden)]
    filter_, reference = (itk_consensus.MajorityVoteFilter(TieRule="lowest") for _ in range(2))
    one = filter_.Execute(masked) if own is None else _with(filter_, own).Execute(masked)
    other = _with(reference, both).Execute(arrays)
    assert filter_.GetLabels() == (0, 1, 2)
    np.testing.assert_array_equal(one, other)


def _with(filter_: Any, masks: list[np.ndarray]) -> Any:
    filter_.SetRaterMasks([mask.astype(np.uint8) for mask in masks])
    return filter_


def test_nothing_is_imported_that_the_caller_did_not_import() -> None:
    program = (
        "import sys, numpy, itk_consensus\n"
        "itk_consensus.LabelVoting([numpy.zeros((3, 4), 'uint8')] * 3)\n"
        "print([m for m in ('itk', 'torch', 'monai', 'xarray', 'nibabel') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
