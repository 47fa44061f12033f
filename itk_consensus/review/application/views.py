"""Three slice views and a 3D view: layout, values under the mouse, grey values, and tools."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trame.widgets import html
from trame_slicer.app.logic.slice_view_logic import connect_slice_view_slider_to_state
from trame_slicer.app.ui.slider import Slider
from trame_slicer.core import LayoutManager, SlicerApp
from trame_slicer.rca_view.rca_view_factory import (
    RemoteSliceViewFactory,
    RemoteThreeDViewFactory,
)
from trame_slicer.views import SliceView, ThreeDView
from trame_slicer.views.render_scheduler import NoScheduleRendering

from itk_consensus.core.array_types import Mask
from itk_consensus.images.grey_windows import CT_WINDOWS, GreyWindow, windows_for
from itk_consensus.review.application.scene import ReviewScene
from itk_consensus.review.application.words import SPOKEN, letters

#: Letters at the left, right, top and bottom of each of Slicer's slice views, by the view's name.
_LETTERS = {"Red": "RLAP", "Green": "RLSI", "Yellow": "APSI"}
_NAMES = {"Red": "axial", "Green": "coronal", "Yellow": "sagittal"}
#: Dragging over this many pixels doubles the window width, or changes the level by one width.
_PIXELS_OF_A_WINDOW = 300.0
_LAYOUT = "Quad View"


class Views:
    """Slicer's views, except for the contours in them.

    Parameters
    ----------
    pointed : callable
        Called with the clicked position in Slicer's coordinates.
    """

    def __init__(self, app: SlicerApp, server: Any, pointed: Callable[[], None]) -> None:
        self.app, self.state, self._pointed = app, server.state, pointed
        self.scene: ReviewScene | None = None
        self._image: NDArray[Any] | None = None
        self._windows: list[GreyWindow] = []
        self._mouse: dict[str, tuple[float, float, float]] = {}
        for tag in _LETTERS:
            self.state[f"corner_{tag}"] = ""
        self.state.maximised = ""
        self.state.windows, self.state.window_name = [], ""
        self.state.window_width, self.state.window_level = 1.0, 0.0
        for factory, view, build in (
            (RemoteSliceViewFactory, SliceView, self._slice_view_ui),
            (RemoteThreeDViewFactory, ThreeDView, self._surface_view_ui),
        ):
            made = factory(server, populate_view_ui_f=build, rca_encoder="jpeg", target_fps=30.0)
            # Without this, each view would be rendered about a hundred times while it is being
            # created.
            made._view_ctor = partial(view, scheduled_render_strategy=NoScheduleRendering())
            app.view_manager.register_factory(made)
        self.layouts = LayoutManager(app.scene, app.view_manager, server)
        self.layouts.register_layout(_LAYOUT, LayoutManager.default_grid_configuration()[_LAYOUT])
        self.layouts.set_layout(_LAYOUT)
        server.trigger("review_view")(self.on_view)

    def close_case(self) -> None:
        """Remove the previous case."""
        self.scene, self._image, self._windows = None, None, []
        self._mouse.clear()
        for tag in _LETTERS:
            self.state[f"corner_{tag}"] = ""

    def _slice_views(self) -> dict[str, Any]:
        return {view.get_singleton_tag(): view for view in self.app.view_manager.get_slice_views()}

    # -- image and grey values ------------------------------------------------------------------

    def show_image(self, scene: ReviewScene, image: NDArray[Any], drawn: Mask | None) -> None:
        """Show an image with the grey-value window used for the structures that were drawn."""
        self.scene, self._image = scene, image
        scene.show_image(image)
        self._windows = windows_for(image, drawn)
        self.state.windows = [one.name for one in self._windows]
        self._set_window(self._windows[0])
        self.fit()

    def show_black(self, scene: ReviewScene) -> None:
        """Show a black image under the contours if there is none."""
        self.scene, self._image = scene, None
        scene.show_image(np.zeros(scene.shape, np.uint8))
        scene.set_window(2, 1)
        self._windows = []
        self.state.windows = []
        self.state.window_name = ""
        self.fit()

    def fit(self) -> None:
        """Fit the whole image into every plane."""
        for view in self._slice_views().values():
            view.fit_view_to_content()
        self.tell()

    def fit_surface(self) -> None:
        """Show the whole surface from the front."""
        for view in self.app.view_manager.get_threed_views():
            view.reset_view()

    def _set_window(self, window: GreyWindow) -> None:
        assert self.scene is not None
        self.scene.set_window(window.width, window.level)
        self.state.window_name = window.name
        self.state.window_width, self.state.window_level = window.width, window.level
        self.tell()

    def choose_window(self, name: str) -> None:
        """Select one of the modality's usual grey-value windows."""
        for window in self._windows:
            if window.name == name:
                self._set_window(window)

    def set_window(self, width: Any, level: Any) -> None:
        """Set the grey-value window manually."""
        try:
            window = GreyWindow("by hand", max(float(width), 1e-6), float(level))
        except (TypeError, ValueError):
            return
        if self._windows:
            self._set_window(window)

    def _drag_window(self, right: float, down: float) -> None:
        width, level = float(self.state.window_width), float(self.state.window_level)
        level += width * down / _PIXELS_OF_A_WINDOW
        width *= 2 ** (right / _PIXELS_OF_A_WINDOW)
        self.set_window(f"{width:.4g}", f"{level:.4g}")

    # -- what is under the mouse ----------------------------------------------------------------

    def on_view(self, what: str, tag: str, x: float, y: float) -> None:
        """Handle a mouse event on a view; positions are fractions of its width and height."""
        with self.state:
            if what == "maximise":
                self.state.maximised = "" if self.state.maximised else str(tag)
            elif self.scene is None:
                return
            elif what == "window" and self._windows:
                self._drag_window(float(x), float(y))
            elif tag in _LETTERS and what in ("hover", "point"):
                self._mouse[tag] = place = self._place(tag, float(x), float(y))
                if what == "point":
                    self.scene.set_crosshair(place)
                    for other, view in self._slice_views().items():
                        if other != tag:
                            view.get_view_node().JumpSliceByOffsetting(*place)
                    self._mouse = dict.fromkeys(_LETTERS, place)
                    self.tell()
                    self._pointed()
                else:
                    self._tell_corner(tag)

    def _place(self, tag: str, x: float, y: float) -> tuple[float, float, float]:
        node = self._slice_views()[tag].get_view_node()
        width, height, _ = node.GetDimensions()
        place = node.GetXYToRAS().MultiplyPoint((x * width, (1 - y) * height, 0.0, 1.0))
        return float(place[0]), float(place[1]), float(place[2])

    def scroll(self, tag: str, by: int) -> None:
        """Show the next or the previous slice of a plane."""
        view = self._slice_views().get(tag if tag in _LETTERS else "Red")
        if view is not None and self.scene is not None:
            low, high = view.get_slice_range()
            value = view.get_slice_value() + by * view.get_slice_step()
            view.set_slice_value(min(max(value, low), high))

    def slice_shown(self) -> int:
        """Return the index of the displayed slice along the third axis from the end."""
        assert self.scene is not None
        return self.scene.index_of(self._middle("Red"))[0]

    def _middle(self, tag: str) -> tuple[float, float, float]:
        return self._place(tag, 0.5, 0.5)

    def tell(self, at: tuple[float, float, float] | None = None) -> None:
        """Update the corner texts of all planes; `at` is the position that they describe."""
        for tag in _LETTERS:
            if at is not None:
                self._mouse[tag] = at
            self._tell_corner(tag)

    def _tell_corner(self, tag: str) -> None:
        """Write slice, position, value and window in the corner of a plane."""
        scene = self.scene
        if scene is None:
            return
        node = self._slice_views()[tag].get_view_node()
        normal = [node.GetSliceToRAS().GetElement(row, 2) for row in range(3)]
        axis = scene.axis_along(normal)
        middle = scene.index_of(self._middle(tag))
        lines = [f"{_NAMES[tag]} {middle[axis] + 1} of {scene.shape[axis]}"]
        place = self._mouse.get(tag)
        index = None if place is None else scene.index_of(place)
        if place is not None and index is not None and index[axis] == middle[axis]:
            lines.append(letters(place))
            if self._image is not None and scene.holds(index):
                value = self._image.reshape(scene.shape)[index]
                lines.append(f"{value:.6g} {self._unit}")
        if self._image is not None:
            lines.append(f"W {self.state.window_width:.4g} L {self.state.window_level:.4g}")
        self.state[f"corner_{tag}"] = "\n".join(lines)

    @property
    def _unit(self) -> str:
        return "HU" if CT_WINDOWS[0] in self._windows else "intensity"

    # -- construction ---------------------------------------------------------------------------

    def _slice_view_ui(self, server: Any, _view_id: str, view: Any) -> None:
        tag = view.get_singleton_tag()
        sides = zip(_LETTERS.get(tag, ""), ("left", "right", "top", "bottom"), strict=False)
        with html.Div(classes="letters", id=f"view-{tag}"):
            for letter, side in sides:
                html.Span(letter, classes=side)
            html.Span(f"{{{{ corner_{tag} }}}}", classes="corner", id=f"corner-{tag}")
        # Lines two pixels wide need no multisampling, which would take as long as all other
        # rendering.
        view.render_window().SetMultiSamples(0)
        name = _NAMES.get(tag, tag)
        with html.Div(classes="view-tools"):
            _tool("Fit", f"Show all of the {name} plane", view.fit_view_to_content)
            _tool("In 3D", f"Show the {name} plane beside the surface", view.toggle_visible_in_3d)
            self._maximise_tool(tag, name)
        with html.Div(classes="view-tools slider"):
            Slider(
                typed_state=connect_slice_view_slider_to_state(server, view),
                theme="dark",
                dense=True,
                aria_label=f"Slice of the {name} plane",
            )
        view.modified.connect(lambda _: self._moved(tag))
        view.set_ruler(1)

    def _surface_view_ui(self, _server: Any, _view_id: str, view: Any) -> None:
        html.Div(classes="letters", id="view-3D")
        with html.Div(classes="view-tools"):
            _tool("Fit", "Show all of the surface", view.reset_view)
            self._maximise_tool("3D", "surface")

    def _maximise_tool(self, tag: str, name: str) -> None:
        toggle = "['maximise', '" + tag + "', 0, 0]"
        with html.Button(
            title=f"Only the {name} view, or all four (double click)",
            aria_label=f"Only the {name} view, or all four",
            **SPOKEN,
            click=(self.on_view, toggle),
        ):
            html.Span("{{ maximised ? 'Four' : 'One' }}")

    def _moved(self, tag: str) -> None:
        if self.scene is not None:
            with self.state:
                self._tell_corner(tag)


def _tool(text: str, title: str, click: Callable[[], Any]) -> None:
    html.Button(text, title=title, aria_label=title, **SPOKEN, click=lambda: click())
