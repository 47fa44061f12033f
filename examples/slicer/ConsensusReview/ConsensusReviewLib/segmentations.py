"""Segmentation nodes of several readers in, a segmentation node of their consensus out.

Nothing here knows Qt or a window, so that it is tested on nodes of slicer-core alone.
"""

from __future__ import annotations

import itertools

import numpy as np
import SimpleITK as sitk
import slicer
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

import itk_consensus as ic
from itk_consensus.review.case import rated_map
from itk_consensus.review.disputes import find_disputes
from itk_consensus.review.one_review import Review

_LABELMAP = "Binary labelmap"


class ConsensusReviewLogic:
    """Fuses segmentation nodes segment by segment, and carries decisions out.

    Segments are matched by their names, ignoring case, blanks, dashes and underscores.
    """

    def __init__(self):
        self.review = None
        self.readers = []
        self._output = None
        self._geometry = None

    def fuse(self, nodes, output, volume=None, method="ConsensusFilter", blinded=False):
        """Fill a segmentation node with the consensus of others; returns their disputes.

        Parameters
        ----------
        nodes : list of vtkMRMLSegmentationNode
            One for each reader; at least two.
        output : vtkMRMLSegmentationNode
            Its segments are replaced.
        volume : vtkMRMLScalarVolumeNode, optional
            What was segmented; without it the grid of the first reader is taken, made large enough
            for all.
        method : str
            Name of a fuser of itk_consensus.
        blinded : bool
            Whether readers are only numbered.
        """
        if len(nodes) < 2:
            raise ValueError("a consensus needs the segmentations of at least two readers")
        if output in nodes:
            raise ValueError("the consensus would overwrite a reader; choose another segmentation")
        self._geometry = _grid(nodes, volume)
        self.readers = [
            f"reader {n}" if blinded else node.GetName() for n, node in enumerate(nodes, start=1)
        ]
        found = {
            f"{n} {node.GetName()}": [
                ic.Structure(segment.GetName(), self._mask(node, segment_id), segment.GetColor())
                for segment_id, segment in _segments(node)
            ]
            for n, node in enumerate(nodes)
        }
        matched = ic.match_structures(found)
        fuser = getattr(ic, method)()
        rated, probabilities, colors = [], [], {}
        for name, row in matched.table.items():
            fuser.Execute([None if one is None else one.mask for one in row])
            fused = fuser.GetResult()
            rated.append(rated_map(fused, name))
            probabilities.append(fused.probabilities_at)
            colors[name] = next(one.color for one in row if one is not None)
        spacing = self._geometry.GetSpacing()
        disputes, _ = find_disputes(rated, probabilities, spacing=spacing)
        self.review = Review(rated, disputes)
        self._output = output
        output.GetSegmentation().RemoveAllSegments()
        for one in rated:
            self._write(one.name, colors[one.name])
        if volume is not None:
            output.SetReferenceImageGeometryParameterFromVolumeNode(volume)
        return list(self.review.disputes.values())

    def decide(self, number, choice, value=None):
        """Decide a dispute as `itk_consensus.review` does, and show it in the output."""
        self.review.decide(number, choice, value)
        self._write(self.review.disputes[number].structure)

    def undo(self):
        """Take the last decision back; False if there is none."""
        undone = self.review.undo()
        for name in self.review.rated:
            self._write(name)
        return undone

    def position(self, number):
        """Where a dispute is, in right, anterior, superior."""
        z, y, x = self.review.disputes[number].index
        extent = self._geometry.GetExtent()
        matrix = vtk.vtkMatrix4x4()
        self._geometry.GetImageToWorldMatrix(matrix)
        voxel = (x + extent[0], y + extent[2], z + extent[4], 1.0)
        return tuple(matrix.MultiplyPoint(voxel)[:3])

    def volume_ml(self, number):
        """How large a dispute is."""
        voxel_ml = float(np.prod(self._geometry.GetSpacing())) / 1000
        return self.review.disputes[number].voxels * voxel_ml

    def _mask(self, node, segment_id):
        """A segment on the grid of all, as an image whose voxels have their size."""
        own, placed = slicer.vtkOrientedImageData(), slicer.vtkOrientedImageData()
        if not node.GetBinaryLabelmapRepresentation(segment_id, own):
            raise ValueError(f"{node.GetName()}: a segment has no voxels that could be fused")
        resample = slicer.vtkOrientedImageDataResample.ResampleOrientedImageToReferenceOrientedImage
        if not resample(own, self._geometry, placed, False):
            raise ValueError(f"{node.GetName()}: a segment cannot be put on the readers' grid")
        shape = tuple(reversed(self._geometry.GetDimensions()))
        scalars = placed.GetPointData().GetScalars()
        inside = np.zeros(shape, np.uint8)
        if scalars is not None:
            inside[vtk_to_numpy(scalars).reshape(shape) != 0] = 1
        image = sitk.GetImageFromArray(inside)
        image.SetSpacing(self._geometry.GetSpacing())
        return image

    def _write(self, name, color=None):
        """Put a structure, as it is decided now, into the output node."""
        inside = (self.review.adjudicated(name) == 1).astype(np.uint8)
        image = slicer.vtkOrientedImageData()
        image.SetExtent(self._geometry.GetExtent())
        matrix = vtk.vtkMatrix4x4()
        self._geometry.GetImageToWorldMatrix(matrix)
        image.SetImageToWorldMatrix(matrix)
        image.GetPointData().SetScalars(
            numpy_to_vtk(inside.reshape(-1), deep=True, array_type=vtk.VTK_UNSIGNED_CHAR)
        )
        segmentation = self._output.GetSegmentation()
        segment = segmentation.GetSegment(name)
        if segment is None:
            segment = slicer.vtkSegment()
            segment.SetName(name)
            segment.SetColor(*(color or (0.5, 0.7, 0.5)))
            segment.AddRepresentation(_LABELMAP, image)
            segmentation.AddSegment(segment, name)
        else:
            segment.AddRepresentation(_LABELMAP, image)
        self._output.Modified()


def _segments(node):
    segmentation = node.GetSegmentation()
    return [(i, segmentation.GetSegment(i)) for i in segmentation.GetSegmentIDs()]


def _grid(nodes, volume):
    """An image without voxels on which every reader's segments lie."""
    grid = slicer.vtkOrientedImageData()
    matrix = vtk.vtkMatrix4x4()
    if volume is not None:
        volume.GetIJKToRASMatrix(matrix)
        grid.SetExtent(volume.GetImageData().GetExtent())
        grid.SetImageToWorldMatrix(matrix)
        return grid
    images = []
    for node in nodes:
        for segment_id, _ in _segments(node):
            image = slicer.vtkOrientedImageData()
            if node.GetBinaryLabelmapRepresentation(segment_id, image):
                images.append(image)
    if not images:
        raise ValueError("no reader has a segment")
    images[0].GetImageToWorldMatrix(matrix)
    inverse, own = vtk.vtkMatrix4x4(), vtk.vtkMatrix4x4()
    vtk.vtkMatrix4x4.Invert(matrix, inverse)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for image in images:
        image.GetImageToWorldMatrix(own)
        extent = image.GetExtent()
        for corner in itertools.product(extent[:2], extent[2:4], extent[4:]):
            place = inverse.MultiplyPoint(own.MultiplyPoint((*map(float, corner), 1.0)))[:3]
            low, high = np.minimum(low, place), np.maximum(high, place)
    ends = np.column_stack([np.rint(low), np.rint(high)]).ravel()
    grid.SetExtent(*(int(end) for end in ends))
    grid.SetImageToWorldMatrix(matrix)
    return grid
