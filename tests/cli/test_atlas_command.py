"""The command atlas, which accepts the inputs of antsJointFusion."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import SimpleITK as sitk

from itk_consensus import JointLabelFusionFilter
from itk_consensus.cli.application import run
from itk_consensus.cli.console import FAILED
from itk_consensus.simulation.atlas_phantoms import AtlasCase, atlas_case

ATLASES = 4
SPACING = (1.0, 1.0, 2.0)


@pytest.fixture(scope="module")
def case() -> AtlasCase:
    return atlas_case(5, (14, 20, 22), 3, ATLASES, amplitude=2)


def written(array: np.ndarray, name: str) -> sitk.Image:
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(SPACING)
    sitk.WriteImage(image, name)
    return image


@pytest.fixture
def given(case: AtlasCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the arguments of a plain call, in a folder that contains its files."""
    monkeypatch.chdir(tmp_path)
    written(case.target.astype(np.float32), "t.nrrd")
    words = ["atlas", "-d", "3", "-t", "t.nrrd"]
    for number in range(ATLASES):
        written(case.images[number].astype(np.float32), f"g{number}.nrrd")
        written(case.maps[number].astype(np.uint8), f"l{number}.nrrd")
        words += ["-g", f"g{number}.nrrd", "-l", f"l{number}.nrrd"]
    return words


def images(letter: str) -> list[sitk.Image]:
    return [sitk.ReadImage(f"{letter}{number}.nrrd") for number in range(ATLASES)]


def array(name: str) -> np.ndarray:
    return np.asarray(sitk.GetArrayFromImage(sitk.ReadImage(name)))


def test_a_script_of_antsjointfusion_is_understood(given: list[str]) -> None:
    mask = np.zeros((14, 20, 22), np.uint8)
    mask[2:12, 3:17, 3:19] = 1
    where = np.zeros_like(mask)
    where[:7] = 1
    written(mask, "mask.nrrd")
    written(where, "not-1.nrrd")
    options = "-a 0.2 -b 1 -c 1 -p 1x1x1 -s 2x1x1 -m PC -x mask.nrrd -e 1[not-1.nrrd] -v 1 -r 1"
    output = "[labels.nrrd,image.nrrd,p%02d.nrrd]"
    assert run([*given, *options.split(), "-o", output]) == 0
    filter_ = JointLabelFusionFilter(
        Image=sitk.ReadImage("t.nrrd"),
        AtlasImages=images("g"),
        Alpha=0.2,
        Beta=1,
        ConstrainWeights=True,
        PatchRadius=(1, 1, 2),
        SearchRadius=(2, 1, 2),
        MaskImage=sitk.ReadImage("mask.nrrd"),
        ExclusionImages={1: sitk.ReadImage("not-1.nrrd")},
        FuseIntensities=True,
    )
    labels = sitk.GetArrayFromImage(filter_.Execute(images("l")))
    np.testing.assert_array_equal(array("labels.nrrd"), labels)
    np.testing.assert_array_equal(
        array("image.nrrd"), sitk.GetArrayFromImage(filter_.GetFusedIntensityImage())
    )
    for label in (1, 2, 3):
        expected = sitk.GetArrayFromImage(filter_.GetProbabilityImage(label))
        np.testing.assert_array_equal(array(f"p{label:02d}.nrrd"), expected)
    assert sitk.ReadImage("labels.nrrd").GetSpacing() == SPACING
    assert not (array("labels.nrrd")[:7] == 1).any()
    assert not Path("p00.nrrd").exists()


def test_the_defaults_are_the_filter_s(given: list[str]) -> None:
    assert run([*given, "--output", "labels.nrrd"]) == 0
    filter_ = JointLabelFusionFilter(Image=sitk.ReadImage("t.nrrd"), AtlasImages=images("g"))
    expected = sitk.GetArrayFromImage(filter_.Execute(images("l")))
    np.testing.assert_array_equal(array("labels.nrrd"), expected)


def test_several_modalities_and_no_labels_fuse_intensities(given: list[str]) -> None:
    files = [f"[g{number}.nrrd,g{number}.nrrd]" for number in range(ATLASES)]
    words = ["atlas", "-t", "[t.nrrd,t.nrrd]", "-g", *files, "-o", "i%d.nrrd"]
    assert run(words) == 0
    np.testing.assert_array_equal(array("i1.nrrd"), array("i2.nrrd"))
    target, fused = array("t.nrrd"), array("i1.nrrd")
    errors = [np.square(array(f"g{number}.nrrd") - target).mean() for number in range(ATLASES)]
    assert np.square(fused - target).mean() < min(errors)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-d", "2"], "-d must be 3, the dimension of the images, got 2"),
        (["-o", "[a.nrrd,b.nrrd,c.nrrd]"], "-o must have one placeholder such as %02d in c.nrrd"),
        (["-o", "[a.nrrd,b.nrrd,c%d.nrrd,d%d.nrrd]"], "weights are not supported"),
        (["-p", "2x2"], "-p must have one radius or 3, got 2"),
        (["-p", "two"], "must be a radius such as 2 or 2x2x2"),
        (["-e", "one"], r"must be written LABEL\[FILE\]"),
        (["-g", "t.nrrd"], "-l must name as many files as -g, 5, got 4"),
        (["-a", "0"], "atlas: --alpha must be"),
        (["-x", "t.nrrd", "-o", "t.nrrd"], "t.nrrd"),
    ],
)
def test_what_cannot_be_is_named_in_one_line(
    given: list[str], words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(Path().iterdir())
    assert run([*given, "-o", "labels.nrrd", *words]) == FAILED
    said = capsys.readouterr().err
    assert len(said.strip().splitlines()) == 1
    assert re.search(message, said), said
    assert set(Path().iterdir()) == before


def test_a_second_run_does_not_replace_the_first(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("labels.nrrd").write_text("mine")
    assert run([*given, "-o", "labels.nrrd"]) == FAILED
    assert "give --overwrite" in capsys.readouterr().err
    assert run([*given, "-o", "labels.nrrd", "--overwrite"]) == 0
