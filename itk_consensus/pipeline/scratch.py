"""What a run in blocks leaves on disk, so that the next one takes up where it was stopped.

Every file appears in one step and with its hash: what is there is finished, or known as damaged.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.chunked.packed_array import PackedArray
from itk_consensus.errors import FileError
from itk_consensus.filters.pattern_chunks import PatternSummary
from itk_consensus.filters.tile_chunks import VoteSummary
from itk_consensus.images.replacing import mode_of
from itk_consensus.pipeline.input_notes import InputNotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.mixed_votes import MixedCounts

Place = tuple[int, ...]

#: The stages in which the output is made, and written.
DESCRIBED, WRITTEN = "described", "written"

_PLAN = re.compile("[0-9a-f]{64}")
_REPLACED = ".replaced"
_DIGEST_BYTES = 32


@dataclass(frozen=True)
class Scratch:
    """The folder of one plan, called by the plan's hash: no other plan finds what is in it."""

    folder: Path

    @staticmethod
    def beside(output: Path) -> Path:
        """The folder in which an output is made."""
        return output.with_name(f"{output.name}.partial")

    @classmethod
    def take_up(cls, output: Path, plan: dict[str, Any]) -> Scratch:
        """Keep what an earlier run of the same plan left; what others left is removed.

        Raises
        ------
        FileError
            What stands there is not of an earlier run.
        """
        around = cls.beside(output)
        scratch = cls(around / _sha256(json.dumps(plan, sort_keys=True).encode()).hex())
        try:
            for path in _ours(around):
                if path.name != scratch.folder.name:
                    # Somebody may still be writing there, to nobody's harm.
                    shutil.rmtree(path, ignore_errors=True)
            scratch.folder.mkdir(parents=True, exist_ok=True)
            mode = mode_of(output)
            if mode is not None:
                around.chmod(mode)
        except OSError as error:
            raise FileError(f"{around}: is in the way: {error.strerror}") from error
        return scratch

    @classmethod
    def put_back(cls, output: Path) -> None:
        """Put a store back in its place whose successor was not there yet at a kill."""
        replaced = [p for p in _ours(cls.beside(output)) if p.name.endswith(_REPLACED)]
        if replaced and not os.path.lexists(output):
            os.replace(replaced[0], output)

    def hand_over(self, output: Path) -> None:
        """Move the finished store to its place, and forget how it was made."""
        mode = mode_of(output)
        if mode is not None:
            self.store.chmod(mode)
            os.replace(output, self.folder.with_name(f"{uuid.uuid4().hex}{_REPLACED}"))
        os.replace(self.store, output)
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    @property
    def store(self) -> Path:
        """The output while it is being written."""
        return self.folder / "output.zarr"

    def has(self, stage: str, place: Place) -> bool:
        """Whether what a block came to is there, and undamaged."""
        return self.content(stage, place) is not None

    def content(self, stage: str, place: Place) -> bytes | None:
        """What was kept of a block; None if nothing was, or it is damaged."""
        try:
            kept = self._file(stage, place).read_bytes()
        except OSError:
            return None
        digest, content = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
        return content if _sha256(content) == digest else None

    def keep(self, stage: str, place: Place, content: bytes) -> None:
        """Keep what a block came to, in one step and with its hash."""
        target = self._file(stage, place)
        target.parent.mkdir(exist_ok=True)
        draft = target.with_name(f"{uuid.uuid4().hex}.draft")
        draft.write_bytes(_sha256(content) + content)
        os.replace(draft, target)

    def save(self, stage: str, place: Place, arrays: dict[str, NDArray[Any]]) -> None:
        """Keep a block's arrays."""
        content = io.BytesIO()
        np.savez(content, **arrays)  # type: ignore[arg-type]
        self.keep(stage, place, content.getvalue())

    def load(self, stage: str, place: Place) -> Any:
        """A block's arrays, each unpacked when it is asked for."""
        content = self.content(stage, place)
        if content is None:
            raise FileError(
                f"{self._file(stage, place)}: was damaged while the run used it; start it again"
            )
        return np.load(io.BytesIO(content), allow_pickle=False)

    def _file(self, stage: str, place: Place) -> Path:
        return self.folder / stage / ("-".join(map(str, place)) + ".npz")


def _ours(around: Path) -> list[Path]:
    """What earlier runs left; nobody else's folder is written into, and deleted in the end."""
    try:
        paths = list(around.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise FileError(f"{around}: is in the way: {error.strerror}") from error
    for path in paths:
        if not (_PLAN.fullmatch(path.name) or path.name.endswith(_REPLACED)):
            raise FileError(f"{around}: is in the way: it holds files that are not ours")
    return paths


def voxel_hash(voxels: NDArray[Any]) -> bytes:
    """SHA-256 of a block of the output."""
    return _sha256(np.ascontiguousarray(voxels).tobytes())


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


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
