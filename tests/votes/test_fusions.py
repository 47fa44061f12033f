"""All representations of a fusion give the same results through the same interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import entropy
from stacks import Drawn, drawn_stacks, encode

import itk_consensus as ic
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.fusions import (
    DisputedFusion,
    Fusion,
    ListedVoxels,
    PatternFusion,
    StoredShares,
    VolumeFusion,
    VoxelShares,
)
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS, uncertainty

#: At least one rater annotated at least one voxel inside the mask.
annotated_stacks = drawn_stacks().filter(lambda drawn: encode(drawn).present.any())


@dataclass(frozen=True)
class WrittenShares(VoxelShares):
    """Shares that are not stored until they are written."""

    vote: PatternFusion

    def write(self, label: int, out: np.ndarray) -> None:
        self.vote.write_probability(label, out)


def same_vote_thrice(drawn: Drawn) -> list[Fusion]:
    """Return one vote represented by pattern, by disputed voxel and by voxel."""
    patterns = encode(drawn)
    vote = majority_vote(patterns)
    voxels = DisputedVoxels(patterns, patterns.disputed_region([0] * drawn.present[0].ndim))
    everywhere = np.flatnonzero(patterns.expand(voxels.flags))
    columns = [np.ascontiguousarray(column) for column in vote.probabilities.T]
    return [
        vote,
        DisputedFusion(
            voxels,
            vote,
            voxels.take(voxels.expand(vote.decision)),
            StoredShares([voxels.take(voxels.expand(column)) for column in columns]),
        ),
        VolumeFusion(
            patterns.expand(vote.decision.astype(np.int32), outside=BACKGROUND),
            StoredShares([patterns.expand(column) for column in columns]),
        ),
        VolumeFusion(
            patterns.expand(vote.decision.astype(np.int32), outside=BACKGROUND),
            WrittenShares(vote),
        ),
        DisputedFusion(
            ListedVoxels(voxels.flags, everywhere[::-1]),
            vote,
            patterns.expand(vote.decision).reshape(-1)[everywhere[::-1]],
            StoredShares([patterns.expand(c).reshape(-1)[everywhere[::-1]] for c in columns]),
        ),
    ]


def written(fusion: Fusion, drawn: Drawn) -> dict[str, Any]:
    labels, shape = len(drawn.labels()), drawn.present[0].shape
    values = np.array([*range(10, 10 + labels), 0, 7], np.uint16)
    outputs: dict[str, Any] = {"labels": np.empty(shape, np.uint16)}
    fusion.write_labels(values, outputs["labels"])
    for label in range(labels):
        outputs[f"probability {label}"] = np.empty(shape)
        fusion.write_probability(label, outputs[f"probability {label}"])
    for kind in UNCERTAINTY_KINDS:
        outputs[kind] = np.empty(shape, np.float32)
        fusion.write_uncertainty(kind, labels, outputs[kind])
    return outputs


@given(annotated_stacks)
def test_what_is_written_does_not_depend_on_the_kind_of_fusion(drawn):
    by_pattern, *others = same_vote_thrice(drawn)
    wanted = written(by_pattern, drawn)
    for other in others:
        assert other.has_undecided == by_pattern.has_undecided
        np.testing.assert_array_equal(other.volume(), by_pattern.volume())
        for name, output in written(other, drawn).items():
            # A sum over labels in float32 is rounded differently if its terms are float32, too.
            close = 1e-6 if output.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(output, wanted[name], atol=close, err_msg=name)


@given(annotated_stacks)
def test_probabilities_are_zero_outside_the_mask_and_make_an_entropy_inside(drawn):
    for fusion in same_vote_thrice(drawn):
        outputs = written(fusion, drawn)
        shares = np.stack([v for k, v in outputs.items() if k.startswith("probability")])
        inside = np.ones(shares.shape[1:], bool) if drawn.mask is None else drawn.mask != 0
        assert not shares[:, ~inside].any()
        expected = entropy(shares[:, inside], axis=0)
        unsure = np.empty(shares.shape[1:])
        uncertainty("entropy", shares, unsure)
        np.testing.assert_allclose(unsure[inside], expected, atol=1e-12)


@given(annotated_stacks)
def test_tables_hold_every_voxel_once_with_its_votes_and_its_answer(drawn):
    patterns = encode(drawn)
    for fusion in same_vote_thrice(drawn):
        table = fusion.as_table(patterns)
        assert table.patterns.number_of_voxels == patterns.number_of_voxels
        np.testing.assert_array_equal(table.patterns.patterns, patterns.patterns[table.rows])
        volume = fusion.volume()
        for code in np.unique(table.decision):
            if code != BACKGROUND:
                here = table.patterns.counts[table.decision == code].sum()
                assert here == np.count_nonzero(volume == code)


def test_only_answers_by_pattern_have_probabilities_by_pattern():
    drawn = Drawn([np.array([0, 1, 1], np.uint8), np.array([0, 0, 1], np.uint8)])
    by_pattern, *others = same_vote_thrice(drawn)
    assert by_pattern.as_table(encode(drawn)).probabilities is not None
    assert all(other.as_table(encode(drawn)).probabilities is None for other in others)


@pytest.mark.parametrize("code", [UNDECIDED, BACKGROUND])
def test_codes_are_the_last_two_values(code):
    patterns = encode(Drawn([np.array([[0, 3]], np.uint8)]))
    fusion = PatternFusion(patterns, np.array([0, code]), np.eye(2))
    out = np.empty((1, 2), np.uint8)
    fusion.write_labels(np.array([5, 6, 80, 90], np.uint8), out)
    assert out.tolist() == [[5, 90 if code == UNDECIDED else 80]]
    assert fusion.has_undecided == (code == UNDECIDED)


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize(
    "method",
    ["ConsensusFilter", "CoherenceVoteFilter", "MajorityVoteFilter", "SpatialSTAPLEFilter"],
)
def test_probabilities_at_some_voxels_are_those_of_the_whole_map(
    method: str, is_masked: bool, labels: int
) -> None:
    rng = np.random.default_rng(labels)
    z, y, x = np.mgrid[:14, :24, :26]
    maps = []
    for number in range(4):
        drawn = ((2 * (z - 7)) ** 2 + (y - 12) ** 2 + (x - 12 - number) ** 2 < 60).astype(np.uint8)
        if labels == 4:
            drawn[(z > 7) & (drawn > 0)] = 2
            drawn[(z < 3) & (y < 6) & (x > 18 + number)] = 3
        drawn[rng.random(drawn.shape) < 0.01] = 1
        maps.append(drawn)
    filter_ = getattr(ic, method)()
    if is_masked:
        filter_.SetMaskImage((x < 20).astype(np.uint8))
    result = filter_.fuse(maps)
    part = np.flatnonzero((z > 4) & (z < 10) & (x > 8) & (x < 22))
    places = np.sort(rng.choice(part, 100, replace=False))
    found = result.probabilities_at(dict.fromkeys(result.labels, places))
    for label in result.labels:
        whole = result.probability(label).reshape(-1)
        np.testing.assert_array_equal(found[label], whole[places])
