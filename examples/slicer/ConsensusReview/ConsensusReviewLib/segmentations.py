"""Fusion of several readers' segmentation nodes into a segmentation node of their consensus.

Nothing here depends on Qt or a window, so it can be tested with the nodes of slicer-core alone.
"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import SimpleITK as sitk
import slicer
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

import itk_consensus as ic
from itk_consensus.review.application.words import DecisionWords, markers
from itk_consensus.review.case import case_of_matched
from itk_consensus.review.listing import Listing
from itk_consensus.review.one_review import Remark
from itk_consensus.review.session import ReviewSession

_LABELMAP = "Binary labelmap"


class ConsensusReviewLogic:
    """Fuse segmentation nodes segment by segment, and apply a reviewer's decisions.

    Segments are matched by their names, ignoring case, blanks, dashes and underscores.
    """

    def __init__(self):
        self.session = None
        self.listing = Listing()
        self._output = None
        self._geometry = None

    @property
    def review(self):
        """Return the current review; None before the first fusion."""
        return None if self.session is None else self.session.review

    @property
    def readers(self):
        """Return the readers' names or, in a blinded review, their numbers."""
        return [] if self.session is None else self.session.case.names

    def fuse(
        self,
        nodes,
        output,
        volume=None,
        method="ConsensusFilter",
        blinded=False,
        file=None,
        who="",
    ):
        """Write the consensus of several segmentation nodes to another, and return their disputes.

        Parameters
        ----------
        nodes : list of vtkMRMLSegmentationNode
            One for each reader; at least two.
        output : vtkMRMLSegmentationNode
            Its segments are replaced.
        volume : vtkMRMLScalarVolumeNode, optional
            The segmented image; by default, the first reader's grid is used, enlarged to contain
            all segments.
        method : str
            Name of a fusion filter of itk_consensus.
        blinded : bool
            Whether readers are shown as numbers only, in an order derived from their voxels.
        file : str or Path, optional
            File (.seg.nrrd) to which `save` writes the adjudicated segments. The record
            NAME.review.json is written next to it after every action; an unfinished review found
            there is resumed.
        who : str
            Name of the reviewer.
        """
        if len(nodes) < 2:
            raise ValueError("a consensus needs the segmentations of at least two readers")
        if output in nodes:
            raise ValueError("the consensus would overwrite a reader; choose another segmentation")
        self._geometry = _grid(nodes, volume)
        often = Counter(node.GetName() for node in nodes)
        found = {
            node.GetName() if often[node.GetName()] == 1 else f"{node.GetName()} ({n})": [
                ic.Structure(segment.GetName(), self._mask(node, segment_id), segment.GetColor())
                for segment_id, segment in _segments(node)
            ]
            for n, node in enumerate(nodes, start=1)
        }
        case = case_of_matched(ic.match_structures(found), getattr(ic, method)())
        place = None if file is None else Path(file)
        self.session = ReviewSession(case, place, who=who, blinded=blinded)
        self.listing = Listing.beyond_spread(self.session.case.sizes)
        self._output = output
        output.GetSegmentation().RemoveAllSegments()
        for one in case.on_file.templates:
            self._write(one.name, one.color)
        if volume is not None:
            output.SetReferenceImageGeometryParameterFromVolumeNode(volume)
        return list(self.review.disputes.values())

    # -- listing ---------------------------------------------------------------------

    def listed(self):
        """Return the numbers of the disputes that exceed readers' usual spread, as in the
        application.
        """
        sizes = self.session.case.sizes
        return [n for n in self.review.disputes if not self.listing.is_small(sizes[n])]

    def small(self):
        """Return the numbers of the open disputes that are not listed."""
        sizes = self.session.case.sizes
        return [n for n in self.review.undecided if self.listing.is_small(sizes[n])]

    def row(self, number):
        """Return a dispute's table row: number, segment, ml, mm, who marked it, decision."""
        dispute = self.review.disputes[number]
        size = self.session.case.sizes[number]
        words = DecisionWords(self.readers, [1], {1: dispute.structure}, {1: ""})
        said = words.decision(self.review.decision(number)) or "open"
        marked = markers(dispute, self.readers)
        return str(number), dispute.structure, f"{size.ml:.3g}", f"{size.mm:.1f}", marked, said

    # -- decisions --------------------------------------------------------------------------

    def decide(self, number, choice, value=None, who=None):
        """Decide a dispute as `itk_consensus.review` does, and update the output node."""
        self.review.who = self.review.who if who is None else who
        self.session.decide(number, choice, value)
        self._write(self.review.disputes[number].structure)

    def accept_small(self, who=None):
        """Accept the consensus for all disputes that are not listed, in one action."""
        self.review.who = self.review.who if who is None else who
        small = self.small()
        if small:
            self.session.decide(small, "consensus", remark=Remark(reason=self.listing.words))

    def reopen(self, number):
        """Reopen a decided dispute."""
        self.session.reopen(number)
        self._write(self.review.disputes[number].structure)

    def undo(self):
        """Undo the last action; return False if there is none."""
        return self._again(self.session.undo)

    def redo(self):
        """Redo the last undone action; return False if there is none."""
        return self._again(self.session.redo)

    def _again(self, action):
        changed = action()
        for name in self.review.rated:
            self._write(name)
        return changed

    def save(self):
        """Write the adjudicated segments, and the record next to them."""
        self.session.save()

    def position(self, number):
        """Return the position of a dispute in RAS coordinates (right, anterior, superior)."""
        z, y, x = self.review.disputes[number].index
        extent = self._geometry.GetExtent()
        matrix = vtk.vtkMatrix4x4()
        self._geometry.GetImageToWorldMatrix(matrix)
        voxel = (x + extent[0], y + extent[2], z + extent[4], 1.0)
        return tuple(matrix.MultiplyPoint(voxel)[:3])

    def _mask(self, node, segment_id):
        """Return a segment on the common grid, as an image with the grid's voxel size."""
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
        matrix, extent = vtk.vtkMatrix4x4(), self._geometry.GetExtent()
        self._geometry.GetImageToWorldMatrix(matrix)
        affine = np.array([[matrix.GetElement(i, j) for j in range(4)] for i in range(3)])
        # Slicer's coordinates increase to the right and anterior, ITK's to the left and posterior
        affine[:2] *= -1
        spacing = np.linalg.norm(affine[:, :3], axis=0)
        image.SetSpacing(spacing.tolist())
        image.SetDirection((affine[:, :3] / spacing).ravel().tolist())
        image.SetOrigin((affine @ (*extent[::2], 1.0)).tolist())
        return image

    def _write(self, name, color=None):
        """Write a structure, as currently decided, to the output node."""
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
    """Return an image without voxel data whose grid contains every reader's segments."""
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
