"""A case as nodes of 3D Slicer's scene: image, readers, the map under review, the dispute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import slicer
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkCommonMath import vtkMatrix4x4

from itk_consensus.images.geometry import ImageGeometry
from itk_consensus.review.disputes import Dispute, RatedMap
from itk_consensus.review.rater_colors import CONTOUR_COLORS
from itk_consensus.space.boxes import bounding_box

_LABELMAP = "Binary labelmap"
#: Of the labels of the map under review; white stands out from every reader's colour.
_RESULT_COLORS = ((1.0, 1.0, 1.0), (1.0, 0.95, 0.5), (0.7, 1.0, 1.0), (1.0, 0.75, 0.9))
_DISPUTE_COLOR = (0.94, 0.89, 0.26)
_READER_WIDTH, _RESULT_WIDTH = 2, 4
#: Above so many voxels a surface takes seconds, and is made only when it is asked for.
MOST_VOXELS_OF_A_SURFACE = 20_000_000


def rgb(color: str) -> tuple[float, float, float]:
    """#56B4E9 -> three numbers from 0 to 1."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


class ReviewScene:
    """What views show; arrays in, nodes kept current."""

    def __init__(self, app: Any, geometry: ImageGeometry) -> None:
        self.app, self.scene, self.geometry = app, app.scene, geometry
        self._matrix = _voxels_to_ras(geometry)
        self.structures: list[str] = []
        self.labels: dict[str, list[int]] = {}
        self.shape = (1, 1, 1, *geometry.shape)[-3:]
        self._readers: list[Any] = []
        self._results: dict[str, Any] = {}
        self._dispute = self._segmentation("dispute", fill=0.45, width=2)
        self.volume: Any = None
        self._overlay: Any = None

    def show_maps_of(self, rated: Sequence[RatedMap]) -> None:
        """Get to know the structures and labels whose contours are to be seen."""
        self.structures = [one.name for one in rated]
        self.labels = {one.name: [label for label in one.labels if label] for one in rated}

    def close(self) -> None:
        """Take everything out of Slicer's scene."""
        self.show_overlay(None)
        for node in (*self._readers, *self._results.values(), self._dispute, self.volume):
            if node is not None:
                self.scene.RemoveNode(node)

    # -- image and overlay ----------------------------------------------------------------

    def show_image(self, image: NDArray[Any]) -> Any:
        """What readers looked at, below all contours."""
        self.volume = self._volume(image, "image")
        self.volume.CreateDefaultDisplayNodes()
        for view in self.app.view_manager.get_slice_views():
            view.set_background_volume_id(self.volume.GetID())
        return self.volume

    def set_window(self, window: float, level: float) -> None:
        """Grey values that are told apart: how many, and around which."""
        display = self.volume.GetDisplayNode()
        display.SetAutoWindowLevel(0)
        display.SetWindowLevel(window, level)

    def show_overlay(self, values: NDArray[Any] | None) -> None:
        """A heat map over the image, transparent where it is 0; None takes it away."""
        if self._overlay is not None:
            self.scene.RemoveNode(self._overlay)
            self._overlay = None
        if values is not None:
            highest = float(values.max()) or 1.0
            self._overlay = self._volume(values, "uncertainty")
            self._overlay.CreateDefaultDisplayNodes()
            display = self._overlay.GetDisplayNode()
            display.SetAndObserveColorNodeID("vtkMRMLColorTableNodeFileInferno.txt")
            if display.GetColorNode() is None:
                display.SetAndObserveColorNodeID("vtkMRMLColorTableNodeWarm1")
            display.SetAutoWindowLevel(0)
            display.SetWindowLevel(highest, highest / 2)
            display.SetThreshold(0.05 * highest, 2 * highest)
            display.ApplyThresholdOn()
        for view in self.app.view_manager.get_slice_views():
            shown = None if self._overlay is None else self._overlay.GetID()
            view.set_foreground_volume_id(shown)
            view.set_foreground_opacity(0.55)

    # -- contours ---------------------------------------------------------------------------

    def add_reader(self, name: str, maps: dict[str, tuple[NDArray[Any], int]]) -> None:
        """One reader's contours: for each structure the map, and what means not annotated."""
        number = len(self._readers)
        node = self._segmentation(name, fill=0.0, width=_READER_WIDTH)
        color = rgb(CONTOUR_COLORS[number % len(CONTOUR_COLORS)])
        for structure, (labels, missing) in maps.items():
            for label in self.labels[structure]:
                if label != missing:
                    self._set_segment(node, structure, label, labels == label, color)
        self._readers.append(node)

    def show_reader(self, number: int, shown: bool) -> None:
        """Show or hide a reader's contours."""
        self._readers[number].GetDisplayNode().SetVisibility(shown)

    def is_reader_shown(self, number: int) -> bool:
        """Whether a reader's contours are seen."""
        return bool(self._readers[number].GetDisplayNode().GetVisibility())

    def show_result(self, structure: str, labels: NDArray[Any]) -> None:
        """The map under review: the strongest line, and the surface in 3D."""
        node = self._results.get(structure)
        if node is None:
            node = self._results[structure] = self._segmentation(
                f"result {structure}".strip(), fill=0.0, width=_RESULT_WIDTH
            )
            node.GetDisplayNode().SetVisibility3D(True)
            node.GetDisplayNode().SetPreferredDisplayRepresentationName3D("Closed surface")
            node.GetDisplayNode().SetOpacity3D(1.0)
        for number, label in enumerate(self.labels[structure]):
            color = _RESULT_COLORS[number % len(_RESULT_COLORS)]
            self._set_segment(node, structure, label, labels == label, color)
        node.GetSegmentation().Modified()
        node.Modified()

    def result_node(self, structure: str) -> Any:
        """The segmentation that Slicer's editor paints on."""
        return self._results[structure]

    def result(self, structure: str, like: NDArray[Any]) -> NDArray[Any]:
        """The map as it was painted; what `like` has beyond the labels, undecided, is kept."""
        segmentation = self._results[structure].GetSegmentation()
        labels = np.where(np.isin(like, self.labels[structure]), 0, like).reshape(self.shape)
        for label in self.labels[structure]:
            image = segmentation.GetSegment(_segment_id(structure, label)).GetRepresentation(
                _LABELMAP
            )
            value = segmentation.GetSegment(_segment_id(structure, label)).GetLabelValue()
            inside, box = _array_of(image, self.shape)
            labels[box][inside == value] = label
        return labels.reshape(like.shape)

    def make_surfaces(self) -> None:
        """Surfaces of the map under review, for the 3D view."""
        for node in self._results.values():
            node.GetSegmentation().SetConversionParameter("Smoothing factor", "0.2")
            node.CreateClosedSurfaceRepresentation()

    def show_dispute(self, dispute: Dispute | None) -> None:
        """Fill the region that is to be decided."""
        segmentation = self._dispute.GetSegmentation()
        segmentation.RemoveAllSegments()
        if dispute is not None:
            # Its own box, without going through the volume: a jump must not be waited for.
            where = np.unravel_index(dispute.places % int(np.prod(self.shape)), self.shape)
            box = tuple(slice(int(axis.min()), int(axis.max()) + 1) for axis in where)
            mask = np.zeros([side.stop - side.start for side in box], bool)
            mask[tuple(axis - side.start for axis, side in zip(where, box, strict=True))] = True
            self._set_part(self._dispute, ("dispute", 1), (mask, box), _DISPUTE_COLOR)
        self._dispute.Modified()

    # -- views ------------------------------------------------------------------------------

    def ras(self, index: Sequence[int]) -> tuple[float, float, float]:
        """Where a voxel lies, in Slicer's coordinates."""
        z, y, x = (0, 0, 0, *index)[-3:]
        place = self._matrix.MultiplyPoint((float(x), float(y), float(z), 1.0))
        return float(place[0]), float(place[1]), float(place[2])

    def jump(self, index: Sequence[int]) -> tuple[float, float, float]:
        """Let every slice view show a voxel in its middle; returns where that is."""
        place = self.ras(index)
        for view in self.app.view_manager.get_slice_views():
            view.get_view_node().JumpSliceByCentering(*place)
        for number in range(self.scene.GetNumberOfNodesByClass("vtkMRMLCrosshairNode")):
            crosshair = self.scene.GetNthNodeByClass(number, "vtkMRMLCrosshairNode")
            crosshair.SetCrosshairMode(slicer.vtkMRMLCrosshairNode.ShowSmallBasic)
            crosshair.SetCrosshairRAS(place)
        return place

    # -- nodes ------------------------------------------------------------------------------

    def _segmentation(self, name: str, *, fill: float, width: int) -> Any:
        node = self.scene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
        node.CreateDefaultDisplayNodes()
        display = node.GetDisplayNode()
        display.SetVisibility2DFill(fill > 0)
        display.SetOpacity2DFill(fill)
        display.SetVisibility2DOutline(True)
        display.SetOpacity2DOutline(1.0)
        display.SetSliceIntersectionThickness(width)
        display.SetVisibility3D(False)
        return node

    def _set_segment(
        self,
        node: Any,
        structure: str,
        label: int,
        inside: NDArray[np.bool_],
        color: tuple[float, float, float],
    ) -> None:
        """Make a mask a segment; only the part that holds anything goes to Slicer."""
        inside = inside.reshape(self.shape)
        box = bounding_box(inside) or tuple(slice(0, 1) for _ in range(3))
        self._set_part(node, (structure, label), (inside[box], box), color)

    def _set_part(
        self,
        node: Any,
        named: tuple[str, int],
        part: tuple[NDArray[np.bool_], tuple[slice, ...]],
        color: tuple[float, float, float],
    ) -> None:
        """Make a part of a mask, and where it lies, the segment of a structure and label."""
        (structure, label), (inside, box) = named, part
        image = slicer.vtkOrientedImageData()
        z, y, x = box
        image.SetExtent(x.start, x.stop - 1, y.start, y.stop - 1, z.start, z.stop - 1)
        image.SetImageToWorldMatrix(self._matrix)
        image.GetPointData().SetScalars(_scalars(inside.view(np.uint8)))
        segmentation, name = node.GetSegmentation(), _segment_id(structure, label)
        segment = segmentation.GetSegment(name)
        if segment is None:
            segment = slicer.vtkSegment()
            segment.SetName(structure or f"label {label}")
            segment.SetColor(*color)
            segment.SetLabelValue(1)
            segment.AddRepresentation(_LABELMAP, image)
            segmentation.AddSegment(segment, name)
            node.GetDisplayNode().SetSegmentVisibility3D(name, True)
        else:
            had_surface = segment.GetRepresentation("Closed surface") is not None
            segment.RemoveRepresentation("Closed surface")
            segment.SetLabelValue(1)
            segment.AddRepresentation(_LABELMAP, image)
            if had_surface:
                node.CreateClosedSurfaceRepresentation()

    def _volume(self, array: NDArray[Any], name: str) -> Any:
        node = self.scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode", name)
        image = vtkImageData()
        image.SetDimensions(*self.shape[::-1])
        image.GetPointData().SetScalars(_scalars(array.reshape(self.shape)))
        node.SetAndObserveImageData(image)
        node.SetIJKToRASMatrix(self._matrix)
        return node


def _segment_id(structure: str, label: int) -> str:
    return f"{structure}/{label}"


def _scalars(array: NDArray[Any]) -> Any:
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype == np.float16 or flat.dtype.kind == "b":
        flat = flat.astype(np.float32)
    return numpy_to_vtk(flat, deep=True, array_type=get_vtk_array_type(flat.dtype))


def _array_of(
    image: Any, shape: tuple[int, ...]
) -> tuple[NDArray[Any], tuple[slice, slice, slice]]:
    """Voxels of a segment, and where in the volume they lie; what lies outside is cut off."""
    x0, x1, y0, y1, z0, z1 = image.GetExtent()
    scalars = image.GetPointData().GetScalars()
    if scalars is None or x1 < x0 or y1 < y0 or z1 < z0:
        return np.zeros((0, 0, 0), np.uint8), (slice(0, 0),) * 3
    array = vtk_to_numpy(scalars).reshape(z1 - z0 + 1, y1 - y0 + 1, x1 - x0 + 1)
    starts = (z0, y0, x0)
    box = tuple(
        slice(max(0, start), min(side, start + extent))
        for start, extent, side in zip(starts, array.shape, shape, strict=True)
    )
    cut = tuple(
        slice(part.start - start, part.stop - start)
        for part, start in zip(box, starts, strict=True)
    )
    return array[cut], (box[0], box[1], box[2])


def _voxels_to_ras(geometry: ImageGeometry) -> Any:
    """ITK's space is left, posterior, superior; Slicer's right, anterior, superior."""
    dimension = geometry.dimension
    affine = np.eye(4)
    inner = min(3, dimension)
    direction = np.reshape(geometry.direction, (dimension, dimension))[:inner, :inner]
    affine[:inner, :inner] = direction * np.asarray(geometry.spacing[:inner])
    affine[:inner, 3] = geometry.origin[:inner]
    affine[:2] *= -1
    matrix = vtkMatrix4x4()
    for row in range(4):
        for column in range(4):
            matrix.SetElement(row, column, float(affine[row, column]))
    return matrix
