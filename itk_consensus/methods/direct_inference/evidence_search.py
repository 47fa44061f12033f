"""Search for the label map of highest evidence: block moves, chains of them, or all maps.

Iterated conditional modes over patterns: a move gives one pattern another label. Moves that raise
the evidence are made together as long as that pays. Where none is left, chains of moves, each
forced even if it lowers the evidence, look behind the hill (Kernighan & Lin, 1970). Where there
are few maps, all are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import current
from itk_consensus.methods.direct_inference.block_scores import BlockScores
from itk_consensus.methods.direct_inference.label_evidence import LabelEvidence, Maps
from itk_consensus.votes.disputed_voxels import chunks

#: Up to here all maps are tried, and the optimum is certain: any twelve binary voxels.
MOST_ENUMERATED = 4096

#: Numbers in the arrays of one batch of maps.
_BATCH = 2**21

#: Numbers that one round of moves of all maps may look at; sets how many starts are climbed from.
_CLIMB_WORK = 2**21

#: Numbers that one round of chains may look at; sets how many start, and how far they go.
_CHAIN_WORK = 2**16


@dataclass(frozen=True)
class Climb:
    """Where maps ended."""

    maps: Maps  #: (P, S)
    log_evidence: Floats  #: (S,)
    rounds: NDArray[np.int64]  #: (S,)
    trace: Floats  #: (rounds, S) log evidence after each round; NaN once a map has stopped

    def of(self, which: NDArray[np.int64]) -> Climb:
        """The climbs of these maps, in this order."""
        return Climb(
            self.maps[:, which], self.log_evidence[which], self.rounds[which], self.trace[:, which]
        )


def climb(model: LabelEvidence, maps: Maps) -> Climb:
    """Move whole patterns until no single move raises the evidence of any map."""
    maps, log_evidence = maps.copy(), model.log_evidence(maps)
    rounds = np.zeros(maps.shape[1], dtype=np.int64)
    active = np.arange(maps.shape[1])
    trace: list[Floats] = []
    at_once = max(1, _BATCH // (len(maps) * model.patterns.number_of_labels))
    going_on = True
    while active.size and going_on:
        before = log_evidence[active]
        for batch in chunks(active.size, at_once):
            going_on = current().iterated(len(trace) + 1)
            if not going_on:
                break
            part = active[batch]
            maps[:, part], log_evidence[part] = _move(model, maps[:, part], log_evidence[part])
        if not going_on and (log_evidence[active] == before).all():
            break
        trace.append(np.full(maps.shape[1], np.nan))
        trace[-1][active] = log_evidence[active]
        rounds[active] += 1
        active = active[log_evidence[active] > before]
    return Climb(maps, log_evidence, rounds, np.array(trace).reshape(-1, maps.shape[1]))


def climb_best(model: LabelEvidence, maps: Maps) -> Climb:
    """Climb from as many of the maps as is reasonable, the most probable ones; leave the others."""
    number = max(2, _CLIMB_WORK // _numbers_per_map(model))
    log_evidence = model.log_evidence(maps)
    chosen = np.argsort(-log_evidence, kind="stable")[:number]
    climbed = climb(model, maps[:, chosen])
    rounds = np.zeros(maps.shape[1], dtype=np.int64)
    trace = np.full((len(climbed.trace), maps.shape[1]), np.nan)
    maps = maps.copy()
    maps[:, chosen], log_evidence[chosen] = climbed.maps, climbed.log_evidence
    rounds[chosen], trace[:, chosen] = climbed.rounds, climbed.trace
    return Climb(maps, log_evidence, rounds, trace)


def finish(model: LabelEvidence, start: Maps) -> tuple[Maps, float]:
    """Best map that can be found from a climbed one (P,), and its log evidence.

    Of equally probable maps it is one with the most votes on its side, so labels that the evidence
    cannot tell apart have not changed places.
    """
    if all_can_be_tried(model):
        return _best_of_all(model)
    best, evidence = start, float(model.log_evidence(start[:, None])[0])
    improved = True
    while improved and current().iterated(1):
        others = np.stack([_end_of_chains(model, best), _renamed(model, best)], axis=1)
        climbed = climb(model, others)
        higher = int(climbed.log_evidence.argmax())
        improved = bool(climbed.log_evidence[higher] > evidence + model.resolution)
        if improved:
            best, evidence = climbed.maps[:, higher], float(climbed.log_evidence[higher])
    equals = np.stack([best, _renamed(model, best)], axis=1)
    log_evidence = model.log_evidence(equals)
    chosen = preferred(model, equals, log_evidence)
    return equals[:, chosen], float(log_evidence[chosen])


def all_can_be_tried(model: LabelEvidence) -> bool:
    """Whether the maps, K to the power P, are few."""
    # Beyond this power even two labels have too many maps, and the number itself grows unwieldy.
    patterns = min(len(model.patterns.counts), MOST_ENUMERATED.bit_length())
    return bool(model.patterns.number_of_labels**patterns <= MOST_ENUMERATED)


def preferred(model: LabelEvidence, maps: Maps, log_evidence: Floats) -> int:
    """Index of the most probable map; of equals the one with the most votes, then the first."""
    near = np.flatnonzero(log_evidence >= log_evidence.max() - model.resolution)
    return int(near[model.agreement(maps[:, near]).argmax()])


def _move(model: LabelEvidence, maps: Maps, log_evidence: Floats) -> tuple[Maps, Floats]:
    """Make all useful moves at once, or the better half of them, and so on down to the best one.

    The best one alone raises the evidence, so a map that any move improves is improved.
    """
    gain, target = _best_moves(model, maps)
    rank = np.argsort(np.argsort(-gain, axis=0, kind="stable"), axis=0)
    moves = (gain > model.resolution).sum(axis=0)
    found, reached = maps.copy(), log_evidence.copy()
    while (waiting := np.flatnonzero(moves)).size:
        proposals = np.where(rank < moves, target, maps)[:, waiting]
        evidence = model.log_evidence(proposals)
        better = evidence > log_evidence[waiting] + model.resolution
        found[:, waiting[better]] = proposals[:, better]
        reached[waiting[better]] = evidence[better]
        moves[waiting] = np.where(better, 0, moves[waiting] // 2)
    return found, reached


def _best_moves(model: LabelEvidence, maps: Maps) -> tuple[Floats, Maps]:
    """(P, S) gain of the best move of each pattern, and the label it moves to."""
    gain, target = np.empty(maps.shape), np.empty_like(maps)
    for patterns, most, label in BlockScores(model, maps).best_moves():
        gain[patterns], target[patterns] = most, label
    return gain, target


def _end_of_chains(model: LabelEvidence, start: Maps) -> Maps:
    """The most probable map on chains of forced moves from a map, no pattern moving twice.

    The first that is better than the start is taken at once.
    """
    patterns, work = len(start), _numbers_per_map(model)
    breadth = int(np.clip(_CHAIN_WORK // (4 * work), 1, patterns))
    depth = int(np.clip(_CHAIN_WORK // (breadth * work), 2, patterns))
    chains = np.arange(breadth)
    maps = np.repeat(start[:, None], breadth, axis=1)
    moved = np.zeros(maps.shape, dtype=bool)
    gain, target = _best_moves(model, start[:, None])
    pattern = np.argsort(-gain[:, 0], kind="stable")[:breadth]
    label, total = target[pattern, 0], gain[pattern, 0]
    best, highest = start, -np.inf
    for _ in range(depth - 1):
        maps[pattern, chains] = label
        moved[pattern, chains] = True
        gain, target = _best_moves(model, maps)
        pattern = np.where(moved, -np.inf, gain).argmax(axis=0)
        label, total = target[pattern, chains], total + gain[pattern, chains]
        chain = int(total.argmax())
        if total[chain] > highest:
            best, highest = maps[:, chain].copy(), total[chain]
            best[pattern[chain]] = label[chain]
        if highest > model.resolution:
            break
    return best


def _numbers_per_map(model: LabelEvidence) -> int:
    """How many counts a round of moves looks at."""
    patterns = model.patterns
    return len(patterns.counts) * patterns.number_of_raters * patterns.number_of_labels


def _renamed(model: LabelEvidence, labels: Maps) -> Maps:
    """The map with its labels renamed so that the most votes agree with it."""
    renamed = scipy.optimize.linear_sum_assignment(model.votes_by_label(labels), maximize=True)[1]
    return np.asarray(renamed[labels], labels.dtype)


def _best_of_all(model: LabelEvidence) -> tuple[Maps, float]:
    labels, places = model.patterns.number_of_labels, np.arange(len(model.patterns.counts))
    maps = np.arange(labels ** len(places)) // labels ** places[:, None] % labels
    log_evidence = model.log_evidence(maps)
    best = preferred(model, maps, log_evidence)
    return maps[:, best], float(log_evidence[best])
