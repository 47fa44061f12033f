"""The page of the application: disputes and readers on the left, Slicer's views next to them."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from time import monotonic
from typing import Any

import numpy as np
from trame.ui.vuetify3 import VAppLayout
from trame.widgets import client, html
from trame_slicer.core import SlicerApp
from vtkmodules.vtkCommonCore import vtkLogger, vtkOutputWindow

from itk_consensus.assessment.findings import Finding
from itk_consensus.core.memory import give_memory_back
from itk_consensus.core.work import working
from itk_consensus.review.application.dispute_list import DisputeList
from itk_consensus.review.application.painting import TOOLS, Painting
from itk_consensus.review.application.panel import panel
from itk_consensus.review.application.scene import MOST_VOXELS_OF_A_SURFACE, ReviewScene
from itk_consensus.review.application.views import Views
from itk_consensus.review.application.words import DecisionWords, letters, markers, stroke_words
from itk_consensus.review.disputes import Dispute
from itk_consensus.review.one_review import Remark
from itk_consensus.review.rater_colors import rater_color
from itk_consensus.review.readers import reader_rows
from itk_consensus.review.session import CaseToOpen, ReviewSession

_BRUSH_MM = 6.0
#: Rebuilding a surface takes longer than painting, so it is delayed until painting has paused for
#: this many seconds.
_SECONDS_TO_THE_SURFACE = 0.6

_OPENING = "What the readers drew is being fused. The image can be looked at meanwhile."
_ENDED = (
    "<div style='font:16px/1.5 system-ui,sans-serif;color:#e8eaed;background:#15181c;"
    "position:fixed;inset:0;padding:3rem'><h1>The review has ended.</h1>"
    "<p>Every decision is kept in the record beside the output. To go on, run the same command "
    "again and open the address that it prints.</p></div>"
)


class ReviewPage:
    """Content of the browser page and handlers of its requests.

    Parameters
    ----------
    cases : sequence of CaseToOpen
        The cases in their order of review; each is opened when it is reached.
    who : str
        The reviewer; if empty, the page asks for a name before the first action.
    go_on : callable
        Called with the index of the case to open next.
    """

    def __init__(
        self,
        server: Any,
        cases: Sequence[CaseToOpen],
        who: str,
        go_on: Callable[[int], None],
        quit_: Callable[[], None],
    ) -> None:
        self.server, self.state = server, server.state
        self._cases, self._case_number = list(cases), 0
        self._progress = [one.before for one in cases]
        self._go_on, self._quit = go_on, quit_
        self._current, self._since = 0, monotonic()
        self._who, self._when_named = who, list[Callable[[], None]]()
        self.app = SlicerApp()
        # Suppress VTK's deprecation warnings, which are repeated for each view.
        vtkOutputWindow.GetInstance().SetDisplayModeToNever()
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
        self.views = Views(self.app, server, self._pointed)
        self.list = DisputeList(self.state)
        self._painting = Painting(self.app.segmentation_editor, self.state, self._take_over)
        self._surface: asyncio.TimerHandle | None = None
        self.session: ReviewSession
        self.scene: ReviewScene
        self._close_case(0)
        self._build()
        server.trigger("review_key")(self.on_key)

    # -- a case -----------------------------------------------------------------------------

    async def open(self, number: int, ask: Callable[[], None]) -> None:
        """Show a case: its image as soon as it is read, the rest when the raters have been fused.

        The work is done in other threads, so the page remains responsive; `ask` raises to cancel
        it.
        """
        self._close_case(number)

        def elsewhere(make: Callable[[], Any]) -> Awaitable[Any]:
            with working(abort_check=ask):
                return asyncio.get_running_loop().create_task(asyncio.to_thread(make))

        image = await elsewhere(self._cases[number].image)
        has_image = image is not None
        if has_image:
            with self.state:
                self.scene = ReviewScene(self.app, image.geometry)
                self.views.show_image(self.scene, image.voxels, image.drawn)
        del image  # for a large case, fusing needs this memory
        session = await elsewhere(self._cases[number].session)
        with self.state:
            self._show(session, has_image=has_image)
            self.state.ready = True
        await elsewhere(session.prepare)
        found = await elsewhere(session.case.find)
        give_memory_back()
        if self._case_number == number:
            with self.state:
                self._tell_findings(found)

    def _close_case(self, number: int) -> None:
        """Remove the previous case."""
        self._painting.put_away()
        if self._surface is not None:
            self._surface.cancel()
        self.views.close_case()
        if hasattr(self, "scene"):
            self.scene.close()
        self._case_number = number
        self.state.ready = False
        self.state.title = self._cases[number].title
        self.state.question = ""

    def _show(self, session: ReviewSession, *, has_image: bool) -> None:
        """Show the readers' contours and the consensus over the image."""
        self.session, case = session, session.case
        session.review.who = self._who
        if not has_image:
            self.scene = ReviewScene(self.app, case.geometry)
            self.views.show_black(self.scene)
        self.scene.show_maps_of(case.rated)
        self._words = {one.name: self._words_of(one.name) for one in case.rated}
        for one in case.rated:
            self.scene.show_result(one.name, session.review.shown(one.name))
        for index, name in enumerate(case.names):
            maps = {one.name: (one.maps[index], one.missing) for one in case.rated}
            self.scene.add_reader(name, maps)
        self._tell_case()
        self.list.open(session, self._words)
        if case.disputes:
            first = self.list.next_open(0)
            self.go(first or next(iter(session.review.undecided), 1))
        else:
            self._current = 0
            self._tell()
        if case.on_file.like.geometry.dimension >= 3:
            voxels = int(np.prod(case.geometry.shape))
            if voxels <= MOST_VOXELS_OF_A_SURFACE:
                self.show_surface()

    def _words_of(self, structure: str) -> DecisionWords:
        case, labels = self.session.case, self.scene.labels[structure]
        return DecisionWords(
            case.names,
            labels,
            {label: case.name_of(structure, label) for label in labels},
            {label: self.scene.colors[structure, label] for label in labels},
        )

    def _tell_case(self) -> None:
        case = self.session.case
        state = self.state
        self._tell_cases()
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
        state.legend = [
            {"name": words.name(label), "color": words.colors[label], "id": f"{label} {name}"}
            for name, words in self._words.items()
            for label in words.labels
        ]
        state.findings, state.sought = [], False
        state.overlay = False
        state.unlisted = case.unlisted_voxels
        said = []
        if self.session.resumed:
            said.append("Resumed where it was left.")
            if self.session.saved is not None and not self.session.is_saved:
                said.append("The map on disk is older than these decisions; s saves it.")
        if not case.disputes:
            said.append("Readers agree everywhere: there is nothing to decide.")
        state.message = " ".join(said)

    def _tell_findings(self, found: list[tuple[str, Finding]]) -> None:
        """Show the findings on consensus and readers, the most severe first."""
        names = self.session.case.names_as_given
        self.state.findings = [
            {
                "kind": (finding.severity or "fine").replace(" ", "-"),
                "text": f"{structure}: " * bool(structure) + str(finding.named(names)),
            }
            for structure, finding in sorted(found, key=lambda one: -one[1].grade)
            if finding.severity
        ]
        self.state.sought = True

    def _tell_cases(self) -> None:
        """Show the list of cases and the progress of each."""
        self.state.cases = [
            {
                "number": number,
                "title": one.title,
                "done": self._is_done(number),
                "verdict": one.verdict,
                "state": "not begun" if progress is None else str(progress),
                "who": "" if progress is None else ", ".join(progress.who),
            }
            for number, (one, progress) in enumerate(zip(self._cases, self._progress, strict=True))
        ]
        self.state.case_number = self._case_number

    def _is_done(self, number: int) -> bool:
        progress = self._progress[number]
        return progress is not None and progress.done

    @property
    def _voxel_ml(self) -> float:
        return float(np.prod(self.session.case.geometry.spacing)) / 1000

    # -- display of decisions -----------------------------------------------------------------

    def _tell(self) -> None:
        """Update the list and the buttons."""
        review, state = self.session.review, self.state
        self.list.tell_decisions()
        state.current = self._current
        state.can_undo, state.can_redo = review.can_undo, review.can_redo
        state.tool = self._painting.tool
        state.done = self.session.done
        self._progress[self._case_number] = self.session.progress
        if len(self._cases) > 1:
            self._tell_cases()
        dispute = review.disputes.get(self._current)
        decision = review.decision(self._current)
        state.locked = decision is not None
        state.choices, state.about, state.said, state.paints = [], "", "", []
        if dispute is not None:
            words = self._words[dispute.structure]
            state.hidden = self.session.is_hidden(self._current)
            self.scene.show_results(not state.hidden)
            state.choices = words.choices(dispute, decision, with_consensus=not state.hidden)
            state.about = self._about(dispute)
            state.said = words.decision(decision)
            state.paints = [{"value": label, "text": words.name(label)} for label in words.labels]
        state.paint_label = self._painting.label
        state.saved = self.session.is_saved

    def _about(self, dispute: Dispute) -> str:
        """Describe the current dispute: labels, size, position, and the readers who marked it."""
        case, words = self.session.case, self._words[dispute.structure]
        size = case.sizes[dispute.number]
        parts = [f"{size.ml:.3g} ml", f"{size.mm:.2g} mm thick"]
        parts.append(letters(self.scene.ras(dispute.index)))
        parts.append(f"{markers(dispute, case.names)} marked it")
        if self.session.is_hidden(dispute.number):
            return " · ".join((*parts, "consensus hidden until you decide"))
        now = words.label(dispute.consensus)
        parts.append(f"consensus: {now} ({words.probabilities(dispute)})".replace(" ()", ""))
        return " · ".join(parts)

    # -- the reviewer's name -------------------------------------------------------------------

    def _named(self, action: Callable[[], None]) -> None:
        """Perform an action in the reviewer's name; ask for the name first if it is not known."""
        if self._who:
            action()
        else:
            self._when_named = [action]
            self.state.asking_name = True

    def take_name(self, name: Any) -> None:
        """Set the reviewer's name, and perform the action that was waiting for it."""
        if not (name := str(name or "").strip()[:200]):
            return
        self._who = self.session.review.who = name
        self.state.asking_name = False
        waiting, self._when_named = self._when_named, []
        for action in waiting:
            action()

    def forget_name(self) -> None:
        """Cancel the action that waited for a name."""
        self._when_named = []
        self.state.asking_name = False

    # -- actions ------------------------------------------------------------------------------

    def go(self, number: int) -> None:
        """Show a dispute in all views."""
        self.finish_stroke()
        self._painting.put_away()
        dispute = self.session.review.disputes[number]
        self._current, self._since = number, monotonic()
        self.scene.show_dispute(dispute)
        self.views.tell(self.scene.jump(dispute.index))
        self.list.show(number)
        self._tell()

    def step(self, by: int) -> None:
        """Show the next or the previous dispute of the list."""
        if self.session.review.disputes:
            self.state.message = ""
            self.go(self.list.after(self._current, by))

    def accept_small(self) -> None:
        """Accept the consensus for all disputes below the smallest listed size."""
        self.finish_stroke()
        small = self.list.small
        if not small:
            return

        def decide() -> None:
            remark = Remark(reason=self.list.listing.words)
            self.session.decide(small, "consensus", remark=remark)
            self.state.message = f"{len(small)} small disputes are as the consensus has them."
            self._tell()

        self._named(decide)

    def _remark(self) -> Remark:
        """Return the reason and confidence entered for the current decision."""
        state = self.state
        reason, confidence = str(state.reason or "").strip()[:500], state.confidence or None
        state.reason = state.confidence = ""  # these apply to a single decision
        return Remark(reason, confidence, round(monotonic() - self._since, 1))

    def choose(self, choice: str, value: int | None = None) -> None:
        """Decide the current dispute, and go to the next undecided one."""

        def decide() -> None:
            which = None if value is None else int(value)
            self.session.decide(self._current, choice, which, self._remark())
            self._go_on_deciding()

        self._change_open(decide)

    def confirm(self) -> None:
        """Decide the current dispute as painted."""

        def decide() -> None:
            if not self.session.review.draft(self._current):
                self.state.message = f"Nothing was painted in dispute {self._current}."
                return
            self.session.confirm(self._current, self._remark())
            self._go_on_deciding()

        self._change_open(decide)

    def _change_open(self, action: Callable[[], None]) -> None:
        """Change the current dispute in the reviewer's name, unless it is locked."""
        if not self._current:
            return
        self.finish_stroke()
        if self.session.review.decision(self._current) is not None:
            self.state.message = f"Dispute {self._current} is decided; u reopens it."
            return
        self._named(action)

    def _go_on_deciding(self) -> None:
        """Show the result of a decision, and go to the next open dispute."""
        review, number = self.session.review, self._current
        self._show_change(number)
        words = self._words[review.disputes[number].structure]
        self.state.message = f"Dispute {number}: {words.decision(review.decision(number))}."
        following = self.list.next_open(number)
        if following is not None:
            self.go(following)
            return
        self._painting.put_away()
        left = len(review.undecided)
        self.state.message = (
            f"Every dispute of this list is decided; {left} are not listed and open."
            if left
            else "Every dispute is decided. Save when you are content."
        )
        self._tell()

    def undo(self) -> None:
        """Undo the last action."""
        self._again(self.session.undo, "The last action was taken back.", "take back")

    def redo(self) -> None:
        """Redo the last undone action."""
        self._again(self.session.redo, "Done again.", "do again")

    def _again(self, action: Callable[[], bool], said: str, verb: str) -> None:
        self.finish_stroke()
        if not action():
            self.state.message = f"There is nothing to {verb}."
            return
        for name in self.scene.structures:
            self._show_result(name)
        changed = self.session.review.actions[-1].disputes
        if changed and len(changed) == 1 and self._current not in changed:
            self.go(changed[0])
        self.state.message = said
        self._tell()

    def reopen(self) -> None:
        """Unlock the current dispute; if it is open, discard what was painted in it."""
        self.finish_stroke()
        session, number = self.session, self._current
        if session.review.decision(number) is not None:
            self._named(lambda: self._unlock(session.reopen, f"Dispute {number} is open again."))
        elif session.review.draft(number):
            self._named(lambda: self._unlock(session.discard, "What was painted is gone."))

    def _unlock(self, action: Callable[[int], None], said: str) -> None:
        action(self._current)
        self._since = monotonic()
        self._show_change(self._current)
        self.state.message = said
        self._tell()

    def save(self, done: bool | None = None) -> bool:
        """Write the map and the record; return False if that failed."""
        self.finish_stroke()
        session = self.session
        try:
            session.save(done=done)
        except Exception as error:  # a full disk must not end the review
            self.state.message = f"Not saved: {error}"
            return False
        where = "" if session.output is None else f" {session.output.name}"
        review = session.review
        words = f"Saved{where}; {len(review.undecided)} undecided."
        if review.drafts:
            numbers = ", ".join(map(str, sorted(review.drafts)[:5]))
            words += f" Painting is not confirmed, and not in the map: dispute {numbers}."
        self.state.message = words
        self._tell()
        return True

    def finish_case(self) -> None:
        """Mark the case as done; if disputes are open, ask for confirmation."""
        self.finish_stroke()
        review = self.session.review
        open_ = [f"{len(review.undecided)} disputes are undecided and stay as the consensus is"]
        open_ *= bool(review.undecided)
        if review.drafts:
            open_.append(f"painting in {len(review.drafts)} is not confirmed and will not count")
        if open_:
            self.state.question = f"{'; '.join(open_)}."
        else:
            self.finish_all_the_same()

    def finish_all_the_same(self) -> None:
        """Mark the case as done despite open disputes, and open the next unfinished case."""
        self.state.question = ""
        self._named(self._finish)

    def go_on_reviewing(self) -> None:
        """Close the question and continue reviewing the case."""
        self.state.question = ""

    def _finish(self) -> None:
        if not self.save(done=True):
            return
        self._tell_cases()
        number = self._case_number
        order = [*range(number + 1, len(self._cases)), *range(number)]
        left = [other for other in order if not self._is_done(other)]
        if left:
            self._go_on(left[0])
        elif len(self._cases) > 1:
            self.state.message = "Every case is done. End when you are content."

    def toggle_worklist(self) -> None:
        """Show or hide the progress of all cases."""
        self.state.listing_cases = not self.state.listing_cases

    def open_case(self, number: Any) -> None:
        """Leave this case in its current state and open another one, even if that one is done."""
        number = int(number)
        self.state.listing_cases = False
        if 0 <= number < len(self._cases) and number != self._case_number and self.save():
            self._go_on(number)

    def close(self) -> None:
        """Save and quit the application."""
        if self.save():
            self._quit()

    def toggle_reader(self, number: int) -> None:
        """Show or hide a reader's contours."""
        shown = not self.scene.is_reader_shown(int(number))
        self.scene.show_reader(int(number), shown)
        rows = [dict(row) for row in self.state.readers]
        rows[int(number)]["shown"] = shown
        self.state.readers = rows

    def toggle_overlay(self) -> None:
        """Show or hide the uncertainty of the consensus."""
        shown = not self.state.overlay
        values = None
        if shown:
            dispute = self.session.review.disputes.get(self._current)
            name = self.scene.structures[0] if dispute is None else dispute.structure
            values = self.session.case.uncertainty(name)
        self.scene.show_overlay(values)
        self.state.overlay = shown

    def toggle_hatching(self) -> None:
        """Show or hide the hatching of the current dispute."""
        self.state.hatched = not self.state.hatched
        self._set_hatching()

    def set_hatching(self, opacity: Any) -> None:
        """Set the opacity of the hatching."""
        self.state.hatching, self.state.hatched = float(opacity), True
        self._set_hatching()

    def _set_hatching(self) -> None:
        self.scene.set_hatching_opacity(self.state.hatching if self.state.hatched else 0.0)

    def set_lines(self, opacity: Any) -> None:
        """Set the opacity of the contours."""
        self.state.lines = float(opacity)
        self.scene.set_line_opacity(self.state.lines)

    def list_slice(self) -> None:
        """List only the disputes in the displayed axial slice, or all again."""
        on = not self.state.one_slice
        self.list.set_slice(self.views.slice_shown() if on else None)

    def _pointed(self) -> None:
        """Handle a click on a position, which may change the displayed slice."""
        if self.state.one_slice:
            self.list.set_slice(self.views.slice_shown())

    def toggle_help(self) -> None:
        """Show or hide the help on keys and mouse actions."""
        self.state.helping = not self.state.helping

    def use_tool(self, name: str) -> None:
        """Select a tool of Slicer's segment editor, or deselect it."""
        self.finish_stroke()
        dispute = self.session.review.disputes.get(self._current)
        if dispute is not None and self.session.is_hidden(dispute.number):
            self.state.message = "Decide first; then u reopens it, to be painted."
            return
        if name == self._painting.tool or dispute is None:
            self._painting.put_away()
            self._tell()
        else:
            self._named(lambda: self._take_tool(name, dispute))

    def _take_tool(self, name: str, dispute: Dispute) -> None:
        labels = self.scene.labels[dispute.structure]
        label = next((one for one in dispute.labels if one in labels), labels[0])
        self._use(name, dispute.structure, label)

    def _use(self, tool: str, structure: str, label: int) -> None:
        self._painting.use(tool, self.scene, structure, label)
        # the editor deletes the surface of the segmentation that it edits
        with self._painting.paused():
            self.scene.renew_surface(structure)
        self._tell()

    def paint_with(self, label: Any) -> None:
        """Select the label to paint with."""
        dispute = self.session.review.disputes.get(self._current)
        if dispute is not None and int(label) in self.scene.labels[dispute.structure]:
            self.finish_stroke()
            self._use(self._painting.tool or "paint", dispute.structure, int(label))

    def on_key(self, key: str, view: str = "Red") -> None:
        """Handle a key that is the shortcut of a button."""
        if not self.state.ready:
            return
        with self.state:
            for choice in self.state.choices if key in "cio123456789" else ():
                if choice["key"] == key:
                    self.choose(choice["choice"], choice["value"])
                    return
            actions: dict[str, Callable[[], Any]] = {
                "ArrowUp": lambda: self.views.scroll(view, 1),
                "ArrowRight": lambda: self.views.scroll(view, 1),
                "ArrowDown": lambda: self.views.scroll(view, -1),
                "ArrowLeft": lambda: self.views.scroll(view, -1),
                "PageDown": lambda: self.step(1),
                "PageUp": lambda: self.step(-1),
                "n": lambda: self.step(1),
                "p": lambda: self.step(-1),
                "d": self.toggle_hatching,
                "u": self.reopen,
                "z": self.undo,
                "y": self.redo,
                "s": self.save,
                "b": lambda: self.use_tool("paint"),
                "e": lambda: self.use_tool("erase"),
                "?": self.toggle_help,
                "Enter": self.confirm,
                "Escape": self._escape,
            }
            if key in actions:
                actions[key]()

    def _escape(self) -> None:
        self.state.helping = self.state.listing_cases = False
        self.finish_stroke()
        self._painting.put_away()
        self._tell()

    # -- painting -----------------------------------------------------------------------------

    def set_brush(self, brush_mm: Any) -> None:
        """Set the diameter of the brush."""
        self._painting.set_brush(brush_mm)

    def finish_stroke(self) -> None:
        """Apply the last stroke before any other action."""
        self._painting.finish()

    def _take_over(self, structure: str) -> None:
        before = self.session.review.shown(structure)
        places, labels = self.scene.painted(structure, before)
        if not places.size:
            return
        stroke = self.session.paint_voxels(structure, places, labels)
        self.state.message = stroke_words(stroke, self._voxel_ml)
        if stroke.locked:
            self._show_result(structure)
        else:
            self._renew_surface(structure)
        self._tell()

    def _show_change(self, number: int) -> None:
        """Show the effect of a decision on a dispute."""
        dispute = self.session.review.disputes[number]
        shown = self.session.review.shown(dispute.structure)
        with self._painting.paused():
            self.scene.show_change(dispute, shown)
        self._renew_surface(dispute.structure)

    def _show_result(self, structure: str) -> None:
        with self._painting.paused():
            self.scene.show_result(structure, self.session.review.shown(structure))
        self._renew_surface(structure)

    def _renew_surface(self, structure: str) -> None:
        """Rebuild the surface when painting has paused."""
        if self._surface is not None:
            self._surface.cancel()

        def renew() -> None:
            self._surface = None
            with self._painting.paused():
                self.scene.renew_surface(structure)

        loop = asyncio.get_event_loop()
        self._surface = loop.call_later(_SECONDS_TO_THE_SURFACE, renew)

    def show_surface(self) -> None:
        """Show the surfaces; for a large volume they are built only on request."""
        self.scene.make_surfaces()
        self.views.fit_surface()

    # -- the page -----------------------------------------------------------------------------

    def _build(self) -> None:
        own = files("itk_consensus.review.application")
        self.state.trame__title = "Review"
        self.state.trame__favicon = "data:,"
        self.state.trame__template_error = self.state.trame__template_error_reconnect = _ENDED
        self.state.brush_mm = _BRUSH_MM
        self.state.update(
            {"asking_name": False, "question": "", "helping": False, "listing_cases": False}
        )
        self.state.hidden = False
        self.state.update({"reason": "", "confidence": ""})
        self.state.update({"hatched": True, "hatching": 0.85, "lines": 1.0})
        self.state.suggested_name = _user_name()
        with VAppLayout(self.server) as layout:
            layout.root.theme = "dark"
            client.Style((own / "page.css").read_text("utf-8"))
            client.Script((own / "page.js").read_text("utf-8"))
            with html.Div(classes="page"):
                with html.Div(classes="review"):
                    with html.Header(v_if="!ready"):
                        html.H1("{{ title }}")
                        html.Div(_OPENING, id="opening", classes="message", role="status")
                    with html.Div(v_else=True, classes="panel"):
                        panel(self, list(TOOLS))
                with html.Div(classes=("'views ' + (maximised ? 'only-' + maximised : '')",)):
                    self.views.layouts.initialize_layout_grid(layout)


def _user_name() -> str:
    """Return the user name of the current login session, if it is known."""
    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""
