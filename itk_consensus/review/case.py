"""A case to review: the raters' maps, the consensus, its disputes, and how to write it back."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.findings import Finding
from itk_consensus.core.errors import FileError, InputError
from itk_consensus.fusing.fuse_structures import fuse_structures
from itk_consensus.fusing.fusion_result import FusionResult, common_type
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.images.content import image_hashes, voxel_hash
from itk_consensus.images.dicom.seg_reading import NOT_ANNOTATED
from itk_consensus.images.dicom.series import DicomSeries
from itk_consensus.images.files import distinct_names, read_quietly, split_image_name, write_image
from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.images.structure_files import is_dicom, read_structures, write_structures
from itk_consensus.images.structure_matching import MatchedStructures, match_structures
from itk_consensus.images.structures import (
    Structure,
    mask_of,
    separate_undecided,
)
from itk_consensus.review.disputes import MOST_DISPUTES, Dispute, RatedMap, find_disputes
from itk_consensus.review.one_review import Review
from itk_consensus.review.record import (
    RecordWriter,
    ReviewedMap,
    ReviewInput,
    ReviewRecord,
    path_from,
    rated_maps,
    resumed,
)
from itk_consensus.review.thickness import RegionSize, region_sizes
from itk_consensus.review.voxel_runs import encoded_map
from itk_consensus.storage.record import RecordError

#: DICOM attributes of a consensus that was reviewed by a person.
_ORIGIN = {"origin": "SEMIAUTOMATIC", "description": "Adjudicated consensus of several readers"}
_STRUCTURE_SUFFIXES = (".seg.nrrd", ".dcm")


@dataclass(frozen=True)
class MapsOnFile:
    """How to convert adjudicated maps back to images and structures."""

    like: Any  #: A `LoadedImages`: family, geometry and metadata of a label map
    dtype: np.dtype[Any]
    #: Colours, codes and types of structures; empty for a label map.
    templates: tuple[Structure, ...] = ()

    def image(self, labels: NDArray[Any]) -> Any:
        """Return an adjudicated label map as an image of the same type as the raters' images."""
        return convert.to_image(labels.astype(self.dtype), self.like)

    def structures(self, maps: Mapping[str, NDArray[Any]]) -> list[Structure]:
        """Return adjudicated maps as structures; in a label map, every label is a structure."""
        if self.templates:
            return separate_undecided(
                [replace(one, mask=mask_of(maps[one.name], one.mask)) for one in self.templates]
            )
        (labels,) = maps.values()
        space = replace(self.like, family=convert.Family.SIMPLEITK, metadata={})
        return [
            Structure(f"label {label}", convert.to_image((labels == label).astype("u1"), space))
            for label in np.unique(labels[labels != 0]).tolist()
        ]

    def write(
        self,
        maps: Mapping[str, NDArray[Any]],
        path: Path,
        series: DicomSeries | None,
        raters: Sequence[Path],
    ) -> None:
        """Write adjudicated maps in the format given by the file name."""
        if path.name.lower().endswith(_STRUCTURE_SUFFIXES):
            dicom = [rater for rater in raters if is_dicom(rater)] if is_dicom(path) else []
            more = _ORIGIN if is_dicom(path) else {}
            write_structures(
                self.structures(maps), path, series, method="review", raters=dicom, **more
            )
        elif self.templates:
            write_image(self._numbered(maps, path), path)
        else:
            (labels,) = maps.values()
            write_image(self.image(labels), path)

    def _numbered(self, maps: Mapping[str, NDArray[Any]], path: Path) -> Any:
        """Return structures as labels 1, 2, ... of one map; they must not overlap."""
        numbered = np.zeros(next(iter(maps.values())).shape, np.uint16)
        for number, one in enumerate(self.templates, start=1):
            inside = maps[one.name] == 1
            if (numbered[inside] != 0).any():
                raise InputError(
                    f"{one.name} overlaps another structure, which a label map cannot "
                    "hold; write a .seg.nrrd or DICOM",
                    path=path,
                )
            numbered[inside] = number
        return convert.to_image(numbered, self.like)


@dataclass(frozen=True)
class ReviewCase:
    """All data needed to start a review."""

    rated: tuple[RatedMap, ...]
    disputes: tuple[Dispute, ...]
    unlisted_voxels: int
    inputs: tuple[ReviewInput, ...]
    geometry: ImageGeometry
    method: str
    missing_label: int | None
    on_file: MapsOnFile
    #: Returns the findings by structure, which are not needed for the first display.
    find: Callable[[], list[tuple[str, Finding]]] = list
    #: Returns the voxel-wise uncertainty of a structure's consensus.
    uncertainty: Callable[[str], NDArray[Any] | None] = lambda name: None
    drawn_as: Mapping[str, tuple[str | None, ...]] | None = None
    #: Names of the labels of a label map, as far as they are known.
    label_names: Mapping[int, str] = field(default_factory=dict)
    #: For a blinded case: for each reader in displayed order, the index among the given inputs.
    given_order: tuple[int, ...] | None = None

    @cached_property
    def sizes(self) -> dict[int, RegionSize]:
        """Volume and thickness of each dispute."""
        sizes = dict[int, RegionSize]()
        for name in {one.structure for one in self.disputes}:
            own = [one for one in self.disputes if one.structure == name]
            places = [one.places for one in own]
            found = region_sizes(places, self.geometry.shape, self.geometry.spacing)
            sizes |= {one.number: size for one, size in zip(own, found, strict=True)}
        return sizes

    def name_of(self, structure: str, label: int) -> str:
        """Return the name of a label; for a structure, the structure's name."""
        return structure or self.label_names.get(label, f"label {label}")

    @property
    def names(self) -> list[str]:
        """Return the names of the raters."""
        return [one.rater for one in self.inputs]

    @property
    def names_as_given(self) -> list[str]:
        """Return the names in the order of the inputs, to which findings refer."""
        order = self.given_order or range(len(self.inputs))
        return [name for _, name in sorted(zip(order, self.names, strict=True))]

    def blinded(self, record: ReviewRecord | None = None) -> ReviewCase:
        """Return the same case without the readers' names and paths, with the readers shuffled.

        The order depends on the contents, so that it is the same every time for one case but
        differs between cases; a record stores the order that was used before.
        """
        known = [json.dumps((one.sha256, one.component)) for one in self.inputs]
        if record is None:
            by_content = sorted(range(len(known)), key=known.__getitem__)
            seed = int(hashlib.sha256("".join(sorted(known)).encode()).hexdigest(), 16)
            order = tuple(
                by_content[n] for n in np.random.default_rng(seed).permutation(len(known))
            )
        else:
            before = [json.dumps((one.sha256, one.component)) for one in record.inputs]
            if sorted(before) != sorted(known):
                return self  # `of_record` refuses such a record
            order = record.given_order or tuple(range(len(known)))
        inputs = [
            replace(self.inputs[given], rater=f"reader {number}", path=None)
            for number, given in enumerate(order, start=1)
        ]
        drawn_as = {
            name: tuple(row[given] for given in order)
            for name, row in (self.drawn_as or {}).items()
        }
        return replace(
            self,
            rated=tuple(
                replace(one, maps=tuple(one.maps[given] for given in order)) for one in self.rated
            ),
            disputes=tuple(
                replace(one, votes=tuple(one.votes[given] for given in order))
                for one in self.disputes
            ),
            inputs=tuple(inputs),
            drawn_as=drawn_as,
            given_order=order,
        )

    def begun(self, who: str = "") -> Review:
        """Return a new review without any decisions."""
        return Review(self.rated, self.disputes, who=who)

    def writer(self, review: Review, *, consensus_hidden: bool = False) -> RecordWriter:
        """Return the writer of the record of a review of this case."""
        return RecordWriter(
            review,
            self.inputs,
            self.geometry,
            method=self.method,
            given_order=self.given_order,
            consensus_hidden=consensus_hidden,
            missing_label=self.missing_label,
            unlisted_voxels=self.unlisted_voxels,
            drawn_as=self.drawn_as,
        )

    def of_record(self, record: ReviewRecord, source: str) -> ReviewCase:
        """Return the case with the disputes stored in a record.

        Later versions may divide disputes differently.

        Raises
        ------
        FileError
            The record belongs to other inputs, or to another consensus of them.
        """
        known = [one.sha256 for one in record.inputs]
        if sorted(known) != sorted(one.sha256 for one in self.inputs):
            raise FileError("is the review of other inputs; choose another --output", path=source)
        if known != [one.sha256 for one in self.inputs]:
            raise FileError(
                "has the same inputs in another order; give them as before", path=source
            )
        same = [one.name for one in record.maps] == [one.name for one in self.rated] and all(
            one.consensus == encoded_map(own.consensus)
            for one, own in zip(record.maps, self.rated, strict=True)
        )
        if not same or record.grid.geometry.shape != self.geometry.shape:
            raise FileError(
                f"is the review of another consensus (made by {record.method}, version "
                f"{record.version}); give the same --method, or choose another --output",
                path=source,
            )
        voxels = int(np.prod(self.geometry.shape))
        try:
            disputes = tuple(one.dispute(voxels) for one in record.disputes)
        except RecordError as error:
            raise FileError(f"the record is damaged: {error}", path=source) from error
        return replace(self, disputes=disputes, unlisted_voxels=record.unlisted_voxels)

    def continued(self, record: ReviewRecord, source: str, who: str = "") -> Review:
        """Resume the unfinished review stored in a record; raises as `of_record` does."""
        self.of_record(record, source)
        return resumed(record, source, self.rated, who)


# -- from a fuser ----------------------------------------------------------------------------


def missing_of(fused: FusionResult[Any]) -> int:
    """Return the value for missing annotations: the largest label plus one."""
    return max(*fused.labels, fused.undecided, 0) + 1


def voxel_hashes(fused: FusionResult[Any], maps: Sequence[NDArray[Any]]) -> tuple[str, ...]:
    """Return the hashes of the raters' maps, computed once."""
    return fused.memo.get_or_make("voxel hashes", lambda: tuple(map(voxel_hash, maps)))


def rated_map(fused: FusionResult[Any], name: str = "") -> RatedMap:
    """Return the raters' maps and the consensus of a structure."""
    missing = missing_of(fused)
    maps = fused.rater_maps(missing)
    values = np.array([*fused.labels, 0, fused.undecided]).astype(maps[0].dtype)
    consensus = values[fused.decision(fused.labels)]
    is_new = fused.undecided not in fused.labels
    has_undecided = is_new and bool((consensus == fused.undecided).any())
    undecided = fused.undecided if has_undecided else None
    return RatedMap(name, tuple(maps), missing, consensus, fused.labels, undecided)


def case_of_result(
    fused: FusionResult[Any],
    files: Sequence[Path] | None = None,
    record: Path | None = None,
    *,
    label_names: Mapping[int, str] | None = None,
    most: int = MOST_DISPUTES,
) -> ReviewCase:
    """Convert a fusion result to a case.

    Parameters
    ----------
    files : sequence of Path, optional
        The file of each rater, used for hashing; without files, voxels are hashed. Raters without
        names are named after their files.
    record : Path, optional
        Path of the future record; the files' paths are stored relative to it.
    label_names : mapping of int to str, optional
        Names of the labels.
    most : int
        Maximum number of listed disputes; the largest are kept.
    """
    if files is not None and not fused.case.names:
        fused = fused.with_rater_names(_names_of_files(files))
    rated, named = rated_map(fused), fused.rater_names
    if files is None:
        hashed = [
            ReviewInput(n, None, 0, (m,), "voxels")
            for n, m in zip(named, voxel_hashes(fused, rated.maps), strict=True)
        ]
    else:
        hashed = inputs_of_files(named, files, record)
    spacing = fused.like.geometry.spacing
    disputes, unlisted = find_disputes([rated], [fused.probabilities_at], most, spacing)
    return ReviewCase(
        (rated,),
        tuple(disputes),
        unlisted,
        tuple(hashed),
        fused.like.geometry,
        fused.made_by.method,
        fused.made_by.parameters["MissingLabel"],
        MapsOnFile(fused.like, fused.dtype),
        lambda: [("", finding) for finding in assess(fused).findings(full=False).findings],
        lambda _: np.asarray(_written(fused, lambda out: fused.write_uncertainty("entropy", out))),
        label_names=label_names or {},
    )


def case_of_structures(
    paths: Sequence[Path],
    fuser: LabelFusionFilter,
    series: DicomSeries | None,
    *,
    record: Path | None = None,
    match: Callable[[Mapping[str, Sequence[Structure]]], MatchedStructures] = match_structures,
    **options: Any,
) -> ReviewCase:
    """Create a case from files of named structures, matched by `match` and fused separately."""
    if len({*map(str, paths)}) < len(paths):
        raise InputError("a file is given twice")
    readers = {str(path): read_structures(path, series, **options) for path in paths}
    inputs = inputs_of_files(_names_of_files(paths), paths, record)
    return case_of_matched(match(readers), fuser, inputs)


def case_of_matched(
    matched: MatchedStructures,
    fuser: LabelFusionFilter,
    inputs: Sequence[ReviewInput] | None = None,
) -> ReviewCase:
    """Make a case from the readers' matched structures, each fused separately.

    Parameters
    ----------
    inputs : sequence of ReviewInput, optional
        Identification of the readers; by default, the names passed to `match_structures` and the
        hashes of their voxels.
    """
    templates, loaded = [], list[RatedMap]()
    probabilities, results = [], dict[str, FusionResult[Any]]()
    for name, row in matched.table.items():
        fuse_structures({name: [None if one is None else one.mask for one in row]}, fuser)
        fused = fuser.fused
        loaded.append(rated_map(fused, name))
        probabilities.append(fused.probabilities_at)
        results[name] = fused
        first = next(one for one in row if one is not None)
        templates.append(replace(first, name=name))
    like = convert.load([templates[0].mask], owner="review").without_inputs()
    spacing = like.geometry.spacing
    disputes, unlisted = find_disputes(loaded, probabilities, spacing=spacing)

    def uncertainty(name: str) -> NDArray[Any]:
        fused = results[name]
        return _written(fused, lambda out: fused.write_uncertainty("entropy", out))

    return ReviewCase(
        tuple(loaded),
        tuple(disputes),
        unlisted,
        tuple(_inputs_of_voxels(matched.readers, loaded) if inputs is None else inputs),
        like.geometry,
        fuser.method,
        fuser.MissingLabel,
        MapsOnFile(like, np.dtype(np.uint8), tuple(templates)),
        lambda: [
            (name, finding)
            for name, one in results.items()
            for finding in assess(one).findings(full=False).findings
        ],
        uncertainty=uncertainty,
        drawn_as={
            name: tuple(None if one is None else one.name for one in row)
            for name, row in matched.table.items()
        },
    )


def _names_of_files(files: Sequence[Path]) -> list[str]:
    """Name raters by file, adding the folder if names repeat, and a number within one file."""
    every = list(dict.fromkeys(map(Path, files)))
    names = dict(
        zip(every, distinct_names([split_image_name(p)[0] for p in every], every), strict=True)
    )
    found, seen = [], Counter[Path]()
    for path in map(Path, files):
        several = sum(Path(other) == path for other in files) > 1
        found.append(f"{names[path]}[{seen[path]}]" if several else names[path])
        seen[path] += 1
    return found


def _inputs_of_voxels(names: Sequence[str], rated: Sequence[RatedMap]) -> list[ReviewInput]:
    """Return the raters, identified by the voxels of all their structures."""
    return [
        ReviewInput(name, None, 0, (voxel_hash(np.stack(drawn)),), "voxels")
        for name, *drawn in zip(names, *(one.maps for one in rated), strict=True)
    ]


def inputs_of_files(
    names: Sequence[str], files: Sequence[Path], record: Path | None
) -> list[ReviewInput]:
    """Return the raters, identified by file hashes; a file may hold several raters."""
    found, seen = [], dict[Path, int]()
    for name, file in zip(names, files, strict=True):
        path = Path(file)
        component = seen[path] = seen.get(path, -1) + 1
        hashes = tuple(image_hashes(path).values())
        place = None if record is None else path_from(record, path)
        found.append(ReviewInput(name, place, component, hashes, "files"))
    return found


def _written(
    fused: FusionResult[Any], write: Callable[[NDArray[Any]], None]
) -> NDArray[np.float32]:
    volume = np.empty(fused.like.geometry.shape, np.float32)
    write(volume)
    return volume


# -- from a record ---------------------------------------------------------------------------


def adjudicated_again(
    record: ReviewRecord,
    source: str,
    paths: Sequence[Path],
    series: DicomSeries | None = None,
) -> tuple[dict[str, NDArray[Any]], MapsOnFile]:
    """Apply a record's decisions again to the files that were reviewed.

    Raises
    ------
    FileError
        A file is not one of the reviewed files, or one of those is missing.
    """
    files = _matched_files(record, source, paths)
    missing = 1 + max(
        [0, *(label for one in record.maps for label in (*one.labels, one.undecided or 0))]
    )
    if record.maps[0].drawn_as:
        maps, on_file = _drawn_structures(record, files, series, missing)
    else:
        maps, on_file = _drawn_labels(record, files, source, missing)
    found = record.grid.geometry.differences(on_file.like.geometry, 1e-6, 1e-6)
    if found:
        raise FileError(f"its inputs lie on another grid: {'; '.join(found)}", path=source)
    review = resumed(record, source, rated_maps(record, source, maps, missing))
    return {one.name: review.adjudicated(one.name) for one in record.maps}, on_file


def _matched_files(record: ReviewRecord, source: str, paths: Sequence[Path]) -> list[Path]:
    """Return each rater's file, matched by content, regardless of names and order."""
    if any(one.hashed == "voxels" for one in record.inputs):
        raise FileError(
            "is the review of images in memory, not of files; apply it in Python", path=source
        )
    by_content: dict[tuple[str, ...], Path] = {}
    known = {one.sha256 for one in record.inputs}
    for path in paths:
        content = tuple(image_hashes(path).values())
        if content not in known:
            raise FileError(f"is none of the inputs that were reviewed in {source}", path=path)
        by_content[content] = path
    lost = [one.rater for one in record.inputs if one.sha256 not in by_content]
    if lost:
        raise FileError(f"{', '.join(lost)} was reviewed, and is not among the inputs", path=source)
    return [by_content[one.sha256] for one in record.inputs]


def recorded_paths(record: ReviewRecord, place: Path) -> list[Path]:
    """Return the paths of the inputs that are stored in a record."""
    if any(one.path is None for one in record.inputs):
        raise FileError(f"{place}: does not say where its inputs are; give them")
    return list(dict.fromkeys(place.parent / str(one.path) for one in record.inputs))


def _drawn_labels(
    record: ReviewRecord, files: Sequence[Path], source: str, missing: int
) -> tuple[dict[str, list[NDArray[Any]]], MapsOnFile]:
    (only,) = record.maps
    images = {path: read_quietly(path)[0] for path in dict.fromkeys(files)}
    loaded = convert.load(list(images.values()), owner=source)
    parts = {path: convert.load([image], owner=source).arrays for path, image in images.items()}
    drawn = []
    for one, path in zip(record.inputs, files, strict=True):
        if one.component >= len(parts[path]):
            raise FileError(f"holds {len(parts[path])} raters, not {one.component + 1}", path=path)
        drawn.append(_as_seen(np.asarray(parts[path][one.component]), only, missing))
    labels = [*only.labels, *(() if only.undecided is None else (only.undecided,))]
    dtype = common_type(loaded.arrays, labels or [0])
    return {only.name: drawn}, MapsOnFile(loaded.without_inputs(), dtype)


def _drawn_structures(
    record: ReviewRecord, files: Sequence[Path], series: DicomSeries | None, missing: int
) -> tuple[dict[str, list[NDArray[Any]]], MapsOnFile]:
    gaps = any(one.missing_label == NOT_ANNOTATED for one in record.maps)
    options = {"absent_frames": "missing"} if gaps else {}
    readers = [
        {one.name: one for one in read_structures(path, series, **options)} for path in files
    ]
    maps: dict[str, list[NDArray[Any]]] = {}
    templates = []
    for one in record.maps:
        row = [
            None if name is None else reader.get(name)
            for name, reader in zip(one.drawn_as, readers, strict=True)
        ]
        first = next((structure for structure in row if structure is not None), None)
        if first is None:
            raise FileError(f"{files[0]}: nobody has the structure {one.name}")
        templates.append(replace(first, name=one.name))
        arrays = [
            None if s is None else convert.load([s.mask], owner="review").arrays[0] for s in row
        ]
        empty = np.full(record.grid.geometry.shape, missing, np.min_scalar_type(missing))
        maps[one.name] = [
            empty if array is None else _as_seen(np.asarray(array), one, missing)
            for array in arrays
        ]
    like = convert.load([templates[0].mask], owner="review").without_inputs()
    return maps, MapsOnFile(like, np.dtype(np.uint8), tuple(templates))


def _as_seen(array: NDArray[Any], one: ReviewedMap, missing: int) -> NDArray[Any]:
    """Return a rater's labels as the fuser used them; labels unknown to it become background."""
    values = [*one.labels, missing]
    seen = np.zeros(
        array.shape, np.result_type(*map(np.min_scalar_type, (min(values), max(values))))
    )
    for label in one.labels:
        seen[array == label] = label
    if one.missing_label is not None:
        seen[array == one.missing_label] = missing
    return seen
