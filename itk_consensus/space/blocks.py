"""Arrays over a box of a volume in blocks: one that is the array, or many that are kept small.

What is written for blocks works in memory, where the box is one block, and beyond it. A block that
says the same everywhere is one number, others are compressed; functions see arrays. Boxes are those
of the volume.
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

#: Voxels along each side of a block in which what is beyond memory is looked at: large against the
#: 30 voxels around it that bands and windows of scale see, and a gigabyte or two at work. Even.
SIDE = 256

#: Values of a shelf that are kept once they were asked for as arrays.
_VALUES_KEPT = 8

#: Bytes at multiples of which arrays of a shelf begin.
_ALIGNMENT = 64

#: The least that compression can do: it is the fastest, and labels are mostly repetitions.
_LEVEL = 1


class Blocks(NamedTuple):
    """A box cut into blocks."""

    cuts: tuple[tuple[int, ...], ...]  #: For each axis where blocks begin and, last, the end

    @classmethod
    def of(cls, box: Box, side: int | None = None, origin: Sequence[int] = ()) -> Blocks:
        """Cut a box at multiples of a side from an origin on; without a side it is one block."""
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
        """Cut a box at 0 into equal blocks of about this side, which begin at even places."""
        cuts = []
        for size in shape:
            number = max(1, round(size / side))
            step = 2 * -(-size // (2 * number))
            cuts.append((*range(0, size, step), size))
        return cls(tuple(cuts))

    @property
    def box(self) -> Box:
        """All of it."""
        return tuple(slice(axis[0], axis[-1]) for axis in self.cuts)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the box."""
        return tuple(axis[-1] - axis[0] for axis in self.cuts)

    def boxes(self) -> list[Box]:
        """The blocks, in C order."""
        axes = [[slice(*pair) for pair in itertools.pairwise(axis)] for axis in self.cuts]
        return list(itertools.product(*axes))

    def touching(self, box: Box) -> Iterator[int]:
        """The numbers of the blocks that share voxels with a box."""
        spans = []
        for axis, part in zip(self.cuts, box, strict=True):
            low = int(np.searchsorted(axis, part.start, "right")) - 1
            high = int(np.searchsorted(axis, part.stop, "left"))
            spans.append(range(max(low, 0), min(high, len(axis) - 1)))
        number = [len(axis) - 1 for axis in self.cuts]
        for place in itertools.product(*spans):
            yield int(np.ravel_multi_index(place, number)) if place else 0


def _multiples(start: int, stop: int, side: int, origin: int) -> Iterator[int]:
    """Strictly between start and stop."""
    first = start + side - (start - origin) % side
    return iter(range(first, stop, side))


class Packed(NamedTuple):
    """A compressed array."""

    shape: tuple[int, ...]
    dtype: str
    content: NDArray[np.uint8]

    @classmethod
    def of(cls, array: Array) -> Packed:
        """Compress an array; of flags a bit each."""
        flat = np.ascontiguousarray(array).reshape(-1)
        if array.dtype == bool:
            flat = np.packbits(flat)
        content = zlib.compress(flat.view(np.uint8).data, _LEVEL)
        return cls(array.shape, array.dtype.str, np.frombuffer(content, np.uint8))

    def array(self) -> Array:
        """The array again."""
        content = np.frombuffer(zlib.decompress(self.content.data), np.uint8)
        if self.dtype == np.dtype(bool).str:
            bits = np.unpackbits(content, count=math.prod(self.shape))
            return bits.view(bool).reshape(self.shape)
        return content.view(self.dtype).reshape(self.shape)

    def part(self, box: Box) -> Array:
        """A part of it."""
        return self.array()[box]


class Shelf:
    """Values that are put aside in a file that nobody else sees and that ends with the process."""

    def __init__(self) -> None:
        self._file: Any = TemporaryFile()  # noqa: SIM115 (closed with the last who may ask)
        weakref.finalize(self, self._file.close)
        self._lock = Lock()
        #: What becomes arrays is small, and asked for by blocks that follow each other.
        self.recent = lru_cache(maxsize=_VALUES_KEPT)(self.get)

    def put(self, value: Any) -> Shelved:
        """Put a value aside."""
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
        """Take it up again, with arrays that are the file's pages until they are written to."""
        spans = list(_spans(lengths))
        pages = mmap.mmap(self._file.fileno(), spans[-1][1], access=mmap.ACCESS_COPY, offset=place)
        content, *arrays = (memoryview(pages)[slice(*span)] for span in spans)
        return pickle.loads(content, buffers=arrays)  # what `put` wrote in this process


def _spans(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Begin and end of each part, aligned as arrays are."""
    start = 0
    for length in lengths:
        yield start, start + length
        start = _rounded(start + length, _ALIGNMENT)


def _rounded(number: int, multiple: int) -> int:
    """Round up."""
    return -(-number // multiple) * multiple


class Shelved(NamedTuple):
    """Where a value was put aside."""

    shelf: Shelf
    place: int
    lengths: tuple[int, ...]  #: Of its parts in bytes: what it is, and its arrays
    dtype: Any = None  #: Of a value that can become an array

    def value(self) -> Any:
        """The value again."""
        return self.shelf.get(self.place, self.lengths)

    def array(self) -> Array:
        """The array that the value can become."""
        found: Array = self.shelf.recent(self.place, self.lengths).array()
        return found

    def part(self, box: Box) -> Array:
        """A part of it."""
        found: Array = self.shelf.recent(self.place, self.lengths).part(box)
        return found


class Part(Protocol):
    """What can become the array of a block."""

    @property
    def dtype(self) -> Any:
        """Of the array."""

    def array(self) -> Array:
        """The array."""

    def part(self, box: Box) -> Array:
        """A part of it."""


@dataclass(frozen=True)
class Blocked(FieldsOnly):
    """An array over a box, block by block."""

    blocks: Blocks
    dtype: np.dtype[Any]
    #: Of each block an array, one without axes if it is the same everywhere, or what becomes one.
    parts: Sequence[Array | Part]

    @classmethod
    def whole(cls, array: Array, box: Box = ()) -> Blocked:
        """An array as its only block."""
        box = box or tuple(slice(0, size) for size in array.shape)
        return cls(Blocks.of(box), array.dtype, [array])

    @classmethod
    def made(cls, blocks: Blocks, make: Callable[[Box], Array]) -> Blocked:
        """What a function makes of each block: an array, or one number for all of it."""
        return cls.all_made(blocks, lambda box: (make(box),))[0]

    @classmethod
    def all_made(
        cls, blocks: Blocks, make: Callable[[Box], Sequence[Array]]
    ) -> tuple[Blocked, ...]:
        """The same of a function that makes several arrays."""
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
        """Whether it is one block."""
        return len(self.parts) == 1

    @property
    def box(self) -> Box:
        """Where it lies."""
        return self.blocks.box

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the box."""
        return self.blocks.shape

    @property
    def size(self) -> int:
        """Voxels of the box."""
        return math.prod(self.shape)

    @cached_property
    def boxes(self) -> list[Box]:
        """Of the blocks."""
        return self.blocks.boxes()

    def part(self, number: int) -> Array:
        """A block's array; without axes if it is the same everywhere."""
        part = self.parts[number]
        return part if isinstance(part, np.ndarray) else part.array()

    def constant(self, number: int) -> Any:
        """The value of a block that is known to be the same everywhere; else None."""
        part = self.parts[number]
        return part[()] if isinstance(part, np.ndarray) and part.ndim == 0 else None

    def read(self, box: Box) -> Array:
        """The array of a box inside."""
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
        """All of it."""
        return self.read(self.box)

    def moved_by(self, steps: Sequence[int]) -> Blocked:
        """The same in another place."""
        cuts = zip(self.blocks.cuts, steps, strict=True)
        moved = tuple(tuple(place + step for place in axis) for axis, step in cuts)
        return Blocked(Blocks(moved), self.dtype, self.parts)

    def flat_indices(self, shape: Sequence[int]) -> NDArray[np.intp]:
        """Voxels where it is not 0, in a volume of this shape, in ascending order."""
        found = [np.zeros(0, np.intp)]
        for number, box in enumerate(self.boxes):
            flags = flagged(self, number)
            if flags is not None:
                places = zip(np.nonzero(flags), box, strict=True)
                flat = np.ravel_multi_index(tuple(at + p.start for at, p in places), shape)
                found.append(np.asarray(flat))
        return np.sort(np.concatenate(found))

    def map(self, function: Callable[..., Any], *others: Blocked) -> Blocked:
        """What a function of single voxels makes of this and others in the same blocks."""
        return Blocked.made_of((self, *others), function)

    @staticmethod
    def made_of(fields: Sequence[Blocked], function: Callable[..., Any]) -> Blocked:
        """The same of all fields."""
        first = fields[0]

        def make(number: int) -> Array | Part:
            parts = [field.part(number) for field in fields]
            made = np.asarray(function(*parts))
            return kept(made) if len(first.parts) > 1 else made

        parts = at_once(make, range(len(first.parts)))
        return Blocked(first.blocks, np.dtype(parts[0].dtype), parts)

    def any(self) -> bool:
        """Whether it is anywhere not 0."""
        return any(bool(self.part(number).any()) for number in range(len(self.parts)))

    def count(self) -> int:
        """Voxels where it is not 0."""
        return sum(self.count_in(number) for number in range(len(self.parts)))

    def count_in(self, number: int) -> int:
        """The same of a block."""
        part = self.part(number)
        if part.ndim:
            return int(np.count_nonzero(part))
        sides = self.boxes[number]
        return int(bool(part)) * math.prod(int(side.stop - side.start) for side in sides)


def kept(array: Array) -> Array | Part:
    """An array as small as it can be kept."""
    if array.ndim == 0 or not array.size:
        return array
    first = array[(0,) * array.ndim]
    return np.array(first) if bool((array == first).all()) else Packed.of(array)


def at_once(make: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """What is made of each block, some at a time; how far that is nobody is told."""
    if len(items) == 1:
        return [make(items[0])]
    with working(on_progress=lambda share: None):
        return list(in_threads(make, items))


def none_of(blocks: Blocks) -> Blocked:
    """No voxel of a box."""
    if len(blocks.boxes()) == 1:
        return Blocked.whole(np.zeros(blocks.shape, bool), blocks.box)
    nothing: list[Array | Part] = [np.array(False)] * len(blocks.boxes())
    return Blocked(blocks, np.dtype(bool), nothing)


def unequal(one: Blocked, other: Blocked) -> bool:
    """Whether two differ anywhere."""
    numbers = range(len(one.parts))
    return any(bool((one.part(number) != other.part(number)).any()) for number in numbers)


def flagged(mask: Blocked, number: int) -> Mask | None:
    """A block's flags, None if there are none."""
    part = mask.part(number)
    if not part.any():
        return None
    sides = [side.stop - side.start for side in mask.boxes[number]]
    return part if part.ndim else np.ones(sides, bool)
