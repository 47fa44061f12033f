"""3D Slicer's segmentations, ``.seg.nrrd``: named segments, which may overlap, in layers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import SimpleITK as sitk

from itk_consensus.core.errors import FileError, InputError
from itk_consensus.images.files import header_reader
from itk_consensus.images.kept_metadata import MARK
from itk_consensus.images.own_outputs import MARK_KEY
from itk_consensus.images.structures import (
    TISSUE,
    Code,
    Structure,
    as_structures,
    geometry_of,
    inside_of,
    mask_of,
    put_on_grid,
)
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.replacing import atomic_write

_TERMINOLOGY = "TerminologyEntry"
_CONTEXT = "Segmentation category and type - 3D Slicer General Anatomy list"
_ANATOMIC = "Anatomic codes - DICOM master list"
_CATEGORY = Code("SCT", "85756007", "Tissue")
#: Fields that are always regenerated.
_OWN_FIELDS = {"Name", "Color", "Extent", "LabelValue", "Layer"}
_COLORS = (
    (0.50, 0.68, 0.50),
    (0.95, 0.84, 0.57),
    (0.69, 0.48, 0.40),
    (0.44, 0.72, 0.82),
    (0.85, 0.40, 0.31),
    (0.87, 0.51, 0.40),
    (0.56, 0.93, 0.56),
    (0.75, 0.40, 0.34),
)

_compose: Any = sitk.Compose


def read_slicer_segmentation(path: PathLike, *, like: Any = None) -> list[Structure]:
    """Read all segments with name, colour and terminology.

    Parameters
    ----------
    like : SimpleITK image, optional
        The segmented image; masks are extended to its grid, since Slicer may save only the
        segmented part.
    """
    image = _read(path)
    fields = {key: image.GetMetaData(key) for key in image.GetMetaDataKeys()}
    numbers = sorted({int(m[1]) for key in fields if (m := re.match(r"Segment(\d+)_", key))})
    if not numbers:
        raise FileError("describes no segments; read it as a label image", path=path)
    pixels = sitk.GetArrayViewFromImage(image)
    layers = pixels[..., None] if image.GetNumberOfComponentsPerPixel() == 1 else pixels
    is_without_voxels = set(image.GetSize()) == {1}
    if is_without_voxels and like is None:
        raise FileError("holds no voxels; give the image that was segmented", path=path)
    structures = []
    for number in numbers:
        prefix = f"Segment{number}_"
        own = {k.removeprefix(prefix): v for k, v in fields.items() if k.startswith(prefix)}
        structure = _segment(own, number, layers, image, path)
        if is_without_voxels:
            empty = mask_of(np.zeros(like.GetSize()[::-1]), like)
            structure = Structure(**{**vars(structure), "mask": empty})
        structures.append(structure if like is None else put_on_grid(structure, like, str(path)))
    return structures


def write_slicer_segmentation(
    structures: Sequence[Structure] | Mapping[str, Any], path: PathLike
) -> None:
    """Write structures, or a mapping of name to mask, as a segmentation for 3D Slicer.

    Overlapping structures are written to different layers. Masks must be binary (0 and 1); use
    `separate_undecided` to obtain them from a consensus with undecided voxels.
    """
    _write(structures, Path(path), {})


def write_fused_segmentation(structures: Sequence[Structure], path: PathLike) -> None:
    """Write structures like `write_slicer_segmentation`, marked as an output of this package."""
    _write(structures, Path(path), {MARK_KEY: MARK})


def _write(
    structures: Sequence[Structure] | Mapping[str, Any], path: Path, more: Mapping[str, str]
) -> None:
    require_segmentation_name(path)
    image, fields = _make_layers(as_structures(structures, str(path)), path)
    for key, value in {**fields, **more}.items():
        image.SetMetaData(key, value)
    with atomic_write(path) as draft:
        try:
            sitk.WriteImage(image, str(draft), True)
        except RuntimeError as error:
            raise FileError(f"cannot be written: {error}", path=path) from error
        _mark_layer_axis(draft)


def shared_details(structure: Structure) -> dict[str, str]:
    """Return the details that a consensus inherits: the terminology, but no rater's own fields."""
    tags = structure.details.get("Tags", "").split("|")
    entries = [tag for tag in tags if tag.startswith(f"{_TERMINOLOGY}:")]
    return {"Tags": f"{entries[0]}|"} if entries else {}


def require_segmentation_name(path: Path) -> None:
    """Raise unless Slicer recognises a file with this name as a segmentation."""
    if not path.name.lower().endswith(".seg.nrrd"):
        raise FileError("the name of a Slicer segmentation must end in .seg.nrrd", path=path)


def _read(path: PathLike) -> Any:
    reader = header_reader(Path(path))
    try:
        return reader.Execute()
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        raise FileError(f"cannot be read as a segmentation: {reason}", path=path) from error


def _segment(
    own: Mapping[str, str], number: int, layers: Any, image: Any, path: PathLike
) -> Structure:
    """Make a structure from a segment; in old files each segment has its own component."""
    has_own_layer = layers.shape[-1] > 1
    try:
        layer = int(own.get("Layer", number if has_own_layer else 0))
        label = int(own.get("LabelValue", 1))
        color = tuple(float(part) for part in own["Color"].split()) if "Color" in own else None
        # Label 0 is background, and a negative layer would be counted from the last one.
        _require_within("LabelValue", label, 1, _largest_label(layers))
        _require_within("Layer", layer, 0, layers.shape[-1] - 1)
        mask = layers[..., layer] == label
    except ValueError as error:
        raise FileError(f"segment {number} has invalid fields: {error}", path=path) from error
    category, kind = _terminology(own.get("Tags", ""))
    kept = {key: value for key, value in own.items() if key not in _OWN_FIELDS}
    name = own.get("Name", own.get("ID", f"Segment {number}"))
    return Structure(
        name,
        mask_of(mask, image),
        color if color and len(color) == 3 else None,
        category,
        kind,
        kept,
    )


def _largest_label(layers: Any) -> int:
    """Return the largest value of the dtype of the voxels."""
    return int(np.iinfo(layers.dtype).max) if layers.dtype.kind in "iu" else (1 << 31) - 1


def _require_within(field: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{field} must be {low} to {high}, got {value}")


def _terminology(tags: str) -> tuple[Code | None, Code | None]:
    for tag in tags.split("|"):
        name, _, entry = tag.partition(":")
        parts = entry.split("~")
        if name == _TERMINOLOGY and len(parts) > 2:
            return _code(parts[1]), _code(parts[2])
    return None, None


def _code(text: str) -> Code | None:
    parts = text.split("^")
    return Code(*parts) if len(parts) == 3 and parts[1] else None


def _make_layers(structures: Sequence[Structure], path: Path) -> tuple[Any, dict[str, str]]:
    """Combine structures in an image of layers; return it and its metadata fields."""
    first = structures[0].mask
    layers: list[Any] = []
    used: list[int] = []
    fields = dict(_common_fields())
    for number, structure in enumerate(structures):
        if geometry_of(first).differences(geometry_of(structure.mask), 1e-6, 1e-6):
            raise InputError(
                f"{structure.name} and {structures[0].name} lie on different grids", path=path
            )
        inside = inside_of(structure, str(path))
        free = (i for i, layer in enumerate(layers) if not layer[inside].any())
        layer = next(free, len(layers))
        if layer == len(layers):
            layers.append(np.zeros(inside.shape, np.uint8 if len(structures) < 256 else np.uint16))
            used.append(0)
        used[layer] += 1
        layers[layer][inside] = used[layer]
        placed = {"LabelValue": str(used[layer]), "Layer": str(layer), "Extent": _extent(inside)}
        for key, value in {**_segment_fields(structure, number), **placed}.items():
            fields[f"Segment{number}_{key}"] = value
    images = [sitk.GetImageFromArray(layer) for layer in layers]
    for image in images:
        image.CopyInformation(first)
    return (images[0] if len(images) == 1 else _compose(images)), fields


def _common_fields() -> Iterator[tuple[str, str]]:
    yield "Segmentation_ContainedRepresentationNames", "Binary labelmap|"
    # Slicer versions before 5.4 call the source representation "master".
    yield "Segmentation_MasterRepresentation", "Binary labelmap"
    yield "Segmentation_SourceRepresentation", "Binary labelmap"
    yield "Segmentation_ReferenceImageExtentOffset", "0 0 0"


def _segment_fields(structure: Structure, number: int) -> dict[str, str]:
    color = structure.color or _COLORS[number % len(_COLORS)]
    category, kind = structure.category or _CATEGORY, structure.kind or TISSUE
    entry = f"{_CONTEXT}~{'^'.join(category)}~{'^'.join(kind)}~^^~{_ANATOMIC}~^^~^^"
    return {
        "ID": f"Segment_{number + 1}",
        "NameAutoGenerated": "0",
        "ColorAutoGenerated": "0" if structure.color else "1",
        "Tags": f"{_TERMINOLOGY}:{entry}|",
        **{key: value for key, value in structure.details.items() if key not in _OWN_FIELDS},
        "Name": structure.name,
        "Color": " ".join(f"{part:g}" for part in color),
    }


def _extent(inside: Any) -> str:
    """Return the indices of the first and the last voxel along x, y and z."""
    if not inside.any():
        return "0 -1 0 -1 0 -1"
    ends = [(int(axis.min()), int(axis.max())) for axis in np.nonzero(inside)]
    return " ".join(f"{low} {high}" for low, high in reversed(ends))


def _mark_layer_axis(draft: Path) -> None:
    """Set the kind of the layers' axis to "list", as in Slicer; SimpleITK writes "vector"."""
    header, blank, voxels = draft.read_bytes().partition(b"\n\n")
    header = re.sub(rb"(?m)^kinds: vector ", b"kinds: list ", header)
    draft.write_bytes(header + blank + voxels)
