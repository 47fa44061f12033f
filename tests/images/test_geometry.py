from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from itk_consensus.core.errors import GeometryError
from itk_consensus.images.geometry import ArrayGeometry, ImageGeometry, check_same_space

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
BASE = ImageGeometry((4, 5, 6), (2.0, 1.0, 3.0), (10.0, 20.0, 30.0), IDENTITY)


def moved(**fields: object) -> ImageGeometry:
    return dataclasses.replace(BASE, **fields)


def check(*geometries: ImageGeometry, coordinate: float = 1e-6, direction: float = 1e-6) -> None:
    check_same_space(
        geometries,
        coordinate_tolerance=coordinate,
        direction_tolerance=direction,
        owner="SomeImageFilter",
        names=[f"input {i}" for i in range(len(geometries))],
    )


def test_array_order_is_itk_order_reversed() -> None:
    assert BASE.dimension == 3
    assert BASE.shape == (6, 5, 4)
    assert BASE.array_spacing == (3.0, 1.0, 2.0)


def test_geometry_is_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        BASE.size = (1, 1, 1)  # type: ignore[misc]


def test_plain_arrays_have_unit_geometry() -> None:
    geometry = ArrayGeometry.of_shape((2, 3))
    assert geometry == ArrayGeometry((3, 2), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0, 0.0, 1.0))
    assert geometry.shape == (2, 3)


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"size": (4, 5, 7)}, ["size (4, 5, 7) instead of (4, 5, 6)"]),
        (
            {"origin": (10.0, 20.0, 31.0)},
            ["origin (10.0, 20.0, 31.0) instead of (10.0, 20.0, 30.0)"],
        ),
        ({"spacing": (2.0, 1.0, 3.5)}, ["spacing (2.0, 1.0, 3.5) instead of (2.0, 1.0, 3.0)"]),
        ({}, []),
    ],
)
def test_only_the_fields_that_differ_are_named(fields: dict[str, object], texts: list[str]) -> None:
    assert BASE.differences(moved(**fields), 1e-6, 1e-6) == texts


def test_differing_dimensions_are_named_instead_of_fields() -> None:
    flat = ImageGeometry((4, 5), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0, 0.0, 1.0))
    assert BASE.differences(flat, 1e-6, 1e-6) == ["dimension 2 instead of 3"]


def test_nan_coordinates_never_match() -> None:
    lost = moved(origin=(float("nan"), 20.0, 30.0))
    assert len(BASE.differences(lost, 1e9, 1e9)) == 1


@settings(deadline=None)
@given(
    spacing=st.floats(0.1, 10),
    shift=st.floats(1e-8, 1e-2),
    tolerance=st.floats(1e-7, 1e-3),
    field=st.sampled_from(["origin", "spacing"]),
)
def test_tolerance_rule_is_that_of_itk(
    spacing: float, shift: float, tolerance: float, field: str
) -> None:
    first, second = (sitk.Image([3, 3], sitk.sitkUInt8) for _ in range(2))
    first.SetSpacing([spacing, 1.0])
    second.SetSpacing([spacing, 1.0])
    if field == "origin":
        second.SetOrigin([0.0, shift])
    else:
        second.SetSpacing([spacing, 1.0 + shift])
    usual = sitk.ProcessObject.GetGlobalDefaultCoordinateTolerance()
    sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(tolerance)
    try:
        sitk.Add(first, second)
        itk_accepts = True
    except RuntimeError:
        itk_accepts = False
    finally:
        sitk.ProcessObject.SetGlobalDefaultCoordinateTolerance(usual)
    geometries = [
        ImageGeometry(i.GetSize(), i.GetSpacing(), i.GetOrigin(), i.GetDirection())
        for i in (first, second)
    ]
    assert (not geometries[0].differences(geometries[1], tolerance, 1e-6)) == itk_accepts


def test_direction_tolerance_is_absolute() -> None:
    turned = moved(direction=(1.0, 1e-4, *IDENTITY[2:]))
    check(BASE, turned, direction=1.01e-4)
    with pytest.raises(GeometryError, match=r"set DirectionTolerance to 0\.00011"):
        check(BASE, turned, direction=0.99e-4)


def test_header_noise_within_tolerance_is_accepted() -> None:
    check(BASE, moved(origin=(10.0 + 1.9e-6, 20.0, 30.0)), moved(spacing=(2.0, 1.0, 3.0 - 1e-9)))


def test_message_names_owner_inputs_values_and_how_to_raise_the_tolerance() -> None:
    noisy = moved(origin=(10.0, 20.0, 30.002))
    with pytest.raises(GeometryError) as caught:
        check(BASE, BASE, noisy, noisy)
    message = str(caught.value)
    assert message.startswith(
        "SomeImageFilter: input 2 does not occupy the same space as input 0: "
        "origin (10.0, 20.0, 30.002) instead of (10.0, 20.0, 30.0).\n"
    )
    assert "Nor does input 3." in message
    assert "tolerance is 1e-06" in message
    assert "set CoordinateTolerance to 0.0011, or" in message
    assert "itk_consensus.ProcessObject.SetGlobalDefaultCoordinateTolerance(0.0011)" in message
    assert "spacing (" not in message
    assert "DirectionTolerance" not in message


def test_an_origin_voxels_away_is_no_header_noise() -> None:
    with pytest.raises(
        GeometryError, match="50 voxels apart, more than rounding of headers: resample"
    ):
        check(moved(), moved(origin=(10.0, 70.0, 30.0)))


def test_a_spacing_that_moves_the_last_voxel_is_no_header_noise() -> None:
    """An error of half a voxel at the first voxel grows to many voxels at the last one."""
    long = moved(size=(400, 5, 6))
    with pytest.raises(GeometryError, match=r"voxels apart, more than rounding of headers"):
        check(long, moved(size=(400, 5, 6), spacing=(2.1, 1.0, 3.0)))
    with pytest.raises(GeometryError, match=r"set CoordinateTolerance to"):
        check(long, moved(size=(400, 5, 6), spacing=(2.0001, 1.0, 3.0)))


@pytest.mark.parametrize("field", ["origin", "spacing", "direction"])
def test_an_image_that_lies_nowhere_is_named_alone(field: str) -> None:
    nowhere = moved(**{field: (np.nan, *getattr(BASE, field)[1:])})
    for images in ((nowhere, nowhere), (BASE, nowhere)):
        with pytest.raises(
            GeometryError, match=rf"input {images.index(nowhere)} has no valid position: "
        ):
            check(*images)


@given(st.floats(1e-5, 1.0), st.floats(0.1, 10.0))
def test_the_advised_tolerance_is_enough(shift: float, spacing: float) -> None:
    first = moved(spacing=(spacing, 1.0, 1.0))
    second = moved(spacing=(spacing, 1.0, 1.0), origin=(10.0, 20.0 + shift, 30.0))
    assume(first.differences(second, 1e-6, 1e-6))
    assume(shift < 0.49 * min(spacing, 1.0))
    with pytest.raises(GeometryError) as caught:
        check(first, second)
    advised = str(caught.value).split("set CoordinateTolerance to ")[1].split(",")[0]
    check(first, second, coordinate=float(advised))


@pytest.mark.parametrize(
    "matrix",
    [
        np.diag([1.0, -1.0, 1.0]),
        np.diag([-1.0, -1.0, 1.0]),
        np.eye(3)[[1, 0, 2]],
        np.eye(3)[[2, 0, 1]] * -1.0,
    ],
)
def test_flipped_or_permuted_axes_suggest_resampling(matrix: np.ndarray) -> None:
    flipped = moved(direction=tuple(matrix.ravel().tolist()))
    with pytest.raises(GeometryError, match=r"flipped or permuted: resample input 1 onto input 0"):
        check(BASE, flipped)


def test_an_oblique_image_is_not_called_flipped() -> None:
    cosine, sine = np.cos(0.5), np.sin(0.5)
    oblique = moved(direction=(cosine, -sine, 0.0, sine, cosine, 0.0, 0.0, 0.0, 1.0))
    assert not BASE.is_flipped_or_permuted(oblique)
    assert not BASE.is_flipped_or_permuted(BASE)
    with pytest.raises(
        GeometryError, match=r"direction .*\n.* more than rounding of headers: resample"
    ):
        check(BASE, oblique)


def test_different_sizes_suggest_resampling_and_no_tolerance() -> None:
    with pytest.raises(GeometryError, match="resample") as caught:
        check(BASE, moved(size=(4, 5, 7)))
    assert "Tolerance" not in str(caught.value)


def test_arrays_are_described_by_shape_without_advice_on_headers() -> None:
    with pytest.raises(GeometryError) as caught:
        check(ArrayGeometry.of_shape((2, 3)), ArrayGeometry.of_shape((2, 4)))
    assert str(caught.value) == (
        "SomeImageFilter: input 1 does not occupy the same space as input 0: "
        "shape (2, 4) instead of (2, 3)"
    )
