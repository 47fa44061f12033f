"""Slicer's segment editor on the reviewed map: tools, and the voxels that a stroke changed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from trame_slicer.segmentation import (
    BrushDiameterMode,
    SegmentationEffectDraw,
    SegmentationEffectErase,
    SegmentationEffectIslands,
    SegmentationEffectPaint,
    SegmentationEffectScissors,
)

from itk_consensus.review.application.scene import ReviewScene

TOOLS = {
    "paint": SegmentationEffectPaint,
    "erase": SegmentationEffectErase,
    "draw": SegmentationEffectDraw,
    "scissors": SegmentationEffectScissors,
    "islands": SegmentationEffectIslands,
}
_BRUSHES = ("paint", "erase")
#: A stroke becomes an action after a pause of this many seconds.
_SECONDS_OF_REST = 0.25


class Painting:
    """The active tool; strokes are applied when painting pauses.

    Parameters
    ----------
    take_over : callable
        Called with the structure that was painted on.
    """

    def __init__(self, editor: Any, state: Any, take_over: Callable[[str], None]) -> None:
        self._editor, self._state, self._take_over = editor, state, take_over
        self.tool, self.structure, self.label = "", "", 0
        self._waiting: asyncio.Task[None] | None = None
        editor.segmentation_modified.connect(self._on_modified)

    def use(self, tool: str, scene: ReviewScene, structure: str, label: int) -> None:
        """Activate a tool for a label of a structure."""
        self.tool, self.structure, self.label = "", structure, label
        self._editor.set_active_segmentation(scene.result_node(structure), scene.volume)
        self._editor.set_active_segment_id(f"{structure}/{label}")
        self._editor.set_active_effect_type(TOOLS[tool])
        self.tool = tool
        self.set_brush(self._state.brush_mm)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Ignore changes of the segmentation in this context, since they were not painted."""
        tool, self.tool = self.tool, ""
        try:
            yield
        finally:
            self.tool = tool

    def put_away(self) -> None:
        """Deactivate the current tool."""
        if self.tool:
            self.tool = ""
            self._editor.deactivate_effect()

    def set_brush(self, brush_mm: Any) -> None:
        """Set the diameter of the brush."""
        try:
            self._state.brush_mm = min(max(float(brush_mm), 0.1), 200.0)
        except (TypeError, ValueError):
            return
        if self.tool in _BRUSHES:
            effect = self._editor.get_effect(TOOLS[self.tool])
            effect.set_brush_diameter(self._state.brush_mm, BrushDiameterMode.Absolute)

    def _on_modified(self, *_: Any) -> None:
        if not self.tool:
            return
        if self._waiting is not None:
            self._waiting.cancel()

        async def rest() -> None:
            await asyncio.sleep(_SECONDS_OF_REST)
            self._waiting = None
            with self._state:
                self._take_over(self.structure)

        self._waiting = asyncio.get_event_loop().create_task(rest())

    def finish(self) -> None:
        """Apply the last stroke before any other action."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            self._take_over(self.structure)
