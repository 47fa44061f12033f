"""Probabilities on the command line: every form gives the same result as the filter on arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.cli import main

SPACING = (0.7, 0.8, 2.5)


@pytest.fixture
def folds() -> list[Any]:
    """Return (3 classes, z, y, x) probabilities of three networks, in half precision like
    nnU-Net's.
    """
    rng = np.random.default_rng(8)
    x = np.indices((6, 12, 14))[2]
    scores = np.stack([np.zeros(x.shape), 3.0 - abs(x - 4) / 2, 3.0 - abs(x - 10) / 2])
    noisy = [scores + rng.normal(0, 0.8, scores.shape) for _ in range(3)]
    return [(np.exp(one) / np.exp(one).sum(axis=0)).astype(np.float16) for one in noisy]


def in_space(array: Any, vector: bool = False) -> Any:
    image = sitk.GetImageFromArray(array, isVector=vector)
    image.SetSpacing((*SPACING, 1.0)[: image.GetDimension()])
    return image


@pytest.fixture
def raw(tmp_path: Path) -> str:
    sitk.WriteImage(
        in_space(np.random.default_rng(1).normal(0, 99, (6, 12, 14))),
        path := str(tmp_path / "raw.nii.gz"),
    )
    return path


def four_axes(folds: list[Any], folder: Path) -> list[str]:
    paths = [str(folder / f"fold{number}.nii.gz") for number in range(len(folds))]
    for path, fold in zip(paths, folds, strict=True):
        sitk.WriteImage(in_space(fold.astype(np.float32)), path)
    return paths


def components(folds: list[Any], folder: Path) -> list[str]:
    paths = [str(folder / f"fold{number}.nrrd") for number in range(len(folds))]
    for path, fold in zip(paths, folds, strict=True):
        sitk.WriteImage(in_space(np.moveaxis(fold, 0, -1).astype(np.float32), vector=True), path)
    return paths


def files_of_classes(folds: list[Any], folder: Path) -> list[str]:
    paths = []
    for number, fold in enumerate(folds):
        for label, one in enumerate(fold):
            paths.append(str(folder / f"fold{number}-{label}.nii.gz"))
            sitk.WriteImage(in_space(one.astype(np.float32)), paths[-1])
    return [*paths, "--classes", str(len(folds[0]))]


def npz(folds: list[Any], folder: Path) -> list[str]:
    paths = [str(folder / f"fold{number}.npz") for number in range(len(folds))]
    for path, fold in zip(paths, folds, strict=True):
        np.savez_compressed(path, probabilities=fold)
    return paths


FORMS = {form.__name__: form for form in (four_axes, components, files_of_classes, npz)}


@pytest.mark.parametrize("method", ["probability-average", "log-opinion-pool", "vote"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_probabilities_is_fused_alike(
    form: str, method: str, folds: list[Any], raw: str, tmp_path: Path
) -> None:
    words = FORMS[form](folds, tmp_path)
    output, probability = tmp_path / "fused.nii.gz", tmp_path / "p.nii.gz"
    more = ["--image", raw, "--report", str(tmp_path / "page.html"), "-q"]
    written = ["-o", str(output), "--probability", str(probability), "--label", "2"]
    assert main(["fuse", *words, *written, "--method", method, *more]) == 0
    filters = {
        "probability-average": itk_consensus.ProbabilityAverageFilter,
        "log-opinion-pool": itk_consensus.LogOpinionPoolFilter,
        "vote": itk_consensus.MajorityVoteFilter,
    }
    filter_ = filters[method](ClassAxis=0)
    expected = filter_.Execute([fold.astype(np.float32) for fold in folds])
    fused = sitk.ReadImage(str(output))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(fused), expected)
    assert fused.GetSpacing() == pytest.approx(SPACING)
    np.testing.assert_allclose(
        sitk.GetArrayFromImage(sitk.ReadImage(str(probability))),
        filter_.GetProbabilityImage(2),
        atol=1e-6,
    )


def test_foreground_probabilities_are_fused(folds: list[Any], tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.nii.gz") for number in range(3)]
    for path, fold in zip(paths, folds, strict=True):
        sitk.WriteImage(in_space(fold[1].astype(np.float32)), path)
    output = tmp_path / "fused.nii.gz"
    assert main(["fuse", *paths, "-o", str(output), "--method", "probability-average", "-q"]) == 0
    mean = np.mean([fold[1].astype(np.float32) for fold in folds], axis=0)
    np.testing.assert_array_equal(sitk.GetArrayFromImage(sitk.ReadImage(str(output))), mean > 0.5)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["{npz}", "--method", "probability-average"],
            "has no geometry: give the network's input image",
        ),
        (["{npz}", "--image", "{raw}"], "holds probabilities: give --method "),
        (["{soft}"], "holds fractions, as probabilities do, but consensus needs labels: give --me"),
        (["{soft}", "{soft}", "--classes", "2", "--method", "vote"], "classes do not sum to 1"),
        (["{soft}", "--classes", "2", "--method", "vote"], "--classes 2 needs 2 consecutive files"),
        (["{other}", "--image", "{raw}", "--method", "vote"], "(classes, 6, 12, 14) for its image"),
        (["{pickled}", "--image", "{raw}", "--method", "vote"], "got object (3,)"),
        (["{text}", "--image", "{raw}", "--method", "vote"], "cannot be read as an .npz file"),
    ],
)
def test_what_cannot_be_fused_is_named_in_one_line(
    words: list[str],
    problem: str,
    folds: list[Any],
    raw: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = {"raw": raw, "npz": npz(folds, tmp_path)[0]}
    known |= {name: str(tmp_path / f"{name}.npz") for name in ("other", "pickled", "text")}
    known["soft"] = str(tmp_path / "soft.nii.gz")
    np.savez(known["other"], probabilities=folds[0][:, :5])
    np.savez(known["pickled"], probabilities=np.array([{}, 1, 2], dtype=object))
    Path(known["text"]).write_text("no archive")
    sitk.WriteImage(in_space(folds[0][1].astype(np.float32)), known["soft"])
    output = str(tmp_path / "out.nii.gz")
    assert main(["fuse", *(word.format(**known) for word in words), "-o", output]) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert len(said.splitlines()) == 1
    assert not Path(output).exists()


@pytest.mark.parametrize(
    "fuser",
    [
        itk_consensus.ProbabilityAverageFilter,
        itk_consensus.LogOpinionPoolFilter,
        itk_consensus.MajorityVoteFilter,
        itk_consensus.STAPLEImageFilter,
    ],
)
def test_classes_first_without_class_axis_are_refused_by_name(fuser: Any, folds: list[Any]) -> None:
    """They were interpreted as several foreground maps."""
    arrays = [fold.astype(np.float32) for fold in folds]
    with pytest.raises(itk_consensus.InputError, match="set ClassAxis to 0, or give a list"):
        fuser().Execute(arrays)


@pytest.mark.parametrize("classes", [2, 20, 120])
def test_sums_in_half_precision_are_accepted(classes: int) -> None:
    rng = np.random.default_rng(classes)
    scores = np.exp(rng.normal(0, 2, (2, classes, 5, 6, 7)))
    folds = list((scores / scores.sum(axis=1, keepdims=True)).astype(np.float16))
    fused = itk_consensus.ProbabilityAverageFilter(ClassAxis=0).Execute(folds)
    assert fused.shape == (5, 6, 7)
