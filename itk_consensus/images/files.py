"""Image and text files, for the command line and reports; nothing else in the package reads paths.

Writing is atomic: if it fails, the old file is still there.
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
from itk_consensus.images.own_outputs import marked
from itk_consensus.storage.files import PathLike
from itk_consensus.storage.guards import require_regular
from itk_consensus.storage.replacing import replacing

#: Formats that are never more than one file.
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
# Readers that trust headers; they get only files whose headers were checked here.
_TRUSTING = {"MetaImageIO", "NrrdImageIO", "VTKImageIO", "NiftiImageIO", "TIFFImageIO"}
_TRUSTING |= {"GiplImageIO", "MRCImageIO", "BMPImageIO", "JPEGImageIO", "LSMImageIO"}
#: NIfTI has no place for the names of segments.
_WITHOUT_LAYERS = "NiftiImageIO"
#: Formats whose components are colours, also of what was saved as numbers with a palette.
_PHOTOGRAPHS = {"PNGImageIO", "JPEGImageIO", "BMPImageIO"}
_USE = "use .nii.gz, .nrrd or .mha"
#: Formats whose voxels are what was written if they have its type.
_EXACT = {".nii", ".nrrd", ".nhdr", ".mha", ".mhd"}
_MOST_AXES = 5
#: Cosines that headers round are still those of right angles.
_RIGHT = 1e-4
#: Where in memory a library found its mistake.
_OF_MEMORY = re.compile(r"ITK ERROR: |\(0x[0-9a-f]+\)")
_NOT_WRITTEN = dict.fromkeys(
    (".dcm", ".dicom"),
    "DICOM holds structures, which write_dicom_segmentation, write_dicom_contours or "
    "--per-structure write",
)
# Their library crashes when the disk is full.
_NOT_WRITTEN |= dict.fromkeys(
    (".hdf", ".h4", ".hdf4", ".h5", ".hdf5", ".he4", ".he5", ".hd5"), "HDF5 is not written"
)
_NOT_WRITTEN |= dict.fromkeys((".mnc", ".mnc2"), "MINC is not written")
_CONTOURS_CLASS = re.compile(rb"1\.2\.840\.10008\.5\.1\.4\.1\.1\.481\.3(?![\d.])")
_SEGMENTATION_CLASSES = {"1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7"}


def split_image_name(path: PathLike) -> tuple[str, str]:
    """Split a file name into stem and extension, taking ``.nii.gz`` and its like as one."""
    path = Path(path)
    suffix = path.suffix
    if suffix.lower() == ".gz":
        suffix = path.with_suffix("").suffix + suffix
    return path.name.removesuffix(suffix), suffix


def distinct_names(names: Sequence[str], files: Sequence[Path]) -> tuple[str, ...]:
    """Names as they are, but for those that are not alone.

    They get the folder in which they differ, or the extension, or a number if it is one file.
    """
    places = [Path(os.path.abspath(file)) for file in files]
    found = list(names)
    for spelled in (_with_folder, _with_extension, _with_number):
        taken = Counter(found)
        for name in [name for name in taken if taken[name] > 1]:
            same = [index for index, one in enumerate(found) if one == name]
            top = Path(os.path.commonpath([places[index].parent for index in same]))
            for number, index in enumerate(same, start=1):
                found[index] = spelled(names[index], places[index].relative_to(top), number)
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
        It is not an image, voxels are missing, or it holds segments that would be mistaken for
        raters or slices.
    """
    path = Path(path)
    reader = header_reader(path)
    try:
        if reader.GetImageIO() != _WITHOUT_LAYERS:
            reader.ReadImageInformation()
            reject_layers(reader, path)
        image = reader.Execute()
        # Whole numbers are finite; the header need not be read again for them.
        if reader.GetImageIO() == _WITHOUT_LAYERS and "float" in image.GetPixelIDTypeAsString():
            _restore_not_finite(image, path)
    except RuntimeError as error:
        if isinstance(error, FileError):
            raise
        reject_contours(path)
        raise FileError(f"cannot be read as an image: {_reason(error)}", path=path) from error
    is_vector = image.GetNumberOfComponentsPerPixel() > 1
    if is_vector and reader.GetImageIOFromFileName(str(path)) in _PHOTOGRAPHS:
        image.SetMetaData(PIXEL_KIND, "RGB-color")  # as ITK has it of files that say so
    return image


def _restore_not_finite(image: Any, path: Path) -> None:
    """Write NaN and infinity, of which ITK's reader of NIfTI makes 0, where the file has them."""
    places, values = not_finite(path)
    if places.size:
        view = sitk.GetArrayViewFromImage(image)
        memory = keep_alive(view, image, writable=True)
        number = image.GetNumberOfComponentsPerPixel()
        # The file holds one component after the other.
        component, voxel = np.divmod(places, memory.size // number)
        memory.reshape(-1, number)[voxel, component] = values


def not_finite(path: Path) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Where the voxels of a file are NaN or infinite and would be read as 0, and what they are."""
    described, header = _header(path)
    if header is None or header.image_io != _WITHOUT_LAYERS:
        return np.empty(0, np.intp), np.empty(0)
    return binary.not_finite(head_of(described)[0], header)


def files_of(path: PathLike) -> list[Path]:
    """Every file an input consists of: its own, its header's, and those with its voxels."""
    path = Path(path)
    described, header = _header(path)
    return list(dict.fromkeys([path, described, *(header.data if header else ())]))


def read_quietly(path: PathLike) -> tuple[Any, str]:
    """Read an image; also return what the image library printed meanwhile.

    Those libraries write straight to the process's stderr, several lines at a time.
    """
    with quietly() as printed:
        image = read_image(path)
    return image, printed[0]


@contextmanager
def quietly() -> Iterator[list[str]]:
    """Keep what image libraries print from the terminal; afterwards it is in the list."""
    told: list[str] = []
    with tempfile.TemporaryFile() as printed:
        with _stderr_of_libraries_into(printed):
            yield told
        printed.seek(0)
        told.append(printed.read().decode(errors="replace"))


def volumes_of(image: Any) -> list[Any]:
    """The volumes of a 4D SimpleITK image, along its last axis."""
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
    """Write a SimpleITK image, compressed where the format can, replacing `path` in one step.

    An output says in the file that it is ours.
    """
    path = Path(path)
    if _format(path) in _NOT_WRITTEN:
        raise FileError(f"{_NOT_WRITTEN[_format(path)]}; {_USE}", path=path)
    if _format(path) in (".mha", ".mhd") and "%" in path.name:
        # MetaIO formats the name of the voxels' file, which is made from this one, by printf.
        raise FileError("cannot be written: a MetaImage's name must be without %", path=path)
    with replacing(path, alone=_format(path) in _ONE_FILE) as draft:
        try:
            written = marked(image, _format(path)) if is_output else image
            sitk.WriteImage(written, str(draft), compress)
            _check_written(draft, image, path)
        except FileError as error:
            told = error.problem.removeprefix("cannot be written: ")
            raise FileError(f"cannot be written: {told}", path=path) from error
        except RuntimeError as error:
            reason = _OF_MEMORY.sub("", _reason(error).replace(str(draft), str(path)))
            raise FileError(f"cannot be written: {reason}; {_use(image)}", path=path) from error


def joined(images: Sequence[Any]) -> Any:
    """Several SimpleITK images as the volumes of one with an axis more; one stays as it is."""
    return images[0] if len(images) == 1 else sitk.JoinSeries(list(images))


def _header(path: Path) -> tuple[Path, Header | None]:
    """The file that describes an image, and what it says; None if its format is not checked."""
    require_regular(path)
    described = binary.nifti_header_file(path) or path
    require_regular(described)
    head, packed = head_of(described)
    found = (read(described, head, packed) for read in _HEADER_READERS)
    return described, next((header for header in found if header is not None), None)


def header_reader(path: Path) -> Any:
    """SimpleITK's reader of a file whose header was checked."""
    _, header = _header(path)
    reader = sitk.ImageFileReader()
    reader.SetFileName(str(path))
    if header is not None:
        require_complete(header, path)
        _reject_twin(header, path)
        reader.SetImageIO(header.image_io)
    elif reader.GetImageIOFromFileName(str(path)) in _TRUSTING:
        raise FileError("its contents belong to no image format, whatever its name says", path=path)
    return reader


def _reject_twin(header: Header, path: Path) -> None:
    """ITK's reader of a.nii.gz takes the voxels of a.nii, if that lies beside it."""
    twin = path.with_suffix("")
    if header.data == (path,) and path.name.endswith(".nii.gz") and os.path.lexists(twin):
        raise FileError(
            f"{twin.name} lies beside it, whose voxels SimpleITK would read instead: rename or "
            "move one of the two",
            path=path,
        )


def reject_contours(path: Path) -> None:
    """Contours are no voxels: they need the series on which they were drawn."""
    head, _ = head_of(path)
    # The class of what a DICOM file holds stands in its first lines.
    if head[128:132] == b"DICM" and _CONTOURS_CLASS.search(head[:1024]):
        raise FileError(
            "is an RTSTRUCT, contours on a series of images; use read_dicom_contours or, on the "
            "command line, add --per-structure --series FOLDER",
            path=path,
        )


def reject_layers(reader: Any, path: Path) -> None:
    """Segments that may overlap are no raters and no slices, and nobody would notice."""
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
    """The extension without ``.gz``, in lower case."""
    return split_image_name(path)[1].lower().removesuffix(".gz")


def _reason(error: RuntimeError) -> str:
    """The one line of a SimpleITK error that says what is wrong."""
    last_line = str(error).strip().splitlines()[-1].removeprefix("sitk::ERROR: ")
    if last_line.startswith("Unable to determine ImageIO"):
        return "its contents or extension belong to no image format SimpleITK knows"
    return last_line


def _check_written(draft: Path, image: Any, path: Path) -> None:
    """A full disk cuts files short, and formats lose slices, places or values, without a word."""
    try:
        reader = header_reader(draft)
    except FileError as error:
        raise FileError(f"what was written {error.problem}; is the disk full?") from error
    reader.ReadImageInformation()
    lost = _lost_space(reader, image)
    is_exact = _format(path) in _EXACT and reader.GetPixelID() == image.GetPixelID()
    if not lost and not is_exact:
        back, wanted = (sitk.GetArrayFromImage(one) for one in (read_image(draft), image))
        if not np.array_equal(back.squeeze(), wanted.squeeze(), equal_nan=wanted.dtype.kind == "f"):
            raise FileError(
                f"its format does not keep a {image.GetDimension()}D image of {wanted.dtype} as it "
                f"is; {_use(image)}",
                path=path,
            )
    if lost:
        raise FileError(f"cannot be written: the format holds {lost}; {_use(image)}", path=path)


def _lost_space(reader: Any, image: Any) -> str:
    """What a file says otherwise of where the voxels lie; axes of one voxel may come and go."""
    held, wanted = (_space_of(one, _MOST_AXES) for one in (reader, image))
    sizes = [[extent for extent in one.GetSize() if extent > 1] for one in (reader, image)]
    # Formats keep float32, which is exact to a thousandth of a voxel in any scanner.
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
            return f"{field} {', not '.join(map(_shown, values))}"
    return ""


def _shown(values: Sequence[float]) -> str:
    return f"({', '.join(f'{value:.6g}' for value in values)})"


def _space_of(image: Any, axes: int) -> dict[str, NDArray[np.float64]]:
    """Spacing, origin and direction, as of an image with more axes of one voxel."""
    known = image.GetDimension()
    direction = np.eye(axes)
    direction[:known, :known] = np.reshape(image.GetDirection(), (known, known))
    spacing, origin = np.ones(axes), np.zeros(axes)
    spacing[:known], origin[:known] = image.GetSpacing(), image.GetOrigin()
    return {"spacing": spacing, "origin": origin, "direction": direction}


def _use(image: Any) -> str:
    """Formats that hold an image, also one whose axes are not at right angles."""
    axes = np.reshape(image.GetDirection(), (image.GetDimension(),) * 2)
    off = np.abs(axes.T @ axes - np.eye(len(axes)))
    if off.max() <= _RIGHT:
        return _USE
    # NRRD has spacing and direction in one, and so directions of length 1.
    return "use .nrrd, .nhdr or .mha" if np.diag(off).max() <= _RIGHT else "use .mha or .mhd"


@contextmanager
def _stderr_of_libraries_into(file: IO[bytes]) -> Iterator[None]:
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
