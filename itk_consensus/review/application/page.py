"""The page of the application: disputes and readers on the left, Slicer's views beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trame.ui.vuetify3 import VAppLayout
from trame.widgets import client, html
from trame_slicer.app.ui import create_vertical_slice_view_gutter_ui
from trame_slicer.core import LayoutManager, SlicerApp
from trame_slicer.rca_view import register_rca_factories
from trame_slicer.segmentation import (
    BrushDiameterMode,
    SegmentationEffectDraw,
    SegmentationEffectErase,
    SegmentationEffectIslands,
    SegmentationEffectPaint,
    SegmentationEffectScissors,
)
from vtkmodules.vtkCommonCore import vtkLogger, vtkOutputWindow

from itk_consensus.core.array_types import Mask
from itk_consensus.core.work import working
from itk_consensus.images.grey_windows import GreyWindow, windows_for
from itk_consensus.review.application.panel import panel
from itk_consensus.review.application.scene import MOST_VOXELS_OF_A_SURFACE, ReviewScene
from itk_consensus.review.decisions import Decision
from itk_consensus.review.disputes import Dispute
from itk_consensus.review.rater_colors import rater_color
from itk_consensus.review.readers import reader_rows
from itk_consensus.review.session import CaseToOpen, ReviewSession

#: Left, right, top and bottom of each of Slicer's slice views.
_LETTERS = {"Red": "RLAP", "Green": "RLSI", "Yellow": "APSI"}
_TOOLS = {
    "paint": SegmentationEffectPaint,
    "erase": SegmentationEffectErase,
    "draw": SegmentationEffectDraw,
    "scissors": SegmentationEffectScissors,
    "islands": SegmentationEffectIslands,
}
_BRUSH_MM = 6.0
#: A stroke counts as an action when the hand has rested so long.
_SECONDS_OF_REST = 0.25

_OPENING = "What the readers drew is being fused. The image can be looked at meanwhile."

_KEYS = """
window.addEventListener("keydown", (event) => {
  const writing = event.target.closest("input:not([type=checkbox]), select, textarea");
  if (writing || event.altKey || event.metaKey) return;
  const key = event.ctrlKey ? (event.key === "z" ? "z" : "") : event.key;
  if (/^([1-9ciouzsnpbe]|Arrow(Up|Down)|Escape)$/.test(key)) {
    event.preventDefault();
    window.trame.trigger("review_key", [key]);
  }
});
"""


class ReviewPage:
    """Everything a browser shows and asks for.

    Parameters
    ----------
    cases : sequence of CaseToOpen
        In the order in which they are walked; each is opened when it is its turn.
    go_on : callable
        Told the number of the case whose turn it is.
    """

    def __init__(
        self,
        server: Any,
        cases: Sequence[CaseToOpen],
        go_on: Callable[[int], None],
        quit_: Callable[[], None],
    ) -> None:
        self.server, self.state = server, server.state
        self._cases, self._case_number = list(cases), 0
        self._go_on, self._quit = go_on, quit_
        self._tool, self._current = "", 0
        self._taking_over: asyncio.Task[None] | None = None
        self.app = SlicerApp()
        # VTK repeats to each view what it will change some day.
        vtkOutputWindow.GetInstance().SetDisplayModeToNever()
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
        register_rca_factories(
            self.app.view_manager, server, slice_view_ui_f=self._slice_view_ui, rca_encoder="jpeg"
        )
        self._layouts = LayoutManager(self.app.scene, self.app.view_manager, server)
        self._layouts.register_layout_dict(LayoutManager.default_grid_configuration())
        self._layouts.set_layout("Quad View")
        self.app.segmentation_editor.segmentation_modified.connect(self._on_modified)
        self.session: ReviewSession
        self.scene: ReviewScene
        self._close_case(0)
        self._build()
        server.trigger("review_key")(self.on_key)

    # -- a case -----------------------------------------------------------------------------

    async def open(self, number: int, ask: Callable[[], None]) -> None:
        """Show a case: its image as soon as that is read, the rest when its readers are fused.

        Other threads do the work, so that the page answers meanwhile; `ask` raises to end it.
        """
        self._close_case(number)

        def elsewhere(make: Callable[[], Any]) -> Awaitable[Any]:
            with working(ask=ask):
                return asyncio.get_running_loop().create_task(asyncio.to_thread(make))

        image = await elsewhere(self._cases[number].image)
        if image is not None:
            with self.state:
                self.scene = ReviewScene(self.app, image.geometry)
                self._show_image(image.voxels)
        session = await elsewhere(self._cases[number].session)
        with self.state:
            self._show(session, None if image is None else image.voxels)
            self.state.ready = True

    def _close_case(self, number: int) -> None:
        """Take the case before away."""
        self._use_tool("")
        if hasattr(self, "scene"):
            self.scene.close()
        self._case_number = number
        self.state.ready = False
        self.state.title = self._cases[number].title
        self.state.place = ""

    def _show_image(self, image: NDArray[Any], drawn: Mask | None = None) -> None:
        """Show an image, in the window in which readers look at what was drawn."""
        self._windows = windows_for(image, drawn)
        if drawn is None or self.scene.volume is None:
            self.scene.show_image(image)
            for view in self.app.view_manager.get_slice_views():
                view.fit_view_to_content()
        self._set_window(self._windows[0])

    def _show(self, session: ReviewSession, image: NDArray[Any] | None) -> None:
        """Show what readers drew and what was made of it, over the image."""
        self.session, case = session, session.case
        if image is None:
            self.scene = ReviewScene(self.app, case.geometry)
        self.scene.show_maps_of(case.rated)
        drawn = np.zeros(case.geometry.shape, bool)
        for labels in (labels for one in case.rated for labels in one.maps):
            drawn |= labels != 0
        self._show_image(self._agreement() if image is None else image, drawn)
        for index, name in enumerate(case.names):
            maps = {one.name: (one.maps[index], one.missing) for one in case.rated}
            self.scene.add_reader(name, maps)
        for one in case.rated:
            self.scene.show_result(one.name, session.review.adjudicated(one.name))
        self._tell_case()
        if case.disputes:
            undecided = session.review.undecided
            self.go(undecided[0] if undecided else 1)
        else:
            self._current = 0
            self._tell()
        if case.on_file.like.geometry.dimension >= 3:
            voxels = int(np.prod(case.geometry.shape))
            if voxels <= MOST_VOXELS_OF_A_SURFACE:
                self._show_surface()

    def _agreement(self) -> NDArray[Any]:
        """Without an image: how many readers marked each voxel."""
        votes = np.zeros(self.session.case.geometry.shape, np.uint8)
        for rated in self.session.case.rated:
            for labels in rated.maps:
                votes += (labels != 0) & (labels != rated.missing)
        return votes

    def _tell_case(self) -> None:
        case = self.session.case
        names = case.names
        state = self.state
        state.cases = [
            {"number": number, "title": one.title} for number, one in enumerate(self._cases)
        ]
        state.case_number = self._case_number
        state.readers = [
            {
                "number": number,
                "name": row.name,
                "color": rater_color(number),
                "shown": True,
                "volume": f"{row.volume_ml:.2f}",
                "dice": f"{row.dice:.3f}",
                "bias": "–" if row.bias != row.bias else f"{100 * row.bias:+.0f} %",
            }
            for number, row in enumerate(reader_rows(case))
        ]
        state.findings = [
            {
                "kind": (finding.severity or "fine").replace(" ", "-"),
                "text": f"{structure}: " * bool(structure) + str(finding.named(names)),
            }
            for structure, finding in sorted(case.findings, key=lambda one: -one[1].grade)
            if finding.severity
        ]
        state.windows = [one.name for one in self._windows]
        state.overlay = False
        state.has_structures = len(case.rated) > 1 or bool(case.rated[0].name)
        state.unlisted = case.unlisted_voxels
        resumed = "Resumed where it was left. " if self.session.resumed else ""
        state.message = resumed + (
            "" if case.disputes else "Readers agree everywhere: there is nothing to decide."
        )

    # -- what is shown of decisions -----------------------------------------------------------

    def _tell(self) -> None:
        """Bring the list and the buttons up to date."""
        session = self.session
        review, names = session.review, session.case.names
        voxel_ml = float(np.prod(session.case.geometry.spacing)) / 1000
        state = self.state
        state.disputes = [
            {
                "number": one.number,
                "structure": one.structure,
                "ml": f"{one.voxels * voxel_ml:.3g}",
                "place": _letters(self.scene.ras(one.index)),
                "marked": ", ".join(_markers(one, names)) or "nobody",
                "p": ", ".join(
                    f"{p:.2f}" if len(one.probability) == 1 else f"{label}: {p:.2f}"
                    for label, p in one.probability.items()
                ),
                "now": "in" if one.consensus else "out",
                "decision": self._words(one, review.decisions.get(one.number)),
            }
            for one in review.disputes.values()
        ]
        state.current = self._current
        state.undecided = len(review.undecided)
        state.tool = self._tool
        dispute = review.disputes.get(self._current)
        decision = review.decisions.get(self._current)
        state.choices = [] if dispute is None else self._choices(dispute, decision)
        state.saved = False

    def _choices(self, dispute: Dispute, decision: Decision | None) -> list[dict[str, Any]]:
        """Buttons of the current dispute."""
        names = self.session.case.names
        labels = self.scene.labels[dispute.structure]
        binary = len(labels) == 1
        taken = None if decision is None else _choice_of(decision)
        rows: list[tuple[str, int | None, str, str]]
        rows = [("consensus", None, "as the consensus", "c")]
        rows += [
            ("label", label, "in" if binary else f"label {label}", "i" if binary else "")
            for label in labels
            if binary or label in dispute.labels
        ]
        rows.append(("label", 0, "out", "o"))
        rows += [("rater", j, name, str(j + 1) if j < 9 else "") for j, name in enumerate(names)]
        return [
            {
                "id": f"choose-{choice}" + ("" if value is None else f"-{value}"),
                "choice": choice,
                "value": value,
                "text": text,
                "key": key,
                "color": rater_color(int(value or 0)) if choice == "rater" else "",
                "on": taken == (choice, value),
            }
            for choice, value, text, key in rows
        ]

    def _words(self, dispute: Dispute, decision: Decision | None) -> str:
        """A decision as people say it."""
        if decision is None:
            return ""
        if decision.choice == "rater":
            return f"as {self.session.case.names[int(decision.rater or 0)]}"
        if decision.choice == "label":
            binary = len(self.scene.labels[dispute.structure]) == 1
            name = "in" if binary else f"label {decision.label}"
            return name if decision.label else "out"
        return decision.choice

    # -- actions ------------------------------------------------------------------------------

    def go(self, number: int) -> None:
        """Show a dispute."""
        self.finish_stroke()
        self._use_tool("")
        dispute = self.session.review.disputes[number]
        self._current = number
        self.scene.show_dispute(dispute)
        self.state.place = _letters(self.scene.jump(dispute.index))
        self._tell()

    def step(self, by: int) -> None:
        """Show the next dispute, or the one before."""
        last = len(self.session.review.disputes)
        if last:
            self.go((self._current - 1 + by) % last + 1)

    def choose(self, choice: str, value: int | None = None) -> None:
        """Decide the current dispute, and go to the next that is not decided."""
        session = self.session
        if not self._current:
            return
        self.finish_stroke()
        number = self._current
        session.decide(number, choice, None if value is None else int(value))
        self._show_result(session.review.disputes[number].structure)
        later = [n for n in session.review.undecided if n > number] or session.review.undecided
        if later:
            self.go(later[0])
        else:
            self.state.message = "Every dispute is decided. Save when you are content."
            self._tell()

    def undo(self) -> None:
        """Take the last action back."""
        self.finish_stroke()
        before = self.session.review.decisions
        if self.session.undo():
            after = self.session.review.decisions
            changed = [n for n in {*before, *after} if before.get(n) != after.get(n)]
            for name in self.scene.structures:
                self._show_result(name)
            if changed:
                self.go(min(changed))
            self.state.message = "The last action was taken back."
        else:
            self.state.message = "There is nothing to take back."
        self._tell()

    def clear(self) -> None:
        """Make the current dispute undecided."""
        session = self.session
        if self._current in session.review.decisions:
            session.clear(self._current)
            self._show_result(session.review.disputes[self._current].structure)
            self._tell()

    def save(self, done: bool = False) -> None:
        """Write the map and the record."""
        self.finish_stroke()
        session = self.session
        try:
            session.save(done=done)
        except Exception as error:  # a full disk must not end the review
            self.state.message = f"Not saved: {error}"
            return
        where = "" if session.output is None else f" {session.output.name}"
        left = len(session.review.undecided)
        self.state.message = f"Saved{where}; {left} undecided."
        self.state.saved = True

    def next_case(self) -> None:
        """Save this case as done and open the next."""
        self.save(done=True)
        if self.state.saved and self._case_number + 1 < len(self._cases):
            self._go_on(self._case_number + 1)
        elif self.state.saved:
            self.state.message = "That was the last case."

    def close(self) -> None:
        """Save, and end the application."""
        self.save()
        if self.state.saved:
            self._quit()

    def toggle_reader(self, number: int) -> None:
        """Show or hide a reader's contours."""
        shown = not self.scene.is_reader_shown(int(number))
        self.scene.show_reader(int(number), shown)
        rows = [dict(row) for row in self.state.readers]
        rows[int(number)]["shown"] = shown
        self.state.readers = rows

    def toggle_overlay(self) -> None:
        """Show or hide how unsure the consensus is."""
        shown = not self.state.overlay
        values = None
        if shown:
            dispute = self.session.review.disputes.get(self._current)
            name = self.scene.structures[0] if dispute is None else dispute.structure
            values = self.session.case.uncertainty(name)
        self.scene.show_overlay(values)
        self.state.overlay = shown

    def use_tool(self, name: str) -> None:
        """Take a tool of Slicer's segment editor into the hand, or put it away."""
        self.finish_stroke()
        self._use_tool("" if name == self._tool else name)
        self._tell()

    def on_key(self, key: str) -> None:
        """A key that stands for a button."""
        if not self.state.ready:
            return
        with self.state:
            for choice in self.state.choices if key in "cio123456789" else ():
                if choice["key"] == key:
                    self.choose(choice["choice"], choice["value"])
                    return
            actions: dict[str, Callable[[], None]] = {
                "ArrowDown": lambda: self.step(1),
                "ArrowUp": lambda: self.step(-1),
                "n": lambda: self.step(1),
                "p": lambda: self.step(-1),
                "u": self.clear,
                "z": self.undo,
                "s": self.save,
                "b": lambda: self.use_tool("paint"),
                "e": lambda: self.use_tool("erase"),
                "Escape": lambda: self.use_tool(self._tool) if self._tool else None,
            }
            if key in actions:
                actions[key]()

    # -- painting -----------------------------------------------------------------------------

    def _use_tool(self, name: str) -> None:
        editor = self.app.segmentation_editor
        self._tool = name
        dispute = None if not name else self.session.review.disputes.get(self._current)
        if dispute is None:
            self._tool = ""
            editor.deactivate_effect()
            return
        editor.set_active_segmentation(self.scene.result_node(dispute.structure), self.scene.volume)
        labels = self.scene.labels[dispute.structure]
        label = next((one for one in dispute.labels if one in labels), labels[0])
        editor.set_active_segment_id(f"{dispute.structure}/{label}")
        effect = editor.set_active_effect_type(_TOOLS[name])
        if name in ("paint", "erase"):
            effect.set_brush_diameter(float(self.state.brush_mm), BrushDiameterMode.Absolute)

    def set_brush(self, brush_mm: Any) -> None:
        """How wide the brush is."""
        try:
            self.state.brush_mm = min(max(float(brush_mm), 0.1), 200.0)
        except (TypeError, ValueError):
            return
        if self._tool in ("paint", "erase"):
            effect = self.app.segmentation_editor.get_effect(_TOOLS[self._tool])
            effect.set_brush_diameter(self.state.brush_mm, BrushDiameterMode.Absolute)

    def _on_modified(self, *_: Any) -> None:
        if not self._tool:
            return
        if self._taking_over is not None:
            self._taking_over.cancel()

        async def rest() -> None:
            await asyncio.sleep(_SECONDS_OF_REST)
            self._taking_over = None
            with self.state:
                self._take_over()

        self._taking_over = asyncio.get_event_loop().create_task(rest())

    def finish_stroke(self) -> None:
        """What was painted a moment ago counts before anything else happens."""
        if self._taking_over is not None:
            self._taking_over.cancel()
            self._taking_over = None
            self._take_over()

    def _take_over(self) -> None:
        session = self.session
        for name in self.scene.structures:
            before = session.review.adjudicated(name)
            painted = self.scene.result(name, before)
            if not np.array_equal(before, painted):
                touched = session.paint(name, painted)
                words = ", ".join(map(str, touched))
                self.state.message = (
                    f"Painted: dispute {words}." if touched else "Painted where readers agree."
                )
                self._tell()

    def _show_result(self, structure: str) -> None:
        tool, self._tool = self._tool, ""
        self.scene.show_result(structure, self.session.review.adjudicated(structure))
        self._tool = tool

    def _show_surface(self) -> None:
        self.scene.make_surfaces()
        for view in self.app.view_manager.get_threed_views():
            view.reset_view()

    def show_surface(self) -> None:
        """Surfaces of a large volume, when they are asked for."""
        self._show_surface()

    # -- grey values --------------------------------------------------------------------------

    def _set_window(self, window: GreyWindow) -> None:
        self.scene.set_window(window.width, window.level)
        self.state.window_name = window.name
        self.state.window_width, self.state.window_level = window.width, window.level

    def choose_window(self, name: str) -> None:
        """Take one of the windows that the modality is used to."""
        for window in self._windows:
            if window.name == name:
                self._set_window(window)

    def set_window(self, width: Any, level: Any) -> None:
        """Take a window by hand."""
        try:
            self._set_window(GreyWindow("by hand", max(float(width), 1e-6), float(level)))
        except (TypeError, ValueError):
            return

    # -- the page -----------------------------------------------------------------------------

    def _slice_view_ui(self, server: Any, view_id: str, view: Any) -> None:
        create_vertical_slice_view_gutter_ui(server, view_id, view)
        tag = view.get_singleton_tag()
        sides = zip(_LETTERS.get(tag, ""), ("left", "right", "top", "bottom"), strict=False)
        with html.Div(classes="letters", id=f"view-{tag}"):
            for letter, side in sides:
                html.Span(letter, classes=side)
            html.Span("{{ place }}", classes="place")
        view.set_ruler(1)

    def _build(self) -> None:
        style = (files("itk_consensus.review.application") / "page.css").read_text("utf-8")
        self.state.trame__title = "Review"
        self.state.trame__favicon = "data:,"
        self.state.brush_mm = _BRUSH_MM
        with VAppLayout(self.server) as layout:
            layout.root.theme = "dark"
            client.Style(style)
            client.Script(_KEYS)
            with html.Div(style="display:flex;height:100vh;width:100vw;background:#15181c"):
                with html.Div(classes="review", style="flex:0 0 25rem;width:25rem;overflow:auto"):
                    with html.Header(v_if="!ready"):
                        html.H1("{{ title }}")
                        html.Div(_OPENING, id="opening", classes="message", role="status")
                    with html.Div(v_else=True):
                        panel(self, list(_TOOLS))
                with html.Div(style="flex:1 1 auto;min-width:0;display:flex;height:100vh"):
                    self._layouts.initialize_layout_grid(layout)


def _choice_of(decision: Decision) -> tuple[str, int | None]:
    """What was chosen, and which label or rater."""
    return decision.choice, decision.label if decision.choice == "label" else decision.rater


def _markers(dispute: Dispute, names: Sequence[str]) -> list[str]:
    """Who marked a dispute; of who marked a part, how much."""
    shares = dispute.marked_by()
    return [
        name if share > 0.995 else f"{name} {100 * share:.0f} %"
        for name, share in zip(names, shares, strict=True)
        if share > 0.005
    ]


def _letters(place: Sequence[float]) -> str:
    """Right, anterior, superior in mm, each with the letter of its side."""
    sides = (("R", "L"), ("A", "P"), ("S", "I"))
    return (
        " ".join(
            f"{pair[0] if mm >= 0 else pair[1]} {abs(mm):.1f}"
            for pair, mm in zip(sides, place, strict=True)
        )
        + " mm"
    )
