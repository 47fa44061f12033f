"""The record of a run in blocks: the results of each block, from which an interrupted run is
resumed.

Every file is written atomically and contains checksums, so an existing file is either complete or
recognised as damaged.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.input_notes import InputNotes
from itk_consensus.chunked.block_chunks import BlockContext, BlockSummary, ChunkVotes
from itk_consensus.chunked.packed_array import PackedArray
from itk_consensus.chunked.passes import Gathered
from itk_consensus.chunked.pattern_chunks import PatternCodes, PatternSummary
from itk_consensus.chunked.tile_chunks import VoteSummary
from itk_consensus.core.errors import FileError
from itk_consensus.images.content import claims_on
from itk_consensus.methods.consensus.consensus_filter import ConsensusEstimate
from itk_consensus.space.blocks import Packed
from itk_consensus.storage.claims import Claim, require_no_overlap
from itk_consensus.storage.replacing import permissions
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.vote_tiles import MixedCounts

Place = tuple[int, ...]

_PLAN = re.compile("[0-9a-f]{64}")
_REPLACED = ".replaced"

#: The only classes, besides arrays, numbers and tuples, that a file of a record may refer to.
_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Gathered,
        PatternSummary,
        PatternCodes,
        PackedArray,
        DecisionPatterns,
        VoteSummary,
        MixedCounts,
        InputNotes,
        ChunkVotes,
        BlockSummary,
        BlockContext,
        Packed,
        ConsensusEstimate,
    )
}


@dataclass(frozen=True)
class RunRecord:
    """The folder of a plan, named by the plan's hash so that runs with other plans do not use its
    contents.
    """

    folder: Path

    @staticmethod
    def place_of(output: Path, inputs: Sequence[Path]) -> Path:
        """Resolve the path of a store; raise if writing it would overwrite or block other files."""
        place = Path(os.path.realpath(output))
        if not place.parent.is_dir():
            raise FileError(f"the folder {place.parent} does not exist", path=output)
        writes = [Claim(str(output), place), Claim(str(output), _beside(place))]
        require_no_overlap([claim for path in inputs for claim in claims_on(path)], writes)
        return place

    @classmethod
    def resume(cls, output: Path, plan: dict[str, Any]) -> RunRecord:
        """Open the folder of a plan with the results of earlier runs; delete the folders of other
        plans.

        Raises
        ------
        FileError
            The folder contains files that are not from an earlier run.
        """
        around = _beside(output)
        name = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()
        record = cls(around / name)
        try:
            for path in _left_in(around):
                if path.name != name:
                    # Another process may still be writing to this folder, which does no harm.
                    shutil.rmtree(path, ignore_errors=True)
            record.folder.mkdir(parents=True, exist_ok=True)
            mode = permissions(output)
            if mode is not None:
                around.chmod(mode)
        except OSError as error:
            raise FileError(
                f"{around}: cannot hold the unfinished output: {error.strerror}"
            ) from error
        return record

    @staticmethod
    def restore_backup(output: Path) -> None:
        """Restore the previous store if a run was killed before its replacement was in place."""
        replaced = [p for p in _left_in(_beside(output)) if p.name.endswith(_REPLACED)]
        if replaced and not os.path.lexists(output):
            os.replace(replaced[0], output)

    def publish(self, output: Path) -> None:
        """Move the finished store to its final path and delete the record."""
        mode = permissions(output)
        if mode is not None:
            self.store.chmod(mode)
            os.replace(output, self.folder.with_name(f"{uuid.uuid4().hex}{_REPLACED}"))
        os.replace(self.store, output)
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    @property
    def store(self) -> Path:
        """Path of the output while it is being written."""
        return self.folder / "output.zarr"

    def save(self, stage: str, place: Place, value: Any) -> None:
        """Save the result of a block atomically."""
        arrays: list[NDArray[Any]] = []
        text = json.dumps(_described(value, arrays))
        target = self._file(stage, place)
        target.parent.mkdir(exist_ok=True)
        draft = target.with_name(f"{uuid.uuid4().hex}.draft")
        with draft.open("wb") as file:
            np.savez(file, np.array(text), *arrays)
        os.replace(draft, target)

    def load(self, stage: str, place: Place) -> Any:
        """Load the result of a block; None if it is missing or damaged."""
        try:
            with self._file(stage, place).open("rb") as file:
                arrays = np.load(file, allow_pickle=False)
                return _restored(json.loads(str(arrays["arr_0"])), arrays)
        except Exception:  # the reader can fail in many ways on a damaged file
            return None

    def _file(self, stage: str, place: Place) -> Path:
        return self.folder / stage / ("-".join(map(str, place)) + ".npz")


def _beside(output: Path) -> Path:
    """Return the folder in which an output is prepared."""
    return output.with_name(f"{output.name}.partial")


def _left_in(around: Path) -> list[Path]:
    """Return the contents left by earlier runs; raise if there are other files, which must not be
    deleted.
    """
    try:
        paths = list(around.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FileError(f"{around}: cannot hold the unfinished output: {error.strerror}") from error
    for path in paths:
        if not (_PLAN.fullmatch(path.name) or path.name.endswith(_REPLACED)):
            raise FileError(
                f"{around}: holds other files, so the unfinished output cannot be put there: move "
                "them, or choose another output"
            )
    return paths


def _described(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Convert a value to JSON: its class and fields; arrays are appended and numbered."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return ["array", len(arrays)]
    if is_dataclass(value):
        parts = (getattr(value, field.name) for field in fields(value))
        return [type(value).__name__, *(_described(part, arrays) for part in parts)]
    if isinstance(value, tuple):
        return [type(value).__name__, *(_described(part, arrays) for part in value)]
    return value


def _restored(described: Any, arrays: Any) -> Any:
    if not isinstance(described, list):
        return described
    kind, *parts = described
    if kind == "array":
        return arrays[f"arr_{parts[0]}"]
    values = [_restored(part, arrays) for part in parts]
    return tuple(values) if kind == "tuple" else _KINDS[kind](*values)
