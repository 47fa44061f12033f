"""Search for the label map with the highest evidence: block moves, chains of moves, or all maps.

The search uses iterated conditional modes over patterns: a move assigns another label to one
pattern. Moves that raise the evidence are combined if the combination raises it as well. If no such
move is left, chains of forced moves, which may temporarily lower the evidence, escape from the
local optimum (Kernighan & Lin, 1970). If there are few maps, all of them are evaluated.
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

#: Maximum number of maps for which all maps are evaluated, which makes the optimum exact: 2**12,
#: e.g. for 12 binary patterns.
MOST_ENUMERATED = 4096

#: Number of values in the arrays of one batch of maps.
_BATCH = 2**21

#: Maximum number of values in one round of moves over all maps; limits the number of starts.
_CLIMB_WORK = 2**21

#: Maximum number of values in one round of chains; limits the number and length of chains.
_CHAIN_WORK = 2**16


@dataclass(frozen=True)
class Climb:
    """Local optima reached by climbing from several maps."""

    maps: Maps  #: (P, S)
    log_evidence: Floats  #: (S,)
    rounds: NDArray[np.int64]  #: (S,) number of rounds
    trace: Floats  #: (rounds, S) log evidence after each round; NaN once a map has stopped

    def of(self, which: NDArray[np.int64]) -> Climb:
        """Return the results for some maps, in the given order."""
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
            going_on = current().on_iteration(len(trace) + 1)
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
    """Climb from as many of the most probable maps as is affordable; leave the others unchanged."""
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
    """Improve a climbed map (P,) by chains, or evaluate all maps; return map and log evidence.

    Among equally probable maps, the one that agrees with the most votes is returned, so that labels
    that the evidence cannot distinguish are not switched.
    """
    if all_can_be_tried(model):
        return _best_of_all(model)
    best, evidence = start, float(model.log_evidence(start[:, None])[0])
    improved = True
    while improved and current().on_iteration(1):
        others = np.stack([_end_of_chains(model, best), _rename_labels(model, best)], axis=1)
        climbed = climb(model, others)
        higher = int(climbed.log_evidence.argmax())
        improved = bool(climbed.log_evidence[higher] > evidence + model.resolution)
        if improved:
            best, evidence = climbed.maps[:, higher], float(climbed.log_evidence[higher])
    equals = np.stack([best, _rename_labels(model, best)], axis=1)
    log_evidence = model.log_evidence(equals)
    chosen = choose_map(model, equals, log_evidence)
    return equals[:, chosen], float(log_evidence[chosen])


def all_can_be_tried(model: LabelEvidence) -> bool:
    """Return whether the number of maps, K to the power P, is small enough to evaluate all."""
    # The exponent is clipped: beyond it even two labels have too many maps, and the integer is
    # huge.
    patterns = min(len(model.patterns.counts), MOST_ENUMERATED.bit_length())
    return bool(model.patterns.number_of_labels**patterns <= MOST_ENUMERATED)


def choose_map(model: LabelEvidence, maps: Maps, log_evidence: Floats) -> int:
    """Return the index of the most probable map; ties go to the most votes, then to the first."""
    near = np.flatnonzero(log_evidence >= log_evidence.max() - model.resolution)
    return int(near[model.agreement(maps[:, near]).argmax()])


def _move(model: LabelEvidence, maps: Maps, log_evidence: Floats) -> tuple[Maps, Floats]:
    """Apply all moves that raise the evidence; if this lowers it, the best half of them, and so on
    down to one.

    The best move alone always raises the evidence, so a map is improved whenever any move improves
    it.
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
    """Return the (P, S) gain in log evidence of each pattern's best move, and its target label."""
    gain, target = np.empty(maps.shape), np.empty_like(maps)
    for patterns, most, label in BlockScores(model, maps).best_moves():
        gain[patterns], target[patterns] = most, label
    return gain, target


def _end_of_chains(model: LabelEvidence, start: Maps) -> Maps:
    """Return the most probable map on chains of forced moves in which no pattern moves twice.

    The search stops at the first map that is better than the start.
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
    """Return the number of values that are computed for one map in one round of moves."""
    patterns = model.patterns
    return len(patterns.counts) * patterns.number_of_raters * patterns.number_of_labels


def _rename_labels(model: LabelEvidence, labels: Maps) -> Maps:
    """Return the map with its labels permuted to agree with the most votes."""
    names = scipy.optimize.linear_sum_assignment(model.votes_by_label(labels), maximize=True)[1]
    return np.asarray(names[labels], labels.dtype)


def _best_of_all(model: LabelEvidence) -> tuple[Maps, float]:
    labels, places = model.patterns.number_of_labels, np.arange(len(model.patterns.counts))
    maps = np.arange(labels ** len(places)) // labels ** places[:, None] % labels
    log_evidence = model.log_evidence(maps)
    best = choose_map(model, maps, log_evidence)
    return maps[:, best], float(log_evidence[best])
