"""Reading and writing of image files, with checks that image libraries lack.

Writing is atomic: if it fails, an existing file is left unchanged.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import SimpleITK as sitk
from numpy.typing import NDArray

from itk_consensus.core.errors import FileError
from itk_consensus.images.families.image_family import keep_alive
from itk_consensus.images.families.simpleitk_family import PIXEL_KIND
from itk_consensus.images.headers import binary, text
from itk_consensus.images.headers.header import Header, head_of, require_complete
from itk_consensus.images.own_outputs import add_mark
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.guards import require_regular
from itk_consensus.storage.replacing import atomic_write

#: Formats that always consist of one file.
_ONE_FILE = {".nii", ".nrrd", ".mha"}

_HEADER_READERS: tuple[Callable[[Path, bytes, bool], Header | None], ...] = (
    text.meta_header,
    text.nrrd_header,
    text.vtk_header,
    binary.nifti_header,
    binary.tiff_header,
    binary.gipl_header,
    binary.mrc_header,
    binary.bmp_header,
    binary.jpeg_header,
)
# ITK readers that trust headers; they are only used for files whose headers were checked here.
_TRUSTING = {"MetaImageIO", "NrrdImageIO", "VTKImageIO", "NiftiImageIO", "TIFFImageIO"}
_TRUSTING |= {"GiplImageIO", "MRCImageIO", "BMPImageIO", "JPEGImageIO", "LSMImageIO"}
#: The reader of a format that cannot store segments in layers.
_WITHOUT_LAYERS = "NiftiImageIO"
#: Formats whose components are always colours.
_PHOTOGRAPHS = {"PNGImageIO", "JPEGImageIO", "BMPImageIO"}
_USE = "use .nii.gz, .nrrd or .mha"
#: Formats that are lossless if they store the image's pixel type.
_EXACT = {".nii", ".nrrd", ".nhdr", ".mha", ".mhd"}
_MOST_AXES = 5
#: Tolerance of orthogonal directions, which headers round.
_RIGHT = 1e-4
#: Parts of error messages that mean nothing to users.
_NOISE = re.compile(r"ITK ERROR: |\(0x[0-9a-f]+\)")
_NOT_WRITTEN = dict.fromkeys(
    (".dcm", ".dicom"),
    "DICOM is written by write_dicom_segmentation, write_dicom_contours or --per-structure only",
)
# Not supported for writing, since their libraries crash if the disk is full.
_NOT_WRITTEN |= dict.fromkeys(
    (".hdf", ".h4", ".hdf4", ".h5", ".hdf5", ".he4", ".he5", ".hd5"), "HDF5 is not written"
)
_NOT_WRITTEN |= dict.fromkeys((".mnc", ".mnc2"), "MINC is not written")
_CONTOURS_CLASS = re.compile(rb"1\.2\.840\.10008\.5\.1\.4\.1\.1\.481\.3(?![\d.])")
_SEGMENTATION_CLASSES = {"1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"}


def split_image_name(path: PathLike) -> tuple[str, str]:
    """Split a file name into stem and extension; ``.nii.gz`` and similar count as one extension."""
    path = Path(path)
    suffix = path.suffix
    if suffix.lower() == ".gz":
        suffix = path.with_suffix("").suffix + suffix
    return path.name.removesuffix(suffix), suffix


def distinct_names(names: Sequence[str], files: Sequence[Path]) -> tuple[str, ...]:
    """Make duplicate names distinct; unique names are left unchanged.

    Duplicates are extended by the folders in which they differ, by the extension, or by a number if
    they are the same file.
    """
    places = [Path(os.path.abspath(file)) for file in files]
    found = list(names)
    for qualify in (_with_folder, _with_extension, _with_number):
        taken = Counter(found)
        for name in [name for name in taken if taken[name] > 1]:
            same = [index for index, one in enumerate(found) if one == name]
            top = Path(os.path.commonpath([places[index].parent for index in same]))
            for number, index in enumerate(same, start=1):
                found[index] = qualify(names[index], places[index].relative_to(top), number)
    return tuple(found)


def _with_folder(name: str, file: Path, _number: int) -> str:
    return (file.parent / name).as_posix()


def _with_extension(name: str, file: Path, _number: int) -> str:
    return (file.parent / f"{name}{split_image_name(file)[1]}").as_posix()


def _with_number(name: str, _file: Path, number: int) -> str:
    return name if number == 1 else f"{name} ({number})"


def read_image(path: PathLike) -> Any:
    """Read an image file into a SimpleITK image of the file's own pixel type.

    Raises
    ------
    FileError
        It is not an image, voxels are missing, or it contains overlapping segments, which would be
        mistaken for raters or slices.
    """
    path = Path(path)
    reader = header_reader(path)
    try:
        if reader.GetImageIO() != _WITHOUT_LAYERS:
            reader.ReadImageInformation()
            reject_layers(reader, path)
        image = reader.Execute()
        # Integers are always finite, so the header need not be read again.
        if reader.GetImageIO() == _WITHOUT_LAYERS and "float" in image.GetPixelIDTypeAsString():
            _restore_not_finite(image, path)
    except RuntimeError as error:
        if isinstance(error, FileError):
            raise
        reject_contours(path)
        raise FileError(f"cannot be read as an image: {_reason(error)}", path=path) from error
    is_vector = image.GetNumberOfComponentsPerPixel() > 1
    if is_vector and reader.GetImageIOFromFileName(str(path)) in _PHOTOGRAPHS:
        image.SetMetaData(PIXEL_KIND, "RGB-color")  # as ITK marks a NRRD file with colours
    return image


def _restore_not_finite(image: Any, path: Path) -> None:
    """Restore NaN and infinities, which ITK's NIfTI reader replaces by 0."""
    places, values = find_not_finite(path)
    if places.size:
        view = sitk.GetArrayViewFromImage(image)
        memory = keep_alive(view, image, writable=True)
        number = image.GetNumberOfComponentsPerPixel()
        # NIfTI stores all voxels of one component before the next component.
        component, voxel = np.divmod(places, memory.size // number)
        memory.reshape(-1, number)[voxel, component] = values


def find_not_finite(path: Path) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return flat indices and values of NaN and infinite voxels that would be read as 0."""
    described, header = _header(path)
    if header is None or header.image_io != _WITHOUT_LAYERS:
        return np.empty(0, np.intp), np.empty(0)
    return binary.find_not_finite(head_of(described)[0], header)


def files_of(path: PathLike) -> list[Path]:
    """Return all files of an image: the file itself, its header, and those with its voxels."""
    path = Path(path)
    described, header = _header(path)
    return list(dict.fromkeys([path, described, *(header.data if header else ())]))


def read_quietly(path: PathLike) -> tuple[Any, str]:
    """Read an image; also return what the image library printed to stderr while reading."""
    with capture_library_output() as printed:
        image = read_image(path)
    return image, printed[0]


@contextmanager
def capture_library_output() -> Iterator[list[str]]:
    """Capture what image libraries write to stderr; on exit, the list contains it."""
    captured: list[str] = []
    with tempfile.TemporaryFile() as printed:
        with _redirect_stderr(printed):
            yield captured
        printed.seek(0)
        captured.append(printed.read().decode(errors="replace"))


def volumes_of(image: Any) -> list[Any]:
    """Split a SimpleITK image into volumes along its last axis."""
    size = list(image.GetSize())
    corner = [0] * len(size)
    parts = []
    for number in range(size[-1]):
        corner[-1] = number
        parts.append(sitk.Extract(image, [*size[:-1], 0], corner))
    return parts


def write_image(
    image: Any, path: PathLike, *, compress: bool = True, is_output: bool = True
) -> None:
    """Write a SimpleITK image atomically, compressed if the format supports it.

    If it is an output, the file is marked as such (see `own_outputs`).
    """
    path = Path(path)
    if _format(path) in _NOT_WRITTEN:
        raise FileError(f"{_NOT_WRITTEN[_format(path)]}; {_USE}", path=path)
    if _format(path) in (".mha", ".mhd") and "%" in path.name:
        # MetaIO passes the name of the voxel file, which contains this name, to printf.
        raise FileError("cannot be written: the name of a MetaImage must not have %", path=path)
    with atomic_write(path, alone=_format(path) in _ONE_FILE) as draft:
        try:
            written = add_mark(image, _format(path)) if is_output else image
            sitk.WriteImage(written, str(draft), compress)
            _check_written(draft, image, path)
        except FileError as error:
            problem = error.problem.removeprefix("cannot be written: ")
            raise FileError(f"cannot be written: {problem}", path=path) from error
        except RuntimeError as error:
            reason = _NOISE.sub("", _reason(error).replace(str(draft), str(path)))
            advice = _suitable_formats(image)
            raise FileError(f"cannot be written: {reason}; {advice}", path=path) from error


def join_volumes(images: Sequence[Any]) -> Any:
    """Join SimpleITK images along a new last axis; a single image is returned unchanged."""
    return images[0] if len(images) == 1 else sitk.JoinSeries(list(images))


def _header(path: Path) -> tuple[Path, Header | None]:
    """Return the header file of an image, and its header; None if its format is not checked."""
    require_regular(path)
    described = binary.nifti_header_file(path) or path
    require_regular(described)
    head, packed = head_of(described)
    found = (read(described, head, packed) for read in _HEADER_READERS)
    return described, next((header for header in found if header is not None), None)


def header_reader(path: Path) -> Any:
    """Check a file's header, and return a SimpleITK reader for the file."""
    _, header = _header(path)
    reader = sitk.ImageFileReader()
    reader.SetFileName(str(path))
    if header is not None:
        require_complete(header, path)
        _reject_twin(header, path)
        reader.SetImageIO(header.image_io)
    elif reader.GetImageIOFromFileName(str(path)) in _TRUSTING:
        raise FileError("its contents do not match the image format of its name", path=path)
    return reader


def _reject_twin(header: Header, path: Path) -> None:
    """Raise if both a.nii.gz and a.nii exist: ITK would read the voxels of the latter."""
    twin = path.with_suffix("")
    if header.data == (path,) and path.name.endswith(".nii.gz") and os.path.lexists(twin):
        raise FileError(
            f"{twin.name} is in the same folder, and SimpleITK would read its voxels instead: "
            "rename or move one of the two",
            path=path,
        )


def reject_contours(path: Path) -> None:
    """Raise if a file is an RTSTRUCT: its contours can only be read with their image series."""
    head, _ = head_of(path)
    # The SOP class of a DICOM file is within its first bytes.
    if head[128:132] == b"DICM" and _CONTOURS_CLASS.search(head[:1024]):
        raise FileError(
            "is an RTSTRUCT, contours on a series of images; use read_dicom_contours or, on the "
            "command line, add --per-structure --series FOLDER",
            path=path,
        )


def reject_layers(reader: Any, path: Path) -> None:
    """Raise if a file contains overlapping segments, which would silently be read as raters."""
    keys = reader.GetMetaDataKeys()
    if (
        "0008|0016" in keys
        and reader.GetMetaData("0008|0016").strip("\0 ") in _SEGMENTATION_CLASSES
    ):
        raise FileError(
            "is a DICOM segmentation, whose segments would be read as slices of one "
            "label; use read_dicom_segmentation or, on the command line, add --per-structure "
            "--series FOLDER",
            path=path,
        )
    is_layered = reader.GetNumberOfComponents() > 1 or reader.GetDimension() > 3
    if is_layered and any(key.startswith("Segment0_") for key in keys):
        raise FileError(
            "has segments in several layers, which would be read as raters; use "
            "read_slicer_segmentation or, on the command line, add --per-structure",
            path=path,
        )


def _format(path: Path) -> str:
    """Return the extension without ``.gz``, in lower case."""
    return split_image_name(path)[1].lower().removesuffix(".gz")


def _reason(error: RuntimeError) -> str:
    """Return the last line of a SimpleITK error, which describes the problem."""
    last_line = str(error).strip().splitlines()[-1].removeprefix("sitk::ERROR: ")
    if last_line.startswith("Unable to determine ImageIO"):
        return "its contents or extension belong to no image format that SimpleITK supports"
    return last_line


def _check_written(draft: Path, image: Any, path: Path) -> None:
    """Read a written file back, and raise if data were lost (full disk, or unsuitable format)."""
    try:
        reader = header_reader(draft)
    except FileError as error:
        raise FileError(f"what was written {error.problem}; is the disk full?") from error
    reader.ReadImageInformation()
    lost = _lost_geometry(reader, image)
    is_exact = _format(path) in _EXACT and reader.GetPixelID() == image.GetPixelID()
    if not lost and not is_exact:
        back, wanted = (sitk.GetArrayFromImage(one) for one in (read_image(draft), image))
        if not np.array_equal(back.squeeze(), wanted.squeeze(), equal_nan=wanted.dtype.kind == "f"):
            raise FileError(
                f"its format does not preserve a {image.GetDimension()}D image of {wanted.dtype}; "
                f"{_suitable_formats(image)}",
                path=path,
            )
    if lost:
        advice = _suitable_formats(image)
        raise FileError(f"cannot be written: the format holds {lost}; {advice}", path=path)


def _lost_geometry(reader: Any, image: Any) -> str:
    """Describe how a file's geometry differs from the image's, ignoring axes of length 1."""
    held, wanted = (_space_of(one, _MOST_AXES) for one in (reader, image))
    sizes = [[extent for extent in one.GetSize() if extent > 1] for one in (reader, image)]
    # Some formats store float32, which is accurate to a thousandth of a voxel in any scanner.
    spacing = np.asarray(wanted["spacing"])
    far = 1e-6 * np.abs(wanted["origin"]).max()
    close = {"spacing": 1e-5 * spacing.max(), "origin": 1e-3 * spacing.min() + far}
    if sizes[0] != sizes[1] and reader.GetDimension() < len(sizes[1]):
        return f"{reader.GetDimension()} axes, not {len(sizes[1])}"
    if sizes[0] != sizes[1]:
        return f"size {tuple(reader.GetSize())}, not {tuple(image.GetSize())}"
    for field in ("spacing", "origin", "direction"):
        if np.abs(held[field] - wanted[field]).max() > close.get(field, 1e-4):
            values = (tuple(getattr(one, f"Get{field.title()}")()) for one in (reader, image))
            return f"{field} {', not '.join(map(_format_vector, values))}"
    return ""


def _format_vector(values: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.6g}' for value in values)})"


def _space_of(image: Any, axes: int) -> dict[str, NDArray[np.float64]]:
    """Return spacing, origin and direction, padded to the given number of axes."""
    known = image.GetDimension()
    direction = np.eye(axes)
    direction[:known, :known] = np.reshape(image.GetDirection(), (known, known))
    spacing, origin = np.ones(axes), np.zeros(axes)
    spacing[:known], origin[:known] = image.GetSpacing(), image.GetOrigin()
    return {"spacing": spacing, "origin": origin, "direction": direction}


def _suitable_formats(image: Any) -> str:
    """Return advice on formats that can store the image, including non-orthogonal axes."""
    axes = np.reshape(image.GetDirection(), (image.GetDimension(),) * 2)
    off = np.abs(axes.T @ axes - np.eye(len(axes)))
    if off.max() <= _RIGHT:
        return _USE
    # NRRD stores spacing times direction, so directions must have length 1.
    return "use .nrrd, .nhdr or .mha" if np.diag(off).max() <= _RIGHT else "use .mha or .mhd"


@contextmanager
def _redirect_stderr(file: IO[bytes]) -> Iterator[None]:
    """Redirect the process's stderr, to which image libraries write directly, to a file."""
    try:
        original = os.dup(2)
    except OSError:  # the process has no stderr to redirect
        yield
        return
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)
