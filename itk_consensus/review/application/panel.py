"""The panel beside the views: what it says and which buttons it has; `page.py` does the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trame.widgets import html


def panel(page: Any, tools: Sequence[str]) -> None:
    """Build the panel; `page` has a method for every button."""
    _header(page)
    _decisions(page, tools)
    _disputes(page)
    _readers(page)
    _grey_window(page)
    _findings()


def _header(page: Any) -> None:
    """What is reviewed, how much is left, and what ends it."""
    with html.Header():
        html.H1("{{ title }}", id="title")
        with html.Div(classes="row", v_if=("cases.length > 1",)):
            html.Span("case {{ case_number + 1 }} of {{ cases.length }}", classes="quiet")
            html.Button("Done, next case", id="next-case", click=page.next_case)
        with html.Div(classes="row"):
            html.Span("{{ undecided }} of {{ disputes.length }} undecided", id="undecided")
            html.Button("Undo<kbd>z</kbd>", id="undo", click=page.undo)
            html.Button("Save<kbd>s</kbd>", id="save", click=page.save)
            html.Button("End", id="close", click=page.close)
        html.Div("{{ message }}", id="message", classes="message", role="status")


def _decisions(page: Any, tools: Sequence[str]) -> None:
    """What may become of the current dispute."""
    with html.Section():
        html.H2("Dispute {{ current }}: yellow in the views")
        with (
            html.Div(classes="row"),
            html.Button(
                v_for="one in choices",
                key="one.id",
                id=("one.id",),
                classes=("one.on ? 'on' : ''",),
                click=(page.choose, "[one.choice, one.value]"),
            ),
        ):
            html.Span(v_if="one.color", classes="swatch", style=("'background:' + one.color",))
            html.Span("{{ one.text }}<kbd>{{ one.key }}</kbd>")
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
                html.Span("brush, mm")
                html.Input(
                    type="number",
                    id="brush",
                    min="0.1",
                    step="0.5",
                    value=("brush_mm",),
                    change=(page.set_brush, "[$event.target.value]"),
                )
            html.Button("undecided<kbd>u</kbd>", id="clear", click=page.clear)


def _disputes(page: Any) -> None:
    """The list, the largest first."""
    with html.Div(classes="list", tabindex="0"), html.Table(id="disputes"):
        with html.Thead(), html.Tr():
            html.Th("")
            html.Th("ml", classes="n")
            html.Th("who marked it")
            html.Th("p", classes="n")
            html.Th("decision")
        with (
            html.Tbody(),
            html.Tr(
                v_for="d in disputes",
                key="d.number",
                id=("'dispute-' + d.number",),
                classes=(
                    "'dispute' + (d.number === current ? ' current' : '') + "
                    "(d.decision ? ' decided' : '')",
                ),
                click=(page.go, "[d.number]"),
            ),
        ):
            html.Td("{{ d.number }}")
            html.Td("{{ d.ml }}", classes="n")
            with html.Td():
                html.Div("{{ d.structure }}", v_if="has_structures")
                html.Div("{{ d.marked }}")
                html.Div("{{ d.place }}", classes="quiet")
            html.Td("{{ d.p }}", classes="n")
            html.Td("{{ d.decision || ('open: ' + d.now) }}")


def _readers(page: Any) -> None:
    """Who drew what, and what else is shown."""
    with html.Section():
        html.Div(
            "{{ unlisted }} more voxels in smaller disputes stay as the consensus has them.",
            v_if="unlisted",
            classes="quiet",
        )
        with html.Table(id="readers"):
            with html.Thead(), html.Tr():
                html.Th("reader")
                html.Th("ml", classes="n")
                html.Th("Dice", classes="n")
                html.Th("bias", classes="n")
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
                html.Td("{{ r.dice }}", classes="n")
                html.Td("{{ r.bias }}", classes="n")
        with html.Div(classes="row"):
            with html.Label():
                html.Input(
                    type="checkbox",
                    id="overlay",
                    checked=("overlay",),
                    change=page.toggle_overlay,
                )
                html.Span("uncertainty")
            html.Button("3D surface", id="surface", click=page.show_surface)


def _grey_window(page: Any) -> None:
    """Grey values."""
    with html.Details(classes="section"):
        html.Summary("Window: {{ window_name }}")
        with html.Div(classes="row"):
            html.Button(
                "{{ name }}",
                v_for="name in windows",
                key="name",
                classes=("name === window_name ? 'on' : ''",),
                click=(page.choose_window, "[name]"),
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
                        change=(page.set_window, given),
                    )


def _findings() -> None:
    """Reasons not to trust the consensus, or the raters."""
    with html.Details(classes="section"):
        html.Summary("Findings about consensus and raters: {{ findings.length || 'none' }}")
        html.Div(
            "All automatic checks passed; they do not judge clinical plausibility.",
            v_if="!findings.length",
            classes="quiet",
        )
        html.Div(
            "{{ f.text }}",
            v_for="f, i in findings",
            key="i",
            classes=("'finding ' + f.kind",),
        )
