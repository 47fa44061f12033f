"""What a run in blocks leaves on disk, so that the next one takes up where it was stopped.

Every file appears in one step: what is there is finished.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.chunked.packed_array import PackedArray
from itk_consensus.filters.pattern_chunks import PatternSummary
from itk_consensus.filters.tile_chunks import VoteSummary
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.vote_tiles import MixedCounts
from itk_consensus.pipeline.input_notes import InputNotes

Place = tuple[int, ...]

_PLAN = "plan.json"

#: The stage in which the output is written.
WRITTEN = "written"


@dataclass(frozen=True)
class Scratch:
    """The folder of one run."""

    folder: Path

    def take_up(self, plan: dict[str, Any]) -> None:
        """Keep what an earlier run of the same plan left; of another plan, begin anew."""
        file = self.folder / _PLAN
        text = json.dumps(plan, indent=1, sort_keys=True)
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            if not self.store.exists():  # stopped before it was made, or after it was moved
                shutil.rmtree(self.folder / WRITTEN, ignore_errors=True)
            return
        if file.is_file():  # ours, but of other inputs, parameters or another version
            shutil.rmtree(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        _replace(file, text.encode())

    @property
    def store(self) -> Path:
        """The output while it is being written."""
        return self.folder / "output.zarr"

    def has(self, stage: str, place: Place) -> bool:
        """Whether a block is finished."""
        return self._file(stage, place).is_file()

    def mark(self, stage: str, place: Place) -> None:
        """Say that a block is finished."""
        _replace(self._file(stage, place), b"")

    def save(self, stage: str, place: Place, arrays: dict[str, NDArray[Any]]) -> None:
        """Keep a block's arrays."""
        target = self._file(stage, place)
        target.parent.mkdir(exist_ok=True)
        draft = target.with_name(f"{uuid.uuid4().hex}.draft.npz")
        np.savez(draft, **arrays)  # type: ignore[arg-type]
        os.replace(draft, target)

    def load(self, stage: str, place: Place) -> Any:
        """A block's arrays, each read when it is asked for."""
        return np.load(self._file(stage, place), allow_pickle=False)

    def _file(self, stage: str, place: Place) -> Path:
        return self.folder / stage / ("-".join(map(str, place)) + ".npz")


def _replace(target: Path, contents: bytes) -> None:
    target.parent.mkdir(exist_ok=True)
    draft = target.with_name(f"{uuid.uuid4().hex}.draft")
    draft.write_bytes(contents)
    os.replace(draft, target)


# -- summaries as arrays ------------------------------------------------------------------------


def summary_arrays(summary: Any) -> dict[str, NDArray[Any]]:
    """What is gathered of a block, as plain arrays."""
    if isinstance(summary, MixedCounts):
        return summary._asdict()
    if isinstance(summary, VoteSummary):
        types = {f"rater-{j}": values for j, values in enumerate(summary.types)}
        return {"labels": summary.labels, "counts": summary.counts} | types
    table: DecisionPatterns = summary.table
    arrays = {"patterns": table.patterns, "counts": table.counts, "labels": table.labels}
    if table.strata is not None:
        arrays["strata"] = table.strata
    raters = {f"rater-{j}": v for j, v in enumerate(summary.values) if v is not None}
    return arrays | raters


def summary_of(arrays: Any, raters: int) -> Any:
    """The summary again; `raters` is their number, missing ones included."""
    values = tuple(
        arrays[name] if (name := f"rater-{j}") in arrays else None for j in range(raters)
    )
    if "keys" in arrays:
        return MixedCounts(arrays["keys"], arrays["sums"], arrays["voxels"])
    if "patterns" not in arrays:
        types = tuple(value for value in values if value is not None)
        return VoteSummary(arrays["labels"], arrays["counts"], types)
    return PatternSummary(_table(arrays), values)


def note_arrays(notes: InputNotes) -> dict[str, NDArray[Any]]:
    """Notes on the raters, under names of their own."""
    return {f"note-{name}": values for name, values in notes._asdict().items()}


def notes_of(arrays: Any) -> InputNotes:
    """The notes again."""
    return InputNotes(*(arrays[f"note-{name}"] for name in InputNotes._fields))


def code_arrays(patterns: DecisionPatterns) -> dict[str, NDArray[Any]]:
    """The codes of a block, compressed, and what they stand for."""
    assert patterns.codes is not None
    assert patterns.slots is not None
    packed = PackedArray.of(patterns.codes)
    parts = {f"part-{i}": np.frombuffer(part, np.uint8) for i, part in enumerate(packed.parts)}
    return parts | {
        "slots": patterns.slots,
        "shape": np.array(packed.shape),
        "type": np.empty(0, packed.dtype),
        "number_of_codes": np.array(patterns.number_of_codes),
    }


def encoded_block(arrays: Any) -> DecisionPatterns:
    """The patterns of a block, with the codes of its voxels."""
    names = sorted((name for name in arrays if name.startswith("part-")), key=lambda n: int(n[5:]))
    packed = PackedArray(
        tuple(arrays["shape"].tolist()),
        arrays["type"].dtype,
        tuple(arrays[name].tobytes() for name in names),
    )
    table = _table(arrays)
    return DecisionPatterns(
        table.patterns,
        table.counts,
        table.labels,
        table.strata,
        packed.unpacked(),
        arrays["slots"],
        int(arrays["number_of_codes"]),
    )


def _table(arrays: Any) -> DecisionPatterns:
    strata = arrays.get("strata")
    return DecisionPatterns(arrays["patterns"], arrays["counts"], arrays["labels"], strata)
