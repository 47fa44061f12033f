"""Arrays over a box of a volume, stored in blocks: one ordinary array, or many compressed blocks.

The same code handles arrays in memory, for which the box is a single block, and volumes that do not
fit into memory. A constant block is stored as a single value, other blocks are compressed;
functions receive ordinary arrays. Boxes are in coordinates of the volume.
"""

from __future__ import annotations

import itertools
import math
import mmap
import pickle
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.core.work import in_threads, working
from itk_consensus.space.boxes import Box, intersection, relative_to

Array = NDArray[Any]

#: Side, in voxels, of the blocks in which volumes that do not fit into memory are processed. It is
#: large compared with the halo of 30 voxels required by scale bands, and small enough for one or
#: two gigabytes of working memory. It must be even.
SIDE = 256

#: Number of values of a shelf that are cached after they were read as arrays.
_VALUES_KEPT = 8

#: Arrays on a shelf begin at multiples of this number of bytes.
_ALIGNMENT = 64

#: Compression level: the fastest one, which suffices since labels are mostly repetitions.
_LEVEL = 1


class Blocks(NamedTuple):
    """A box divided into blocks."""

    cuts: tuple[tuple[int, ...], ...]  #: For each axis, the start of each block followed by the end

    @classmethod
    def of(cls, box: Box, side: int | None = None, origin: Sequence[int] = ()) -> Blocks:
        """Divide a box at multiples of `side` from `origin`; without `side`, use a single block."""
        if side is None:
            return cls(tuple((part.start, part.stop) for part in box))
        starts = origin or (0,) * len(box)
        return cls(
            tuple(
                (part.start, *_multiples(part.start, part.stop, side, start), part.stop)
                for part, start in zip(box, starts, strict=True)
            )
        )

    @classmethod
    def even(cls, shape: Sequence[int], side: int) -> Blocks:
        """Divide a volume into equal blocks with about this side, which start at even indices."""
        cuts = []
        for size in shape:
            number = max(1, round(size / side))
            step = 2 * -(-size // (2 * number))
            cuts.append((*range(0, size, step), size))
        return cls(tuple(cuts))

    @property
    def box(self) -> Box:
        """The whole box."""
        return tuple(slice(axis[0], axis[-1]) for axis in self.cuts)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the box."""
        return tuple(axis[-1] - axis[0] for axis in self.cuts)

    def boxes(self) -> list[Box]:
        """Return the blocks, in C order."""
        axes = [[slice(*pair) for pair in itertools.pairwise(axis)] for axis in self.cuts]
        return list(itertools.product(*axes))

    def touching(self, box: Box) -> Iterator[int]:
        """Yield the indices of the blocks that overlap a box."""
        spans = []
        for axis, part in zip(self.cuts, box, strict=True):
            low = int(np.searchsorted(axis, part.start, "right")) - 1
            high = int(np.searchsorted(axis, part.stop, "left"))
            spans.append(range(max(low, 0), min(high, len(axis) - 1)))
        number = [len(axis) - 1 for axis in self.cuts]
        for place in itertools.product(*spans):
            yield int(np.ravel_multi_index(place, number)) if place else 0


def _multiples(start: int, stop: int, side: int, origin: int) -> Iterator[int]:
    """Yield the multiples of `side`, counted from `origin`, strictly between start and stop."""
    first = start + side - (start - origin) % side
    return iter(range(first, stop, side))


class Packed(NamedTuple):
    """A compressed array."""

    shape: tuple[int, ...]
    dtype: str
    content: NDArray[np.uint8]

    @classmethod
    def of(cls, array: Array) -> Packed:
        """Compress an array; Booleans take one bit each."""
        flat = np.ascontiguousarray(array).reshape(-1)
        if array.dtype == bool:
            flat = np.packbits(flat)
        content = zlib.compress(flat.view(np.uint8).data, _LEVEL)
        return cls(array.shape, array.dtype.str, np.frombuffer(content, np.uint8))

    def array(self) -> Array:
        """Decompress the array."""
        content = np.frombuffer(zlib.decompress(self.content.data), np.uint8)
        if self.dtype == np.dtype(bool).str:
            bits = np.unpackbits(content, count=math.prod(self.shape))
            return bits.view(bool).reshape(self.shape)
        return content.view(self.dtype).reshape(self.shape)

    def part(self, box: Box) -> Array:
        """Return the part of the array in a box."""
        return self.array()[box]


class Shelf:
    """Store for values in an anonymous temporary file, which is deleted when the process ends."""

    def __init__(self) -> None:
        self._file: Any = TemporaryFile()  # noqa: SIM115 (closed by the finalizer below)
        weakref.finalize(self, self._file.close)
        self._lock = Lock()
        #: Cached, since consecutive blocks often request the same values, which are small.
        self.recent = lru_cache(maxsize=_VALUES_KEPT)(self.get)

    def put(self, value: Any) -> Shelved:
        """Store a value."""
        arrays: list[pickle.PickleBuffer] = []
        content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
        parts = [memoryview(content), *(array.raw() for array in arrays)]
        lengths = tuple(part.nbytes for part in parts)
        with self._lock:
            place = _rounded(self._file.seek(0, 2), mmap.ALLOCATIONGRANULARITY)
            for part, (start, _) in zip(parts, _spans(lengths), strict=True):
                self._file.seek(place + start)
                self._file.write(part)
            self._file.flush()
        return Shelved(self, place, lengths)

    def get(self, place: int, lengths: tuple[int, ...]) -> Any:
        """Read a stored value; its arrays are memory-mapped, and copied when written to."""
        spans = list(_spans(lengths))
        # An empty array at the end may begin beyond the file.
        length = max(stop for start, stop in spans if stop > start)
        pages = mmap.mmap(self._file.fileno(), length, access=mmap.ACCESS_COPY, offset=place)
        content, *arrays = (memoryview(pages)[slice(*span)] for span in spans)
        return pickle.loads(content, buffers=arrays)  # what `put` wrote in this process


def _spans(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each part, aligned."""
    start = 0
    for length in lengths:
        yield start, start + length
        start = _rounded(start + length, _ALIGNMENT)


def _rounded(number: int, multiple: int) -> int:
    """Round up to a multiple."""
    return -(-number // multiple) * multiple


class Shelved(NamedTuple):
    """Reference to a value in a `Shelf`."""

    shelf: Shelf
    place: int
    lengths: tuple[int, ...]  #: In bytes, of the pickled value and of its arrays
    dtype: Any = None  #: Dtype of the array, if the value is a `Part`

    def value(self) -> Any:
        """Read the value."""
        return self.shelf.get(self.place, self.lengths)

    def array(self) -> Array:
        """The array of a stored `Part`."""
        found: Array = self.shelf.recent(self.place, self.lengths).array()
        return found

    def part(self, box: Box) -> Array:
        """The part of the array in a box."""
        found: Array = self.shelf.recent(self.place, self.lengths).part(box)
        return found


class Part(Protocol):
    """Interface of objects that compute or decompress the array of a block."""

    @property
    def dtype(self) -> Any:
        """Dtype of the array."""

    def array(self) -> Array:
        """Return the whole array of the block."""

    def part(self, box: Box) -> Array:
        """Return the part of the array in a box."""


@dataclass(frozen=True)
class Blocked(FieldsOnly):
    """An array over a box, block by block."""

    blocks: Blocks
    dtype: np.dtype[Any]
    #: For each block an array, an array without axes if the block is constant, or a `Part`.
    parts: Sequence[Array | Part]

    @classmethod
    def whole(cls, array: Array, box: Box = ()) -> Blocked:
        """Wrap an array as a single block."""
        box = box or tuple(slice(0, size) for size in array.shape)
        return cls(Blocks.of(box), array.dtype, [array])

    @classmethod
    def made(cls, blocks: Blocks, make: Callable[[Box], Array]) -> Blocked:
        """Call a function for each block, which returns an array, or a scalar if it is constant."""
        return cls.all_made(blocks, lambda box: (make(box),))[0]

    @classmethod
    def all_made(
        cls, blocks: Blocks, make: Callable[[Box], Sequence[Array]]
    ) -> tuple[Blocked, ...]:
        """Apply `made` to a function that returns several arrays."""
        boxes = blocks.boxes()

        def part(box: Box) -> list[Array | Part]:
            return [kept(array) if len(boxes) > 1 else array for array in make(box)]

        found = at_once(part, boxes)
        made = []
        for parts in zip(*found, strict=True):
            first = parts[0]
            made.append(cls(blocks, np.dtype(first.dtype), list(parts)))
        return tuple(made)

    @property
    def is_whole(self) -> bool:
        """Whether there is only one block."""
        return len(self.parts) == 1

    @property
    def box(self) -> Box:
        """The box in the volume."""
        return self.blocks.box

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the box."""
        return self.blocks.shape

    @property
    def size(self) -> int:
        """Number of voxels of the box."""
        return math.prod(self.shape)

    @cached_property
    def boxes(self) -> list[Box]:
        """Boxes of the blocks."""
        return self.blocks.boxes()

    def part(self, number: int) -> Array:
        """Return the array of a block, which has no axes if the block is constant."""
        part = self.parts[number]
        return part if isinstance(part, np.ndarray) else part.array()

    def constant(self, number: int) -> Any:
        """Return the value of a block that is stored as a constant, or None."""
        part = self.parts[number]
        return part[()] if isinstance(part, np.ndarray) and part.ndim == 0 else None

    def read(self, box: Box) -> Array:
        """Read the array of a box."""
        if self.is_whole and self.constant(0) is None:
            return self._read(0, relative_to(box, self.box))
        found = np.empty([side.stop - side.start for side in box], self.dtype)
        for number in self.blocks.touching(box):
            both = intersection(self.boxes[number], box)
            value = self.constant(number)
            if value is None:
                value = self._read(number, relative_to(both, self.boxes[number]))
            found[relative_to(both, box)] = value
        return found

    def _read(self, number: int, box: Box) -> Array:
        part = self.parts[number]
        return part[box] if isinstance(part, np.ndarray) else part.part(box)

    def __getitem__(self, box: Box) -> Array:
        return self.read(box or self.box)

    def array(self) -> Array:
        """Read the whole array."""
        return self.read(self.box)

    def moved_by(self, steps: Sequence[int]) -> Blocked:
        """Return the same array, with its box translated by this number of voxels per axis."""
        cuts = zip(self.blocks.cuts, steps, strict=True)
        moved = tuple(tuple(place + step for place in axis) for axis, step in cuts)
        return Blocked(Blocks(moved), self.dtype, self.parts)

    def flat_indices(self, shape: Sequence[int]) -> NDArray[np.intp]:
        """Return ascending flat indices, in a volume of this shape, of the non-zero voxels."""
        found = [np.zeros(0, np.intp)]
        for number, box in enumerate(self.boxes):
            flags = flagged(self, number)
            if flags is not None:
                places = zip(np.nonzero(flags), box, strict=True)
                flat = np.ravel_multi_index(tuple(at + p.start for at, p in places), shape)
                found.append(np.asarray(flat))
        return np.sort(np.concatenate(found))

    def map(self, function: Callable[..., Any], *others: Blocked) -> Blocked:
        """Apply an elementwise function to this array and others with the same blocks."""
        return Blocked.made_of((self, *others), function)

    @staticmethod
    def made_of(fields: Sequence[Blocked], function: Callable[..., Any]) -> Blocked:
        """Apply an elementwise function to several arrays with the same blocks."""
        first = fields[0]

        def make(number: int) -> Array | Part:
            parts = [field.part(number) for field in fields]
            made = np.asarray(function(*parts))
            return kept(made) if len(first.parts) > 1 else made

        parts = at_once(make, range(len(first.parts)))
        return Blocked(first.blocks, np.dtype(parts[0].dtype), parts)

    def any(self) -> bool:
        """Return whether any voxel is non-zero."""
        return any(bool(self.part(number).any()) for number in range(len(self.parts)))

    def count(self) -> int:
        """Return the number of non-zero voxels."""
        return sum(self.count_in(number) for number in range(len(self.parts)))

    def count_in(self, number: int) -> int:
        """Return the number of non-zero voxels in a block."""
        part = self.part(number)
        if part.ndim:
            return int(np.count_nonzero(part))
        sides = self.boxes[number]
        return int(bool(part)) * math.prod(int(side.stop - side.start) for side in sides)


def kept(array: Array) -> Array | Part:
    """Compress an array, or replace it by a single value if it is constant."""
    if array.ndim == 0 or not array.size:
        return array
    first = array[(0,) * array.ndim]
    return np.array(first) if bool((array == first).all()) else Packed.of(array)


def at_once(make: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Apply a function to each block in parallel threads, without reporting progress."""
    if len(items) == 1:
        return [make(items[0])]
    with working(on_progress=lambda share: None):
        return list(in_threads(make, items))


def none_of(blocks: Blocks) -> Blocked:
    """Return a mask that is False in all blocks."""
    if len(blocks.boxes()) == 1:
        return Blocked.whole(np.zeros(blocks.shape, bool), blocks.box)
    nothing: list[Array | Part] = [np.array(False)] * len(blocks.boxes())
    return Blocked(blocks, np.dtype(bool), nothing)


def unequal(one: Blocked, other: Blocked) -> bool:
    """Return whether two arrays with the same blocks differ at any voxel."""
    numbers = range(len(one.parts))
    return any(bool((one.part(number) != other.part(number)).any()) for number in numbers)


def flagged(mask: Blocked, number: int) -> Mask | None:
    """Return the flags of a block; None if no flag is set."""
    part = mask.part(number)
    if not part.any():
        return None
    sides = [side.stop - side.start for side in mask.boxes[number]]
    return part if part.ndim else np.ones(sides, bool)
