"""Inputs and parameter values for any fuser, used by test_contract.py.

Everything is derived from the registry and the parameter tables, so a new fuser is tested as soon
as it is registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import itk
import nibabel
import numpy as np
import pytest
import SimpleITK as sitk
import torch
import xarray
from monai.data import MetaTensor

import itk_consensus
from itk_consensus.core.constraints import (
    Boolean,
    Choice,
    ImageLike,
    ImageList,
    Integer,
    Kind,
    LabelImages,
    LabelProbabilities,
    Modalities,
    ModalitiesList,
    NamedReals,
    Nothing,
    OneOf,
    Real,
    Reals,
    Text,
)
from itk_consensus.core.errors import NotExecutedError
from itk_consensus.core.parameters import (
    Parameter,
    measurements_of,
    parameters_of,
    snake_case,
)
from itk_consensus.fusing.inner_fusers import Fuser as FuserKind
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.lesions.instance_consensus_filter import LesionTables
from itk_consensus.methods.procedural import function_name
from itk_consensus.methods.registry import FUSERS
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter

Fuser = type[LabelFusionFilter]

FAMILIES = ("SimpleITK", "itk", "array")
#: Libraries whose images the package supports without importing them.
GUESTS = ("nibabel", "xarray", "MetaTensor", "tensor")
SHAPES = [(9, 11), (5, 7, 8), (2, 4, 5, 6)]
CASES = [(fuser, parameter) for fuser in FUSERS for parameter in parameters_of(fuser)]
CASE_NAMES = [f"{fuser.__name__}-{parameter.name}" for fuser, parameter in CASES]


# -- inputs -----------------------------------------------------------------------------------


def raters(shape: tuple[int, ...] = (9, 11), number: int = 4, seed: int = 0) -> list[np.ndarray]:
    """Return masks of 0 and 1, which every fuser accepts: one box with different errors."""
    rng = np.random.default_rng(seed)
    truth = np.zeros(shape, bool)
    truth[tuple(slice(size // 4, size // 4 + (size + 1) // 2) for size in shape)] = True
    shares = np.linspace(0.02, 0.2, number)
    return [(truth ^ (rng.random(shape) < share)).astype(np.uint8) for share in shares]


class Space(NamedTuple):
    """Geometry of a test's images."""

    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    turned: bool


ASKEW = Space((0.5, 0.75, 1.25, 2.0), (-3.0, 7.0, 17.5, 0.0), True)
UNIT = Space((1.0,) * 4, (0.0,) * 4, False)


def make(array: np.ndarray, family: str, *, space: Space = ASKEW, metadata: bool = True) -> Any:
    """Create an image of the family with a metadata dictionary."""
    if family == "array":
        return array.copy()
    dimension = array.ndim
    direction = np.roll(np.eye(dimension), int(space.turned), axis=0)
    if family == "SimpleITK":
        image = sitk.GetImageFromArray(np.ascontiguousarray(array), isVector=False)
        image.SetDirection(direction.ravel().tolist())
        if metadata:
            image.SetMetaData("PatientName", "Müller")
    else:
        image = itk.image_from_array(np.ascontiguousarray(array))
        image.SetDirection(itk.matrix_from_array(direction))
        if metadata:
            image.GetMetaDataDictionary()["PatientName"] = "Müller"
    image.SetSpacing(space.spacing[:dimension])
    image.SetOrigin(space.origin[:dimension])
    return image


#: Maps indices (x, y, z) to millimetres, with axes pointing to the right and to the front.
GUEST_AFFINE = np.array([[-0.5, 0, 0, 3], [0, -0.75, 0, -7], [0, 0, 1.25, 17.5], [0, 0, 0, 1.0]])


def make_guest(array: np.ndarray, family: str) -> Any:
    """Create a volume of another library; all except tensors have the geometry of `make_host`."""
    if family == "nibabel":
        return nibabel.Nifti1Image(array.T.copy(), GUEST_AFFINE)
    if family == "MetaTensor":
        return MetaTensor(torch.from_numpy(array.T[None].copy()), affine=GUEST_AFFINE)
    if family == "tensor":
        return torch.from_numpy(array.copy())
    steps, first = np.diag(make_host(array)[1])[::-1], make_host(array)[2][::-1]
    places = {
        axis: start + step * np.arange(size)
        for axis, start, step, size in zip("zyx", first, steps, array.shape, strict=True)
    }
    return xarray.DataArray(array.copy(), places, ("z", "y", "x"))


def make_host(array: np.ndarray) -> tuple[sitk.Image, np.ndarray, np.ndarray]:
    """Create the same volume as a SimpleITK image, with the same spacing and origin."""
    image = sitk.GetImageFromArray(array)
    steps, origin = np.diag([0.5, 0.75, 1.25]), np.array([-3.0, 7.0, 17.5])
    image.SetSpacing(np.diag(steps).tolist())
    image.SetOrigin(origin.tolist())
    return image, steps, origin


def guest_array(image: Any) -> np.ndarray:
    """Return the voxels of another library's image in the order (z, y, x)."""
    if isinstance(image, nibabel.Nifti1Image):
        return np.asarray(image.dataobj).T
    return image.numpy()[0].T if isinstance(image, MetaTensor) else np.asarray(image)


def guest_header(image: Any) -> tuple[Any, ...]:
    """Return everything except the voxels of an image of another library, in a form that can be
    compared.
    """
    if isinstance(image, nibabel.Nifti1Image):
        return nibabel.Nifti1Image, image.shape, image.affine.tolist()
    if isinstance(image, MetaTensor):
        return MetaTensor, image.shape, image.affine.tolist(), image.device
    if isinstance(image, torch.Tensor):
        return torch.Tensor, image.shape, image.device
    coordinates = [values.to_numpy().tolist() for values in image.coords.values()]
    return type(image), image.dims, coordinates


def family_of(image: Any) -> str:
    if isinstance(image, sitk.Image):
        return "SimpleITK"
    return "array" if isinstance(image, np.ndarray) else "itk"


def to_array(image: Any) -> np.ndarray:
    if isinstance(image, sitk.Image):
        return sitk.GetArrayFromImage(image)
    return image if isinstance(image, np.ndarray) else itk.array_from_image(image)


def header(image: Any) -> dict[str, Any]:
    """Return geometry and metadata, in a form that does not depend on the family."""
    if isinstance(image, np.ndarray):
        return {"shape": image.shape}
    if isinstance(image, sitk.Image):
        size, direction = image.GetSize(), image.GetDirection()
        metadata = {key: image.GetMetaData(key) for key in image.GetMetaDataKeys()}
    else:
        size = tuple(image.GetLargestPossibleRegion().GetSize())
        direction = tuple(np.asarray(image.GetDirection()).ravel())
        dictionary = image.GetMetaDataDictionary()
        metadata = {key: dictionary[key] for key in dictionary.GetKeys()}
    return {
        "size": tuple(size),
        "spacing": tuple(image.GetSpacing()),
        "origin": tuple(image.GetOrigin()),
        "direction": tuple(direction),
        "metadata": metadata,
    }


def geometry(image: Any) -> dict[str, Any]:
    """Return only the geometry: outputs do not keep metadata that only one input has."""
    return {name: value for name, value in header(image).items() if name != "metadata"}


# -- ways to run a fuser ----------------------------------------------------------------------


def function_of(fuser: Fuser) -> Callable[..., Any]:
    return getattr(itk_consensus, function_name(fuser))


def snake_case_function_of(fuser: Fuser) -> Callable[..., Any]:
    return getattr(itk_consensus, snake_case(fuser.__name__))


def capped(fuser: Fuser, iterations: int) -> dict[str, int]:
    """Return a limit on the number of iterations, if the fuser has one."""
    names = {parameter.name for parameter in parameters_of(fuser)}
    return dict.fromkeys(names & {"MaximumIterations", "MaximumNumberOfIterations"}, iterations)


def without_chance(fuser: Fuser) -> dict[str, int]:
    """Return parameters without random starts, and with so few iterations that rounding cannot
    determine which optimum is found.
    """
    names = {parameter.name for parameter in parameters_of(fuser)}
    return capped(fuser, 10) | dict.fromkeys(names & {"NumberOfInitializations"}, 1)


def assert_nothing_is_known(filter_: Any) -> None:
    """Check that every getter reports that there is no result, before Execute or after it
    failed.
    """
    getters = [f"Get{m.name}" for m in measurements_of(type(filter_))]
    for getter in [*getters, "GetLabelImage", "GetProbabilityImage", "GetLabels", "GetDiagnostics"]:
        with pytest.raises(NotExecutedError, match=f"{type(filter_).__name__}: .*after Execute"):
            getattr(filter_, getter)()


def iterates(fuser: Fuser) -> bool:
    return hasattr(fuser, "GetElapsedIterations")


# -- values for parameters --------------------------------------------------------------------


def good_value(parameter: Parameter[Any], images: list[np.ndarray]) -> Any:
    """Return a value that the parameter accepts and that is not its default."""
    return _good(parameter.kind, parameter.default, images)


def holds_images(value: Any) -> bool:
    """Return whether a value is an image, or one for each rater."""
    members = value if isinstance(value, tuple) else (value,)
    return any(isinstance(member, np.ndarray) for member in members)


def _good(kind: Kind[Any], default: Any, images: list[np.ndarray]) -> Any:
    if isinstance(kind, OneOf):
        return _good(kind.kinds[0], default, images)
    if isinstance(kind, Boolean):
        return default is not True
    if isinstance(kind, Choice):
        return next(name for name in kind.names[::-1] if name != default)
    if isinstance(kind, (Integer, Real)):
        return _inner_number(kind, default)
    if isinstance(kind, Reals):
        low = 0.0 if kind.low is None else kind.low
        high = low + 1 if kind.high is None else kind.high
        return tuple(np.linspace(low, high, (kind.length or len(images)) + 2)[1:-1].tolist())
    if isinstance(kind, LabelProbabilities):
        return {0: 0.75, 1: 0.25}
    if isinstance(kind, NamedReals):
        return {kind.names[0]: 0.25}
    if isinstance(kind, Text):
        return "something"
    if isinstance(kind, FuserKind):
        return MajorityVoteFilter(TieRule="lowest")
    if isinstance(kind, LesionTables):
        return (itk_consensus.match_lesions(images),)
    if isinstance(kind, (ImageLike, Modalities)):
        return np.ones_like(images[0])
    if isinstance(kind, (ImageList, ModalitiesList)):
        return tuple(np.ones_like(image) for image in images)
    if isinstance(kind, LabelImages):
        return {1: np.ones_like(images[0])}
    raise NotImplementedError(f"contract.py has no good value for the kind {type(kind).__name__}")


def _inner_number(kind: Integer | Real, default: Any) -> Any:
    low = -5 if kind.low is None else kind.low
    high = low + 12 if kind.high is None else min(kind.high, low + 12)
    steps = (0.25, 0.5) if isinstance(kind, Real) else (0.5, 0.75)
    candidates = [low + (high - low) * step for step in steps]
    if isinstance(kind, Integer):
        candidates = [int(candidate) for candidate in candidates]
    return next(candidate for candidate in candidates if candidate != default)


def bad_values(kind: Kind[Any]) -> list[Any]:
    """Return values that the kind must reject."""
    if isinstance(kind, OneOf):
        # A value that is bad for one of the kinds may be good for another.
        candidates = [value for member in kind.kinds for value in bad_values(member)]
        return [
            value for value in candidates if all(_refuses(member, value) for member in kind.kinds)
        ]
    for known, values in _BAD.items():
        if isinstance(kind, known):
            return [*values, *_beyond(kind)]
    raise NotImplementedError(f"contract.py has no bad value for the kind {type(kind).__name__}")


_BAD: dict[type[Kind[Any]], list[Any]] = {
    Integer: ["3", 1.5, None, [1], np.nan, 1 + 0j, np.array([1, 2])],
    Real: ["1.0", None, [1.0], np.nan, np.inf, -np.inf, 1j, np.array([0.5, 0.5])],
    Boolean: ["yes", 2, -1, 0.5, None, []],
    Choice: ["no such name", "", 3, None],
    Reals: ["12", 3.0, None, [np.nan], [np.inf], ["a"], [[0.5]], {0.5: 0.5}, [None]],
    Text: [3, None, ["a"]],
    FuserKind: ["vote", "", 3, None, MajorityVoteFilter],
    LesionTables: [3, "table", [3], {}, [None]],
    Nothing: [0, "", False, []],
    LabelProbabilities: [3, "0:1", {1: 2.0}, {1: -0.5}, {"a": 0.5}, {0.5: 0.5}, {1: np.nan}],
    NamedReals: [3, "good_dice:0.8", None, {"no such name": 0.5}, {1: 0.5}, {"good_dice": -1.0}],
    ImageLike: ["mask.nrrd", 3, 2.5, None, [1, 2], {"a": 1}, b"x"],
    ImageList: ["ab", 3, None, [3], ["mask.nrrd"], np.zeros((2, 3)), {}],
    Modalities: ["ct.nrrd", 3, None, [], [3], ["ct.nrrd"], {"a": 1}],
    ModalitiesList: ["ab", 3, None, [3], ["ct.nrrd"], [[]], np.zeros((2, 3)), {}],
    LabelImages: [3, "1", [np.zeros(2)], {1: "mask.nrrd"}, {0.5: np.zeros(2)}, {"a": np.zeros(2)}],
}


def _beyond(kind: Kind[Any]) -> list[Any]:
    """Return values just outside the kind's limits."""
    low, high = getattr(kind, "low", None), getattr(kind, "high", None)
    step = 1 if isinstance(kind, Integer) else 1e-9
    edge = getattr(kind, "exclusive", False)
    outside = [low if edge else low - step] if low is not None else []
    outside += [high if edge else high + step] if high is not None else []
    if not isinstance(kind, Reals):
        return outside
    length = kind.length or 2
    middle = 0.5 if low is None else low + 0.25
    rows = [[value] * length for value in outside]
    rows += [[middle] * (length + 1), [middle] * (length - 1)] if kind.length is not None else []
    return rows + ([[middle] * length, [middle + 0.1, middle]] if kind.increasing else [])


def _refuses(kind: Kind[Any], value: Any) -> bool:
    try:
        kind.accept(value)
    except (TypeError, ValueError):
        return True
    return False
