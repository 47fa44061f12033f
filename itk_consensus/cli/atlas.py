"""``itk-consensus atlas``: joint label fusion with the options of antsJointFusion."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.cli.console import Console
from itk_consensus.cli.inputs import read_files, require_label_maps, require_one_space
from itk_consensus.cli.options import add_option, file_name, is_file_name, use_option_names
from itk_consensus.cli.outputs import Output, add_overwrite_option, check_outputs, lock_outputs
from itk_consensus.core.errors import ParameterError
from itk_consensus.images.files import write_image
from itk_consensus.methods.atlas.joint_label_fusion_filter import JointLabelFusionFilter
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.text import PROGRAM, pairs, section

_MOST_MODALITIES = 64


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command, with the short and long names of antsJointFusion."""
    parser.usage = f"{PROGRAM} atlas -t TARGET -g IMAGE... -l LABELS... -o OUTPUT [options]"
    parser.description = (
        "Label an image by atlases that were registered to it (joint label fusion). The options "
        "are those of antsJointFusion; several modalities are written [a.nii.gz,b.nii.gz]."
    )
    parser.set_defaults(run=_atlas, parser=parser)
    add = parser.add_argument
    add("-t", "--target-image", required=True, type=_names, metavar="FILE", help="the target")
    add(
        "-g",
        "--atlas-image",
        required=True,
        nargs="+",
        action="extend",
        type=_names,
        metavar="FILE",
        help="image of each atlas, on the target's grid",
    )
    add(
        "-l",
        "--atlas-segmentation",
        nargs="+",
        action="extend",
        type=file_name,
        metavar="FILE",
        default=[],
        help="labels of each atlas; without them only intensities are fused",
    )
    add(
        "-o",
        "--output",
        required=True,
        type=_names,
        metavar="FILE",
        help="the labels, or [labels,intensities,probability%%02d]: also the fused intensities and "
        "the probability of each label",
    )
    add("-x", "--mask-image", type=file_name, metavar="FILE", help="voxels to label (non-zero)")
    add(
        "-e",
        "--exclusion-image",
        action="append",
        type=_exclusion,
        default=[],
        metavar="LABEL[FILE]",
        help="voxels that cannot have a label (non-zero); may be repeated",
    )
    add("-a", "--alpha", type=float, help="regularisation of the diagonal [default: 0.1]")
    add("-b", "--beta", type=float, help="exponent of the errors [default: 2]")
    _add_radius(parser, "-p", "--patch-radius", "the patch", 1)
    _add_radius(parser, "-s", "--search-radius", "the search", 2)
    add(
        "-c",
        "--constrain-nonnegative",
        choices=("0", "1"),
        default="0",
        help="1: optimise non-negative weights; 0: set negative weights to 0 [default: 0]",
    )
    add(
        "-m",
        "--patch-metric",
        type=str.upper,
        choices=("PC", "MSQ"),
        default="PC",
        help="PC: normalise patches; MSQ: compare intensities as they are [default: PC]",
    )
    add(
        "-d",
        "--image-dimensionality",
        type=int,
        choices=(2, 3, 4),
        help="must equal the images' dimension",
    )
    add("-r", "--retain-label-posterior-images", choices=("0", "1"), help="ignored; for scripts")
    add_option(parser, JointLabelFusionFilter.InputsAreLabels)
    add("-v", "--verbose", choices=("0", "1"), default="0", help="1: list what was written [0]")
    add_overwrite_option(parser)


def _add_radius(
    parser: argparse.ArgumentParser, letter: str, name: str, what: str, default: int
) -> None:
    parser.add_argument(
        letter,
        name,
        type=_radii,
        metavar="N[xNxN]",
        help=f"radius of {what} in voxels, for all axes or for each [default: {default} times "
        "the smallest spacing]",
    )


def _names(text: str) -> list[Path]:
    """Parse a file name, or several names in brackets."""
    listed = text[1:-1].split(",") if text.startswith("[") and text.endswith("]") else [text]
    if len(listed) > _MOST_MODALITIES:
        raise argparse.ArgumentTypeError(f"must name at most {_MOST_MODALITIES} files")
    return [file_name(name.strip()) for name in listed]


def _exclusion(text: str) -> tuple[int, Path]:
    found = re.fullmatch(r"(-?\d{1,9})\[([^\[\]]+)\]", text)
    if found is None or not is_file_name(found[2]):
        raise argparse.ArgumentTypeError(f"must be written LABEL[FILE], got {text!a}")
    return int(found[1]), Path(found[2])


def _radii(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d{1,4}(x\d{1,4})*", text):
        raise argparse.ArgumentTypeError(f"must be a radius such as 2 or 2x2x2, got {text!a}")
    return tuple(int(word) for word in text.split("x"))


def _atlas(arguments: argparse.Namespace, console: Console) -> None:
    maps: list[Path] = arguments.atlas_segmentation
    if maps and len(maps) != len(arguments.atlas_image):
        arguments.parser.error(
            f"-l must name as many files as -g, {len(arguments.atlas_image)}, got {len(maps)}"
        )
    files = _files(arguments, console)
    geometry = next(iter(files.values())).geometry
    if arguments.image_dimensionality not in (None, geometry.dimension):
        arguments.parser.error(
            f"-d must be {geometry.dimension}, the dimension of the images, got "
            f"{arguments.image_dimensionality}"
        )
    outputs = _Outputs.of(arguments, bool(maps))
    known = [Output("-o", path, kind) for path, kind in outputs.fixed_files()]
    check_outputs(known, files, geometry, overwrite=arguments.overwrite)
    filter_ = _filter(arguments, files, geometry)
    console.follow(filter_, 0.4, 0.9)
    with use_option_names(filter_, "atlas"):
        labels = filter_.Execute(_label_images(arguments, files))
    posteriors = outputs.posteriors(filter_.GetLabels())
    more = [Output("-o", path, np.float64) for path in posteriors.values()]
    check_outputs(more, files, geometry, overwrite=arguments.overwrite)
    with lock_outputs([*known, *more], overwrite=arguments.overwrite):
        if outputs.labels is not None:
            write_image(labels, outputs.labels)
        for modality, path in enumerate(outputs.intensities):
            write_image(filter_.GetFusedIntensityImage(modality), path)
        for label, path in posteriors.items():
            write_image(filter_.GetProbabilityImage(label), path)
    if arguments.verbose == "1":
        written = [str(output.path) for output in (*known, *more)]
        weights = ", ".join(f"{weight:.3f}" for weight in filter_.MeanWeights)
        facts = {"mean weights": weights, "written": ", ".join(written)}
        console.answer(section(str(arguments.target_image[0]), pairs(facts)))


def _files(arguments: argparse.Namespace, console: Console) -> dict[Path, ImageFile]:
    """Read all input files, and check that they have the same grid."""
    looked_at = (arguments.target_image, *arguments.atlas_image)
    paths = [path for modalities in looked_at for path in modalities]
    paths += arguments.atlas_segmentation
    paths += [] if arguments.mask_image is None else [arguments.mask_image]
    paths += [path for _, path in arguments.exclusion_image]
    distinct = list(dict.fromkeys(paths))
    files = list(read_files(distinct, console, 0.4))
    tolerances = JointLabelFusionFilter()
    require_one_space(files, tolerances.CoordinateTolerance, tolerances.DirectionTolerance)
    found = dict(zip(distinct, files, strict=True))
    require_label_maps(
        [found[path] for path in arguments.atlas_segmentation],
        arguments,
        [] if arguments.mask_image is None else [found[arguments.mask_image]],
        "give it as -g, and labels as -l",
    )
    return found


def _filter(
    arguments: argparse.Namespace, files: dict[Path, ImageFile], geometry: Any
) -> JointLabelFusionFilter:
    given: dict[str, Any] = {
        "Image": [files[path].image for path in arguments.target_image],
        "AtlasImages": [[files[path].image for path in one] for one in arguments.atlas_image],
        "ConstrainWeights": arguments.constrain_nonnegative == "1",
        "NormalizePatches": arguments.patch_metric == "PC",
        "InputsAreLabels": getattr(arguments, "InputsAreLabels", False),
        "FuseIntensities": bool(_intensity_names(arguments)),
    }
    if arguments.mask_image is not None:
        given["MaskImage"] = files[arguments.mask_image].image
    if arguments.exclusion_image:
        given["ExclusionImages"] = {n: files[path].image for n, path in arguments.exclusion_image}
    for name, value in (("Alpha", arguments.alpha), ("Beta", arguments.beta)):
        if value is not None:
            given[name] = value
    sides = geometry.array_spacing[::-1]
    for letter, name, radii in (
        ("-p", "PatchRadius", arguments.patch_radius),
        ("-s", "SearchRadius", arguments.search_radius),
    ):
        if radii is None:
            continue
        if len(radii) not in (1, len(sides)):
            raise ParameterError(f"{letter} must have one radius or {len(sides)}, got {len(radii)}")
        all_axes = radii * len(sides) if len(radii) == 1 else radii
        given[name] = [r * side for r, side in zip(all_axes, sides, strict=True)]
    with use_option_names(JointLabelFusionFilter(), "atlas"):
        return JointLabelFusionFilter(**given)


def _label_images(arguments: argparse.Namespace, files: dict[Path, ImageFile]) -> list[Any]:
    """Return the labels of the atlases; if there are none, return background for each atlas."""
    if arguments.atlas_segmentation:
        return [files[path].image for path in arguments.atlas_segmentation]
    target = files[arguments.target_image[0]].image
    return [target * 0] * len(arguments.atlas_image)


def _intensity_names(arguments: argparse.Namespace) -> list[Path]:
    """Return the files of the fused intensities, one per modality."""
    named: list[Path] = arguments.output
    wanted = named[1:2] if arguments.atlas_segmentation else named[:1]
    number = len(arguments.target_image)
    if not wanted or (number == 1 and "%" not in str(wanted[0])):
        return wanted
    return [_insert_number(wanted[0], modality + 1) for modality in range(number)]


def _insert_number(path: Path, number: int) -> Path:
    """Replace a placeholder such as %d or %02d in a name by a number."""
    name, count = re.subn(r"%(0?)(\d?)d", lambda found: _digits(found, number), str(path))
    if count != 1 or "%" in name:
        raise ParameterError(f"-o must have one placeholder such as %02d in {path}")
    return Path(name)


def _digits(found: re.Match[str], number: int) -> str:
    return str(number).rjust(int(found[2] or 1), "0" if found[1] else " ")


@dataclass(frozen=True)
class _Outputs:
    """The files specified by -o."""

    labels: Path | None
    intensities: list[Path]
    posterior: Path | None  #: Contains a placeholder for the label

    @classmethod
    def of(cls, arguments: argparse.Namespace, has_labels: bool) -> _Outputs:
        """Parse -o like antsJointFusion, except for images of the atlases' weights."""
        named: list[Path] = arguments.output
        if len(named) > (3 if has_labels else 1):
            arguments.parser.error(
                "-o must be [labels,intensities,probability%02d] or fewer of them; images of the "
                "atlases' weights are not supported"
                if has_labels
                else "-o must name only the fused intensities if there is no -l"
            )
        posterior = named[2] if len(named) > 2 else None
        if posterior is not None:
            _insert_number(posterior, 0)
        return cls(named[0] if has_labels else None, _intensity_names(arguments), posterior)

    def fixed_files(self) -> list[tuple[Path, Any]]:
        """Return the files whose names do not depend on a label, with their pixel types."""
        labels = [] if self.labels is None else [(self.labels, np.uint8)]
        return [*labels, *((path, np.float32) for path in self.intensities)]

    def posteriors(self, labels: tuple[int, ...]) -> dict[int, Path]:
        """Return the probability file of each label except the background."""
        if self.posterior is None:
            return {}
        return {label: _insert_number(self.posterior, label) for label in labels if label != 0}
