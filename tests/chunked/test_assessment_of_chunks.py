"""Findings, verdict and agreement of volumes in chunks, computed from tables of votes, equal those
of volumes in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import zarr
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

import itk_consensus as ic
from itk_consensus.assessment.agreement.study import AgreementSettings
from itk_consensus.assessment.assessment import assess
from itk_consensus.chunked.chunked_result import RULES_OF_VOXELS
from itk_consensus.cli import main
from itk_consensus.core.errors import InputError
from itk_consensus.fusing.label_fusion import LabelFusionFilter

FILTERS = (ic.ConsensusFilter, ic.CoherenceVoteFilter, ic.MultiLabelSTAPLEImageFilter)
SHAPE = (22, 25, 28)


def smooth(rng: np.random.Generator, sigma: float) -> NDArray[Any]:
    """Return smooth noise of unit variance."""
    found = gaussian_filter(rng.standard_normal(SHAPE), sigma, mode="wrap")
    return np.asarray(found / found.std())


def readers(seed: int) -> list[NDArray[np.uint8]]:
    """Return masks of two structures by five readers, the last of which is empty, a copy, or
    mirrored.
    """
    rng = np.random.default_rng(seed)
    truth = smooth(rng, 3.0)
    drawn = [np.digitize(truth + 0.3 * smooth(rng, 1.0), [0.7, 1.5]) for _ in range(5)]
    found = [one.astype(np.uint8) for one in drawn]
    slips = (np.zeros_like(found[0]), found[0], np.ascontiguousarray(found[4][:, ::-1]))
    found[4] = slips[seed % 3]
    return found


def both(
    filter_: type[LabelFusionFilter], seed: int
) -> tuple[LabelFusionFilter, LabelFusionFilter]:
    """Return a filter executed on arrays in memory, and one executed on chunks."""
    given = readers(seed)
    mask = (smooth(np.random.default_rng(seed), 3.0) < 1.5).astype(np.uint8)
    parameters = {"MaskImage": mask} if seed % 2 else {}
    chunks = (11, 9, 20)
    lazy = {name: da.from_array(image, chunks=chunks) for name, image in parameters.items()}
    memory, chunked = filter_(**parameters), filter_(**lazy)
    memory.Execute(given)
    chunked.Execute([da.from_array(one, chunks=chunks) for one in given])
    return memory, chunked


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("filter_", FILTERS, ids=lambda filter_: filter_.__name__)
def test_chunks_have_all_findings_of_memory_that_need_no_voxels(
    filter_: type[LabelFusionFilter], seed: int
) -> None:
    memory, chunked = both(filter_, seed)

    def told(fused: LabelFusionFilter) -> dict[tuple[Any, ...], Any]:
        findings = fused.GetDiagnostics(full=False).findings
        # Without voxels, a mirrored mask cannot be recognised as such; its rater is then reported
        # as deviating.
        return {
            (one.rule, one.kind, one.who, one.label): (one.severity, one.value)
            for one in findings
            if one.rule not in (*RULES_OF_VOXELS, "deviating rater")
        }

    wanted, found = told(memory), told(chunked)
    assert found.keys() == wanted.keys()
    for key, (severity, value) in wanted.items():
        assert found[key][0] == severity, key
        np.testing.assert_allclose(found[key][1] or 0, value or 0, rtol=1e-9, err_msg=str(key))


def test_chunks_look_for_everything_but_what_needs_voxels() -> None:
    memory, chunked = both(ic.ConsensusFilter, 1)
    rules = [{one.rule for one in made.GetDiagnostics().findings} for made in (memory, chunked)]
    assert rules[0] - rules[1] == set(RULES_OF_VOXELS)


@pytest.mark.parametrize("filter_", FILTERS, ids=lambda filter_: filter_.__name__)
def test_the_agreement_of_chunks_is_that_of_memory(filter_: type[LabelFusionFilter]) -> None:
    memory, chunked = both(filter_, 2)
    settings = AgreementSettings(surfaces=False)
    wanted = assess(memory.fused).agreement(settings)
    found = assess(chunked.GetResult().as_table()).agreement(settings)
    for one, other in zip(found.labels, wanted.labels, strict=True):
        np.testing.assert_array_equal(one.dice, other.dice)
        np.testing.assert_array_equal(one.volumes, other.volumes)
    assert found.alpha == wanted.alpha


def test_an_empty_mask_of_a_chunked_volume_asks_for_a_look() -> None:
    _, chunked = both(ic.ConsensusFilter, 0)
    verdict = assess(chunked.GetResult().as_table()).verdict()
    assert verdict.word == "look"
    assert any(one.rule == "empty mask" for one in verdict.decided_by)


def test_smoothed_votes_of_chunks_say_why_they_have_no_findings() -> None:
    _, chunked = both(ic.CorrectedVoteFilter, 0)
    with pytest.raises(InputError, match=r"CorrectedVoteFilter: of chunks .*memory"):
        chunked.GetDiagnostics()


def test_the_command_says_the_verdict_of_stores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / f"{name}.zarr") for name in ("ann", "bob", "eve", "kim", "lea")]
    for path, voxels in zip(paths, readers(0), strict=True):
        zarr.create_array(path, shape=SHAPE, chunks=(11, 9, 20), dtype="u1")[:] = voxels
    words = ["fuse", *paths, "-o", str(tmp_path / "fused.zarr"), "--overwrite"]
    assert main([*words, "--method", "consensus", "--fail-on", "look"]) == 1
    said = capsys.readouterr().out
    assert "Look." in said
    assert "lea" in said
    assert "Not looked for" in said
    assert main([*words, "--method", "consensus"]) == 0
    assert main([*words, "--fail-on", "look"]) == 2
    assert "--method consensus has one" in capsys.readouterr().err
