"""The module for 3D Slicer: its logic, on segmentation nodes of slicer-core."""

from __future__ import annotations

import ast
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus as ic

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "slicer"
MODULE = FOLDER / "ConsensusReview"
needs_slicer = pytest.mark.skipif(
    find_spec("slicer") is None, reason="slicer-core is not installed"
)


@pytest.fixture
def logic(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(MODULE))
    from ConsensusReviewLib.segmentations import ConsensusReviewLogic

    yield ConsensusReviewLogic()
    for name in [name for name in sys.modules if name.startswith("ConsensusReviewLib")]:
        del sys.modules[name]


def readers() -> list[dict[str, np.ndarray]]:
    """Return three readers of two segments; one uses another name, one lacks a segment."""
    z, y, x = np.mgrid[:12, :20, :22]
    drawn = []
    for number in range(3):
        ball = np.hypot(np.hypot(1.5 * (z - 6), y - 10), x - 9 - number) < 6
        lesion = np.hypot(np.hypot(1.5 * (z - 4), y - 5), x - 16) < 2.5 + 0.4 * number
        drawn.append({"Liver" if number else "liver": ball})
        if number != 1:
            drawn[-1]["lesion"] = lesion
    return drawn


def matrix() -> Any:
    import vtk

    made = vtk.vtkMatrix4x4()
    for i, (step, start) in enumerate(zip((-0.8, -0.8, 2.0), (10.0, 20.0, -30.0), strict=True)):
        made.SetElement(i, i, step)
        made.SetElement(i, 3, start)
    return made


def node_of(scene: Any, name: str, masks: dict[str, np.ndarray], *, tight: bool = False) -> Any:
    """Return a node as created by Slicer's editor; its segments may cover only the marked part."""
    import slicer
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    node = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", name)
    for title, mask in masks.items():
        box = tuple(
            slice(int(axis.min()), int(axis.max()) + 1) if tight else slice(0, side)
            for axis, side in zip(np.nonzero(mask), mask.shape, strict=True)
        )
        image = slicer.vtkOrientedImageData()
        image.SetExtent(*(end for side in box[::-1] for end in (side.start, side.stop - 1)))
        image.SetImageToWorldMatrix(matrix())
        voxels = np.ascontiguousarray(mask[box]).astype(np.uint8).reshape(-1)
        image.GetPointData().SetScalars(
            numpy_to_vtk(voxels, deep=True, array_type=vtk.VTK_UNSIGNED_CHAR)
        )
        segment = slicer.vtkSegment()
        segment.SetName(title)
        segment.AddRepresentation("Binary labelmap", image)
        node.GetSegmentation().AddSegment(segment, title)
    return node


def image_of(mask: np.ndarray) -> sitk.Image:
    image = sitk.GetImageFromArray(mask)
    image.SetSpacing((0.8, 0.8, 2.0))
    return image


def volume_of(scene: Any) -> Any:
    import vtk

    image = vtk.vtkImageData()
    image.SetDimensions(22, 20, 12)
    image.AllocateScalars(vtk.VTK_SHORT, 1)
    volume = scene.AddNewNodeByClass("vtkMRMLScalarVolumeNode")
    volume.SetAndObserveImageData(image)
    volume.SetIJKToRASMatrix(matrix())
    return volume


def written(node: Any, name: str) -> np.ndarray:
    import slicer
    from vtk.util.numpy_support import vtk_to_numpy

    image = slicer.vtkOrientedImageData()
    assert node.GetBinaryLabelmapRepresentation(name, image)
    array = np.zeros((12, 20, 22), np.uint8)
    x0, x1, y0, y1, z0, z1 = image.GetExtent()
    voxels = vtk_to_numpy(image.GetPointData().GetScalars())
    array[z0 : z1 + 1, y0 : y1 + 1, x0 : x1 + 1] = voxels.reshape(
        z1 - z0 + 1, y1 - y0 + 1, x1 - x0 + 1
    )
    return array


@needs_slicer
@pytest.mark.parametrize("with_volume", [True, False])
@pytest.mark.parametrize("tight", [True, False])
def test_segmentation_nodes_in_and_a_segmentation_node_of_the_consensus_out(
    logic: Any, with_volume: bool, tight: bool
) -> None:
    import slicer

    scene = slicer.vtkMRMLScene()
    drawn = readers()
    nodes = [node_of(scene, f"r{n}", masks, tight=tight) for n, masks in enumerate(drawn)]
    output = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "consensus")
    volume = volume_of(scene) if with_volume else None
    disputes = logic.fuse(nodes, output, volume)
    assert list(output.GetSegmentation().GetSegmentIDs()) == ["liver", "lesion"]
    livers = [masks.get("Liver", masks.get("liver")).astype(np.uint8) for masks in drawn]
    lesions = [masks.get("lesion") for masks in drawn]
    given = [None if one is None else one.astype(np.uint8) for one in lesions]
    # Without an image, the grid must contain all segments, or all marked voxels of the
    # segments.
    part = (slice(None),) * 3
    if tight and not with_volume:
        marked = np.nonzero(np.any([m for masks in drawn for m in masks.values()], axis=0))
        part = tuple(slice(int(axis.min()), int(axis.max()) + 1) for axis in marked)
    for name, masks in (("liver", livers), ("lesion", given)):
        images = [None if one is None else image_of(one[part]) for one in masks]
        expected = np.zeros((12, 20, 22), np.uint8)
        expected[part] = sitk.GetArrayFromImage(ic.ConsensusFilter().Execute(images))
        np.testing.assert_array_equal(written(output, name), expected)
    assert disputes
    sizes = [one.voxels for one in disputes]
    assert sizes == sorted(sizes, reverse=True)

    first = next(one for one in disputes if one.structure == "liver")
    place = logic.position(first.number)
    inverse = matrix()
    inverse.Invert()
    x, y, z = (round(part) for part in inverse.MultiplyPoint((*place, 1.0))[:3])
    consensus = written(output, "liver")
    assert consensus[z, y, x] == first.consensus
    assert len({int(one[z, y, x]) for one in livers}) > 1
    number, segment, ml, mm, marked, said = logic.row(first.number)
    assert (number, segment, said) == (str(first.number), "liver", "open")
    assert float(ml) == pytest.approx(first.voxels * 0.8 * 0.8 * 2 / 1000, rel=0.01)
    assert float(mm) > 0
    assert {part.split()[0] for part in marked.split(", ")} <= {"r0", "r1", "r2"}

    for one in disputes:
        logic.decide(one.number, "rater", 2)
    np.testing.assert_array_equal(written(output, "liver"), livers[2])
    assert logic.review.undecided == []
    for _ in disputes:
        assert logic.undo()
    np.testing.assert_array_equal(written(output, "liver"), consensus)
    assert not logic.undo()


@needs_slicer
def test_the_module_keeps_the_same_record_as_the_application(logic: Any, tmp_path: Path) -> None:
    import slicer

    from itk_consensus.images.structure_files import read_structures
    from itk_consensus.review.record import ReviewRecord

    scene = slicer.vtkMRMLScene()
    nodes = [node_of(scene, f"r{n}", masks) for n, masks in enumerate(readers())]
    output = scene.AddNewNodeByClass("vtkMRMLSegmentationNode", "consensus")
    file = tmp_path / "decided.seg.nrrd"
    volume = volume_of(scene)
    disputes = logic.fuse(nodes, output, volume, file=file, who="Ann")
    assert logic.listed() + logic.small() == [one.number for one in disputes]
    logic.decide(1, "rater", 2)
    logic.decide(2, "label", 1)
    logic.undo()
    logic.save()
    record = ReviewRecord.read(tmp_path / "decided.review.json")
    assert [action.kind for action in record.actions] == ["decide", "decide", "undo"]
    assert {action.who for action in record.actions} == {"Ann"}
    assert [one.rater for one in record.inputs] == ["r0", "r1", "r2"]
    # In ITK's space (left, posterior), as in the application.
    assert record.grid.origin == pytest.approx((-10.0, -20.0, -30.0))
    assert record.disputes[0].position_mm == pytest.approx(
        tuple(np.array(logic.position(1)) * (-1, -1, 1)), abs=1e-3
    )
    saved = {one.name: sitk.GetArrayFromImage(one.mask) for one in read_structures(file)}
    name = disputes[0].structure
    np.testing.assert_array_equal(saved[name], written(output, name))

    # Another session resumes this one, including undo and redo.
    again = type(logic)()
    again.fuse(nodes, output, volume, file=file)
    assert again.review.decisions.keys() == {1}
    assert again.redo()
    assert again.review.decision(2).label == 1
    again.reopen(1)
    assert 1 in again.review.undecided
    again.accept_small(who="Bob")
    assert again.small() == []


@needs_slicer
def test_what_cannot_be_fused_is_said(logic: Any) -> None:
    import slicer

    scene = slicer.vtkMRMLScene()
    node = node_of(scene, "r", readers()[0])
    with pytest.raises(ValueError, match="at least two readers"):
        logic.fuse([node], scene.AddNewNodeByClass("vtkMRMLSegmentationNode"))
    with pytest.raises(ValueError, match="would overwrite a reader"):
        logic.fuse([node, node], node)


@needs_slicer
def test_blinded_readers_are_numbered(logic: Any) -> None:
    import slicer

    scene = slicer.vtkMRMLScene()
    nodes = [node_of(scene, f"Dr {n}", masks) for n, masks in enumerate(readers())]
    logic.fuse(nodes, scene.AddNewNodeByClass("vtkMRMLSegmentationNode"), blinded=True)
    assert logic.readers == ["reader 1", "reader 2", "reader 3"]


def test_the_module_follows_slicers_conventions() -> None:
    tree = ast.parse((MODULE / "ConsensusReview.py").read_text(encoding="utf-8"))
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    name = "ConsensusReview"
    assert classes == {name, f"{name}Widget", f"{name}Logic", f"{name}Test"}
    listed = (MODULE / "CMakeLists.txt").read_text(encoding="utf-8")
    for path in [*MODULE.rglob("*.py"), *MODULE.rglob("*.png")]:
        place = path.relative_to(MODULE).as_posix()
        assert place.replace("ConsensusReview", "${MODULE_NAME}") in listed
    entry = json.loads((FOLDER / "ITKConsensus.json").read_text(encoding="utf-8"))
    assert {"category", "scm_url", "scm_revision", "build_subdirectory", "tier"} <= entry.keys()
    assert (MODULE / "Resources/Icons/ConsensusReview.png").read_bytes()[:4] == b"\x89PNG"
