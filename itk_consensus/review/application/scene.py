"""A case as nodes of 3D Slicer's scene: image, readers, the reviewed map, the dispute."""

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
from itk_consensus.review.rater_colors import DISPUTE_COLOR, label_color, rater_color
from itk_consensus.review.voxel_runs import Places
from itk_consensus.space.boxes import bounding_box, enclosing_box, intersection, relative_to

_LABELMAP, _SURFACE = "Binary labelmap", "Closed surface"
_READER_WIDTH, _RESULT_WIDTH = 2, 4
#: Building a surface takes seconds for volumes with more voxels, so it is built only on request.
MOST_VOXELS_OF_A_SURFACE = 20_000_000
#: The hatching of a dispute is finer than its voxels, unless its box has more voxels than this.
_HATCHED_FINELY = 200_000


def rgb(color: str) -> tuple[float, float, float]:
    """Convert a colour such as #56B4E9 to three numbers from 0 to 1."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


class ReviewScene:
    """The content of the views; takes arrays and keeps the scene's nodes up to date."""

    def __init__(self, app: Any, geometry: ImageGeometry) -> None:
        self.app, self.scene, self.geometry = app, app.scene, geometry
        self._matrix = _voxels_to_ras(geometry)
        self.structures: list[str] = []
        self.labels: dict[str, list[int]] = {}
        self.shape = (1, 1, 1, *geometry.shape)[-3:]
        self._readers: list[Any] = []
        self._results: dict[str, Any] = {}
        self._has_surfaces = False
        self._hatching: Any = None
        self._hatching_opacity = 0.85
        self.volume: Any = None
        self._overlay: Any = None

    def show_maps_of(self, rated: Sequence[RatedMap]) -> None:
        """Set the structures and labels whose contours will be shown."""
        self.structures = [one.name for one in rated]
        self.labels = {one.name: [label for label in one.labels if label] for one in rated}
        every = [(name, label) for name, labels in self.labels.items() for label in labels]
        self.colors = {pair: label_color(place) for place, pair in enumerate(every)}

    def close(self) -> None:
        """Remove all nodes from Slicer's scene."""
        self.show_overlay(None)
        self.show_dispute(None)
        for node in (*self._readers, *self._results.values(), self.volume):
            if node is not None:
                self.scene.RemoveNode(node)

    # -- image and overlay ----------------------------------------------------------------

    def show_image(self, image: NDArray[Any]) -> Any:
        """Show the image that the readers annotated, below all contours."""
        self._image = np.ascontiguousarray(image)  # Slicer shares this memory
        scalars = _scalars(self._image, shared=True)
        self.volume = self._volume(image, self._matrix, "vtkMRMLScalarVolumeNode", scalars)
        # Turning off automatic windowing avoids a scan of all voxels.
        display = self.scene.AddNewNodeByClass("vtkMRMLScalarVolumeDisplayNode")
        display.SetAutoWindowLevel(0)
        display.SetAndObserveColorNodeID("vtkMRMLColorTableNodeGrey")
        self.volume.SetAndObserveDisplayNodeID(display.GetID())
        for view in self.app.view_manager.get_slice_views():
            view.set_background_volume_id(self.volume.GetID())
        return self.volume

    def set_window(self, window: float, level: float) -> None:
        """Set the grey-value window: its width and its centre."""
        self.volume.GetDisplayNode().SetWindowLevel(window, level)

    def show_overlay(self, values: NDArray[Any] | None) -> None:
        """Show a heat map over the image, transparent where it is 0; None removes it."""
        if self._overlay is not None:
            self.scene.RemoveNode(self._overlay)
            self._overlay = None
        if values is not None:
            highest = float(values.max()) or 1.0
            self._overlay = self._volume(values, self._matrix, "vtkMRMLScalarVolumeNode")
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
        """Add one reader's contours: a map per structure, and the value that stands for missing
        annotations.

        Nodes added later are drawn on top, so results must be added first.
        """
        number = len(self._readers)
        node = self._segmentation(name, width=_READER_WIDTH)
        color = rgb(rater_color(number))
        for structure, (labels, missing) in maps.items():
            for label in self.labels[structure]:
                if label != missing:
                    self._set_segment(node, structure, label, labels == label, color)
        self._readers.append(node)

    def show_reader(self, number: int, shown: bool) -> None:
        """Show or hide a reader's contours."""
        self._readers[number].GetDisplayNode().SetVisibility(shown)

    def is_reader_shown(self, number: int) -> bool:
        """Whether a reader's contours are visible."""
        return bool(self._readers[number].GetDisplayNode().GetVisibility())

    def show_results(self, shown: bool) -> None:
        """Show or hide the contours and surfaces of the reviewed map."""
        for node in self._results.values():
            node.GetDisplayNode().SetVisibility(shown)

    def set_line_opacity(self, opacity: float) -> None:
        """Set the opacity of all contours."""
        for node in (*self._readers, *self._results.values()):
            node.GetDisplayNode().SetOpacity2DOutline(opacity)

    def show_result(self, structure: str, labels: NDArray[Any]) -> None:
        """Show the reviewed map, in 2D as the widest contour below those of the readers, and in 3D
        as a surface.
        """
        node = self._results.get(structure)
        if node is None:
            node = self._results[structure] = self._segmentation(
                f"result {structure}".strip(), width=_RESULT_WIDTH
            )
            node.GetDisplayNode().SetVisibility3D(True)
            node.GetDisplayNode().SetPreferredDisplayRepresentationName3D(_SURFACE)
            node.GetDisplayNode().SetOpacity3D(1.0)
        for label in self.labels[structure]:
            color = rgb(self.colors[structure, label])
            self._set_segment(node, structure, label, labels == label, color)
        node.GetSegmentation().Modified()
        node.Modified()

    def show_change(self, dispute: Dispute, labels: NDArray[Any]) -> None:
        """Update the reviewed map in the region of a dispute, without scanning the volume."""
        node = self._results[dispute.structure]
        flat = labels.reshape(-1)[dispute.places]
        where = np.unravel_index(dispute.places % int(np.prod(self.shape)), self.shape)
        box = tuple(slice(int(axis.min()), int(axis.max()) + 1) for axis in where)
        for label in self.labels[dispute.structure]:
            segment = node.GetSegmentation().GetSegment(_segment_id(dispute.structure, label))
            inside, own = _array_of(segment.GetRepresentation(_LABELMAP), self.shape)
            value = segment.GetLabelValue()
            if inside.size and intersection(own, box) == box:
                at = tuple(axis - side.start for axis, side in zip(where, own, strict=True))
                others = np.where(inside[at] == value, 0, inside[at])
                inside[at] = np.where(flat == label, value, others)
                image = segment.GetRepresentation(_LABELMAP)
                image.GetPointData().GetScalars().Modified()
                image.Modified()
            elif (flat == label).any():
                whole = labels.reshape(self.shape)
                color = rgb(self.colors[dispute.structure, label])
                self._set_segment(node, dispute.structure, label, whole == label, color)
        node.GetSegmentation().Modified()
        node.Modified()

    def result_node(self, structure: str) -> Any:
        """Return the segmentation node that Slicer's editor paints on."""
        return self._results[structure]

    def painted(self, structure: str, shown: NDArray[Any]) -> tuple[Places, NDArray[Any]]:
        """Return the voxels at which the segments differ from the shown map, and their labels.

        Values of the map without a segment (undecided voxels) are kept wherever nothing was
        painted.
        """
        segmentation = self._results[structure].GetSegmentation()
        parts = []
        for label in self.labels[structure]:
            segment = segmentation.GetSegment(_segment_id(structure, label))
            inside, box = _array_of(segment.GetRepresentation(_LABELMAP), self.shape)
            if inside.size:
                parts.append((label, inside == segment.GetLabelValue(), box))
        labels = shown.reshape(self.shape)
        known = bounding_box(np.isin(labels, self.labels[structure]))
        whole = enclosing_box(known, *(part[2] for part in parts))
        if whole is None:
            return np.zeros(0, np.int64), labels.reshape(-1)[:0]
        before = labels[whole]
        after = np.where(np.isin(before, self.labels[structure]), 0, before)
        for label, inside, own in parts:
            after[relative_to(own, whole)][inside] = label
        where = np.nonzero(after != before)
        corner = [side.start for side in whole]
        places = [axis + start for axis, start in zip(where, corner, strict=True)]
        return np.ravel_multi_index(places, self.shape).astype(np.int64), after[where]

    def make_surfaces(self) -> None:
        """Build the surfaces of the reviewed map for the 3D view, and keep them up to date."""
        self._has_surfaces = True
        for node in self._results.values():
            self._make_surface(node)

    def renew_surface(self, structure: str) -> None:
        """Rebuild the surface of a structure after painting."""
        self._make_surface(self._results[structure])

    def _make_surface(self, node: Any) -> None:
        if self._has_surfaces:
            node.GetSegmentation().SetConversionParameter("Smoothing factor", "0.2")
            node.GetSegmentation().RemoveRepresentation(_SURFACE)
            node.CreateClosedSurfaceRepresentation()

    # -- the dispute ------------------------------------------------------------------------

    def show_dispute(self, dispute: Dispute | None) -> None:
        """Hatch the region to be decided, as an image overlay so that contours stay on top."""
        if self._hatching is not None:
            self.scene.RemoveNode(self._hatching)
            self._hatching = None
        if dispute is not None:
            self._hatching = self._hatched(dispute)
        for view in self.app.view_manager.get_slice_views():
            node = view._logic.GetSliceCompositeNode()
            node.SetLabelVolumeID(None if self._hatching is None else self._hatching.GetID())
            node.SetLabelOpacity(self._hatching_opacity)
            view.schedule_render()

    def set_hatching_opacity(self, opacity: float) -> None:
        """Set the opacity of the dispute's hatching; 0 hides it."""
        self._hatching_opacity = opacity
        for view in self.app.view_manager.get_slice_views():
            view._logic.GetSliceCompositeNode().SetLabelOpacity(opacity)
            view.schedule_render()

    def _hatched(self, dispute: Dispute) -> Any:
        # The bounding box is computed without scanning the volume, which makes it fast to jump to a
        # dispute.
        where = np.unravel_index(dispute.places % int(np.prod(self.shape)), self.shape)
        box = [slice(int(axis.min()), int(axis.max()) + 1) for axis in where]
        mask = np.zeros([side.stop - side.start for side in box], np.uint8)
        mask[tuple(axis - side.start for axis, side in zip(where, box, strict=True))] = 1
        finer = 3 if mask.size <= _HATCHED_FINELY else 1
        for axis in range(3):
            mask = np.repeat(mask, finer, axis=axis)
        z, y, x = np.ogrid[tuple(slice(0, side) for side in mask.shape)]
        mask *= (z + y + x) % (finer + 1) < max(1, finer - 1)
        matrix = vtkMatrix4x4()
        matrix.DeepCopy(self._matrix)
        # Corner of the first voxel, and centre of the first finer voxel.
        first = [side.start - 0.5 + 0.5 / finer for side in reversed(box)]
        place = self._matrix.MultiplyPoint((*first, 1.0))
        for row in range(3):
            for column in range(3):
                matrix.SetElement(row, column, self._matrix.GetElement(row, column) / finer)
            matrix.SetElement(row, 3, place[row])
        node = self._volume(mask, matrix, "vtkMRMLLabelMapVolumeNode")
        node.CreateDefaultDisplayNodes()
        node.GetDisplayNode().SetAndObserveColorNodeID(self._dispute_colors().GetID())
        return node

    def _dispute_colors(self) -> Any:
        """Return a colour table that contains the dispute colour; it is created once."""
        node = self.scene.GetFirstNodeByName("dispute colors")
        if node is None:
            node = self.scene.AddNewNodeByClass("vtkMRMLColorTableNode", "dispute colors")
            node.SetTypeToUser()
            node.SetNumberOfColors(2)
            node.SetColor(0, "none", 0.0, 0.0, 0.0, 0.0)
            node.SetColor(1, "dispute", *rgb(DISPUTE_COLOR), 1.0)
        return node

    # -- views ------------------------------------------------------------------------------

    def ras(self, index: Sequence[int]) -> tuple[float, float, float]:
        """Return the position of a voxel in Slicer's coordinates."""
        z, y, x = (0, 0, 0, *index)[-3:]
        place = self._matrix.MultiplyPoint((float(x), float(y), float(z), 1.0))
        return float(place[0]), float(place[1]), float(place[2])

    def index_of(self, ras: Sequence[float]) -> tuple[int, int, int]:
        """Return the voxel index at a position in Slicer's coordinates, which may be outside."""
        inverse = vtkMatrix4x4()
        vtkMatrix4x4.Invert(self._matrix, inverse)
        x, y, z = (round(v) for v in inverse.MultiplyPoint((*ras, 1.0))[:3])
        return z, y, x

    def axis_along(self, normal: Sequence[float]) -> int:
        """Return the array axis closest to a direction in Slicer's coordinates."""
        matrix = self._matrix
        along = [
            abs(sum(matrix.GetElement(row, column) * normal[row] for row in range(3)))
            / np.linalg.norm([matrix.GetElement(row, column) for row in range(3)])
            for column in range(3)
        ]
        return 2 - int(np.argmax(along))

    def holds(self, index: Sequence[int]) -> bool:
        """Whether an index lies inside the volume."""
        return all(0 <= at < side for at, side in zip(index, self.shape, strict=True))

    def jump(self, index: Sequence[int]) -> tuple[float, float, float]:
        """Centre every slice view on a voxel; return its position."""
        place = self.ras(index)
        for view in self.app.view_manager.get_slice_views():
            view.get_view_node().JumpSliceByCentering(*place)
        self.set_crosshair(place)
        return place

    def set_crosshair(self, place: Sequence[float]) -> None:
        """Show a crosshair at a position in all planes."""
        for number in range(self.scene.GetNumberOfNodesByClass("vtkMRMLCrosshairNode")):
            crosshair = self.scene.GetNthNodeByClass(number, "vtkMRMLCrosshairNode")
            crosshair.SetCrosshairMode(slicer.vtkMRMLCrosshairNode.ShowSmallBasic)
            crosshair.SetCrosshairRAS(*place)

    # -- nodes ------------------------------------------------------------------------------

    def _segmentation(self, name: str, *, width: int) -> Any:
        node = self.scene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
        node.CreateDefaultDisplayNodes()
        display = node.GetDisplayNode()
        display.SetVisibility2DFill(False)
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
        """Set a segment from a mask; only the bounding box of the mask is passed to Slicer."""
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
        """Create or replace the segment of a structure and label, from part of a mask and its
        position.
        """
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
            segment.SetLabelValue(1)
            segment.AddRepresentation(_LABELMAP, image)

    def _volume(self, array: NDArray[Any], matrix: Any, kind: str, scalars: Any = None) -> Any:
        node = self.scene.AddNewNodeByClass(kind)
        image = vtkImageData()
        image.SetDimensions(*array.shape[::-1] if array.ndim == 3 else self.shape[::-1])
        image.GetPointData().SetScalars(_scalars(array) if scalars is None else scalars)
        node.SetAndObserveImageData(image)
        node.SetIJKToRASMatrix(matrix)
        return node


def _segment_id(structure: str, label: int) -> str:
    return f"{structure}/{label}"


def _scalars(array: NDArray[Any], *, shared: bool = False) -> Any:
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype == np.float16 or flat.dtype.kind == "b":
        flat, shared = flat.astype(np.float32), False
    return numpy_to_vtk(flat, deep=not shared, array_type=get_vtk_array_type(flat.dtype))


def _array_of(
    image: Any, shape: tuple[int, ...]
) -> tuple[NDArray[Any], tuple[slice, slice, slice]]:
    """Return a segment's voxels and their position; voxels outside the volume are cropped."""
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
    """Return the voxel-to-RAS matrix; ITK's coordinates are LPS, Slicer's are RAS."""
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
