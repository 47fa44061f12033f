"""The layout of the panel beside the views; `page.py` implements its actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trame.widgets import html

from itk_consensus.review.application.words import HELP, REASONS, SPOKEN
from itk_consensus.review.decisions import CONFIDENCES


def panel(page: Any, tools: Sequence[str]) -> None:
    """Build the panel; `page` has one method per button."""
    _header(page)
    _decisions(page, tools)
    _filter(page)
    _disputes(page)
    with html.Div(classes="below"):
        _readers(page)
        _display(page)
        _legend(page)
        _grey_window(page)
        _findings()
    _help(page)


def _header(page: Any) -> None:
    """Build the header: the case, the number of open disputes, and buttons to end the review."""
    with html.Header():
        html.H1("{{ title }}", id="title")
        _cases(page)
        with html.Div(classes="row"):
            html.Span("{{ undecided }} of {{ total }} undecided", id="undecided")
            html.Button("Undo<kbd>z</kbd>", id="undo", click=page.undo, disabled=("!can_undo",))
            html.Button("Redo<kbd>y</kbd>", id="redo", click=page.redo, disabled=("!can_redo",))
            html.Button("Save<kbd>s</kbd>", id="save", click=page.save)
            html.Button(
                "{{ done ? 'Done ✓' : 'Done' }}",
                id="done",
                click=page.finish_case,
                title="Nobody need look at this case again",
            )
            html.Button("End", id="close", click=page.close)
            html.Button(
                "?",
                id="help-button",
                click=page.toggle_help,
                title="Keys and the mouse",
                aria_label="Keys and the mouse",
                **SPOKEN,
            )
        _question(page)
        _name(page)
        html.Div("{{ message }}", id="message", classes="message", role="status", **SPOKEN)


def _cases(page: Any) -> None:
    """Build the row with the current case and the buttons for the others."""
    with html.Div(classes="row", v_if=("cases.length > 1",)):
        html.Button(
            "‹",
            id="case-before",
            title="The case before",
            aria_label="The case before",
            **SPOKEN,
            disabled=("case_number === 0",),
            click=(page.open_case, "[case_number - 1]"),
        )
        with html.Select(
            id="cases",
            aria_label="Case",
            **SPOKEN,
            value=("case_number",),
            change=(page.open_case, "[$event.target.value]"),
        ):
            html.Option(
                "{{ c.number + 1 }} of {{ cases.length }}: {{ c.title }}{{ c.done ? ' ✓' : '' }}",
                v_for="c in cases",
                key="c.number",
                value=("c.number",),
            )
        html.Button(
            "›",
            id="case-after",
            title="The next case",
            aria_label="The next case",
            **SPOKEN,
            disabled=("case_number + 1 === cases.length",),
            click=(page.open_case, "[case_number + 1]"),
        )
        html.Button("Worklist", id="worklist-button", click=page.toggle_worklist)
    _worklist(page)


def _worklist(page: Any) -> None:
    """Build the table of all cases and their progress."""
    with html.Div(
        classes="help",
        id="worklist",
        v_if=("listing_cases",),
        role="dialog",
        aria_label="Worklist",
        **SPOKEN,
    ):
        with html.Table():
            with html.Thead(), html.Tr():
                for title in ("case", "verdict", "state", "reviewed by"):
                    html.Th(title)
            with (
                html.Tbody(),
                html.Tr(v_for="c in cases", key="c.number", id=("'case-' + c.number",)),
            ):
                with html.Td():
                    html.Button("{{ c.title }}", click=(page.open_case, "[c.number]"))
                html.Td("{{ c.verdict }}")
                html.Td("{{ c.state }}")
                html.Td("{{ c.who }}")
        html.Button("Close", click=page.toggle_worklist)


def _question(page: Any) -> None:
    """Build the question whether a case with open disputes is done."""
    with html.Div(classes="ask", id="question", v_if=("question",), role="alertdialog", **SPOKEN):
        html.Div("{{ question }}")
        with html.Div(classes="row"):
            html.Button("Done all the same", id="done-anyway", click=page.finish_all_the_same)
            html.Button("Go on reviewing", id="go-on", click=page.go_on_reviewing)


def _name(page: Any) -> None:
    """Build the field that asks for the reviewer's name before the first decision."""
    with html.Div(classes="ask", id="ask-name", v_if=("asking_name",), role="dialog", **SPOKEN):
        html.Div("Who reviews? The name is kept with every decision.")
        with html.Div(classes="row"):
            html.Input(
                type="text",
                id="name",
                aria_label="Your name",
                **SPOKEN,
                v_model=("suggested_name",),
                keyup_enter=(page.take_name, "[suggested_name]"),
            )
            html.Button("Go on", id="take-name", click=(page.take_name, "[suggested_name]"))
            html.Button("Cancel", id="no-name", click=page.forget_name)


def _decisions(page: Any, tools: Sequence[str]) -> None:
    """Build the buttons for decisions on the current dispute."""
    with html.Section(id="decision"):
        html.H2(
            "Dispute {{ current }}"
            "{{ locked ? ', decided: ' + said + ' — locked' : '' }}"
            "{{ drafts[current] ? ', painted: ' + drafts[current] + ' voxels, not confirmed' : ''}}"
        )
        html.Div("{{ about }}", id="about", classes="quiet")
        with (
            html.Div(classes="row"),
            html.Button(
                v_for="one in choices",
                key="one.id",
                id=("one.id",),
                classes=("one.on ? 'on' : ''",),
                disabled=("locked",),
                click=(page.choose, "[one.choice, one.value]"),
            ),
        ):
            html.Span(v_if="one.color", classes="swatch", style=("'background:' + one.color",))
            html.Span("{{ one.text }}<kbd>{{ one.key }}</kbd>")
        with html.Div(classes="row", v_if=("locked || drafts[current]",)):
            html.Button(
                "Confirm painting<kbd>Enter</kbd>",
                id="confirm",
                v_if=("drafts[current] && !locked",),
                click=page.confirm,
            )
            html.Button(
                "{{ locked ? 'Reopen' : 'Throw painting away' }}<kbd>u</kbd>",
                id="reopen",
                click=page.reopen,
            )
        _reason()
        _tools(page, tools)


def _reason() -> None:
    """Build the fields for reason and confidence, which are stored with the next decision."""
    with html.Div(classes="row", v_if=("!locked",)):
        html.Input(
            type="text",
            id="reason",
            list="reasons",
            placeholder="reason",
            aria_label="Reason of the next decision",
            **SPOKEN,
            v_model=("reason",),
        )
        with html.Datalist(id="reasons"):
            for reason in REASONS:
                html.Option(value=reason)
        with html.Select(id="confidence", aria_label="How sure", **SPOKEN, v_model=("confidence",)):
            html.Option("how sure?", value="")
            for one in CONFIDENCES:
                html.Option(one, value=one)


def _tools(page: Any, tools: Sequence[str]) -> None:
    """Build the painting tools and the choice of the label."""
    with html.Div(classes="row"):
        for name, key in (("paint", "b"), ("erase", "e"), *((n, "") for n in tools)):
            if key or name not in ("paint", "erase"):
                html.Button(
                    f"{name}<kbd>{key}</kbd>",
                    id=f"tool-{name}",
                    classes=(f"tool === '{name}' ? 'on' : ''",),
                    click=(page.use_tool, f"['{name}']"),
                )
        with html.Label():
            html.Span("mm")
            html.Input(
                type="number",
                id="brush",
                aria_label="Width of the brush in mm",
                **SPOKEN,
                min="0.1",
                step="0.5",
                value=("brush_mm",),
                change=(page.set_brush, "[$event.target.value]"),
            )
        with html.Label(v_if=("tool && paints.length",)):
            html.Span("paints")
            with html.Select(
                id="paint-label",
                **SPOKEN,
                value=("paint_label",),
                change=(page.paint_with, "[$event.target.value]"),
            ):
                html.Option("{{ l.text }}", v_for="l in paints", key="l.value", value=("l.value",))


def _filter(page: Any) -> None:
    """Build the filter of the list, and the button that decides all smaller disputes."""
    with html.Section(id="filter"):
        with html.Div(classes="row"):
            for what, unit, given in (
                ("ml", "ml", "[$event.target.value, least_mm]"),
                ("mm", "mm thick", "[least_ml, $event.target.value]"),
            ):
                with html.Label():
                    html.Span("from" if what == "ml" else "and")
                    html.Input(
                        type="number",
                        id=f"least-{what}",
                        aria_label=f"Smallest dispute that is listed, {unit}",
                        **SPOKEN,
                        min="0",
                        step="any",
                        value=(f"least_{what}",),
                        change=(page.list.set_least, given),
                    )
                    html.Span(unit)
            with html.Label():
                html.Input(
                    type="checkbox",
                    id="one-slice",
                    checked=("one_slice",),
                    change=page.list_slice,
                )
                html.Span("this slice")
            with html.Select(
                id="part",
                aria_label="Structure",
                **SPOKEN,
                v_if=("several_parts",),
                value=("part",),
                change=(page.list.set_part, "[$event.target.value]"),
            ):
                html.Option("all structures", value="")
                html.Option("{{ o.text }}", v_for="o in parts", key="o.value", value=("o.value",))
        with html.Div(classes="row", v_if=("small.all",)):
            html.Span(
                "{{ listed }} listed; {{ small.all }} smaller, {{ small.open }} of them open "
                "({{ small.ml }} ml)",
                id="small",
                classes="quiet",
            )
            html.Button(
                "Smaller ones as the consensus",
                id="accept-small",
                v_if=("small.open",),
                click=page.accept_small,
                title="One action, which undo takes back",
            )


def _disputes(page: Any) -> None:
    """Build the list of disputes, the largest first, with one row for each."""
    with html.Div(classes="list", tabindex="0", id="disputes"):
        with html.Div(classes=("'line head' + (several_parts ? '' : ' one-part')",)):
            html.Span("")
            html.Span("{{ several_parts ? 'label' : '' }}")
            html.Span("ml", classes="n")
            html.Span("mm", classes="n")
            html.Span("readers")
            html.Span("decision")
        with html.Div(
            v_for="d in rows",
            key="d.number",
            id=("'dispute-' + d.number",),
            classes=(
                "'line dispute' + (several_parts ? '' : ' one-part') + "
                "(d.number === current ? ' current' : '') + "
                "(decided[d.number] ? ' decided' : '')",
            ),
            click=(page.go, "[d.number]"),
        ):
            html.Span("{{ d.number }}")
            with html.Span(classes="name", title=("d.name",)):
                html.Span(
                    v_if=("several_parts && d.color",),
                    classes="swatch",
                    style=("'background:' + d.color",),
                )
                html.Span("{{ several_parts ? d.name : '' }}")
            html.Span("{{ d.ml }}", classes="n")
            html.Span("{{ d.mm }}", classes="n")
            with html.Span(classes="dots", title=("d.marked",)):
                html.Span(
                    v_for="o, i in d.dots",
                    key="i",
                    classes=("o.how",),
                    style=("'--color:' + o.color",),
                )
                html.Span("{{ d.few }}")
            html.Span(
                "{{ decided[d.number] || (drafts[d.number] ? 'painted, not confirmed' : 'open') }}",
                classes="said",
            )
        html.Div(
            "{{ before + 1 }} to {{ before + rows.length }} of {{ listed }}; PageDown goes on.",
            v_if=("listed > rows.length",),
            classes="quiet",
        )


def _readers(page: Any) -> None:
    """Build the list of readers and the display options."""
    with html.Section():
        html.Div(
            "{{ unlisted }} more voxels, in the smallest disputes, cannot be decided one by one.",
            v_if="unlisted",
            classes="quiet",
        )
        with html.Table(id="readers"):
            with html.Thead(), html.Tr():
                html.Th("reader")
                html.Th("ml", classes="n")
                html.Th("Dice", classes="n", v_if=("!hidden",))
                html.Th("bias", classes="n", v_if=("!hidden",))
            with html.Tbody(), html.Tr(v_for="r in readers", key="r.number"):
                with html.Td(), html.Label():
                    html.Input(
                        type="checkbox",
                        id=("'reader-' + r.number",),
                        checked=("r.shown",),
                        change=(page.toggle_reader, "[r.number]"),
                    )
                    html.Span(classes="swatch", style=("'background:' + r.color",))
                    html.Span("{{ r.name }}")
                html.Td("{{ r.volume }}", classes="n")
                html.Td("{{ r.dice }}", classes="n", v_if=("!hidden",))
                html.Td("{{ r.bias }}", classes="n", v_if=("!hidden",))


def _display(page: Any) -> None:
    """Build the controls for additional overlays and their opacity."""
    with html.Section(), html.Div(classes="row"):
        with html.Label():
            html.Input(
                type="checkbox", id="hatched", checked=("hatched",), change=page.toggle_hatching
            )
            html.Span("dispute<kbd>d</kbd>")
        for name, label, change in (
            ("hatching", "Opacity of the dispute", page.set_hatching),
            ("lines", "Opacity of lines", page.set_lines),
        ):
            if name == "lines":
                html.Span("lines")
            html.Input(
                type="range",
                id=f"opacity-{name}",
                aria_label=label,
                **SPOKEN,
                min="0",
                max="1",
                step="0.05",
                value=(name,),
                input=(change, "[$event.target.value]"),
            )
        with html.Label():
            html.Input(
                type="checkbox", id="overlay", checked=("overlay",), change=page.toggle_overlay
            )
            html.Span("uncertainty")
        html.Button("3D surface", id="surface", click=page.show_surface)


def _legend(_page: Any) -> None:
    """Build the legend of label colours."""
    with html.Details(classes="section", id="legend", v_if=("legend.length > 1",)):
        html.Summary("Labels: {{ legend.length }}")
        with (
            html.Div(classes="row"),
            html.Span(v_for="l in legend", key="l.id", classes="named"),
        ):
            html.Span(classes="swatch", style=("'background:' + l.color",))
            html.Span("{{ l.name }}")


def _help(page: Any) -> None:
    """Build the help sheet with all keys."""
    with html.Div(
        classes="help", id="help", v_if=("helping",), role="dialog", aria_label="Help", **SPOKEN
    ):
        with html.Table(), html.Tbody():
            for keys, meaning in HELP:
                with html.Tr():
                    html.Td(f"<kbd>{keys}</kbd>")
                    html.Td(meaning)
        html.P(
            "The widest line is the map under review, below all readers' lines; hatched is the "
            "current dispute. A decided dispute is locked until it is reopened."
        )
        html.Button("Close", click=page.toggle_help)


def _grey_window(page: Any) -> None:
    """Build the controls for the grey-value window."""
    with html.Details(classes="section", v_if=("windows.length",)):
        html.Summary("Window: {{ window_name }}")
        with html.Div(classes="row"):
            html.Button(
                "{{ name }}",
                v_for="name in windows",
                key="name",
                classes=("name === window_name ? 'on' : ''",),
                click=(page.views.choose_window, "[name]"),
            )
            for what, given in (
                ("width", "[$event.target.value, window_level]"),
                ("level", "[window_width, $event.target.value]"),
            ):
                with html.Label():
                    html.Span(what)
                    html.Input(
                        type="number",
                        id=f"window-{what}",
                        value=(f"window_{what}",),
                        change=(page.views.set_window, given),
                    )


def _findings() -> None:
    """Build the list of reasons not to trust the consensus or the raters."""
    with html.Details(classes="section"):
        html.Summary(
            "Findings about consensus and raters: "
            "{{ findings.length || (sought ? 'none' : 'being sought') }}"
        )
        html.Div(
            "All automatic checks passed; they do not judge clinical plausibility.",
            v_if="sought && !findings.length",
            classes="quiet",
        )
        html.Div(
            "{{ f.text }}",
            v_for="f, i in findings",
            key="i",
            classes=("'finding ' + f.kind",),
        )
