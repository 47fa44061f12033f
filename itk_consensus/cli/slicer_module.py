"""``itk-consensus --xml fuse``: describe the command for 3D Slicer's execution model.

Slicer creates a panel from the description and runs the command with the chosen options. The order
of elements follows the published schema (CTK's ctkCmdLineModule.xsd).
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import itk_consensus
from itk_consensus.cli.fusing import requested_method
from itk_consensus.cli.options import offered_parameters, option_of, text_of_default
from itk_consensus.cli.slicer_flags import RATER
from itk_consensus.core.constraints import Boolean, Choice, ImageLike, Integer, Real
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import Parameter, parameters_of
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.registry import METHODS

#: Number of inputs in the panel, each of which may be left empty.
_RATERS = 8
#: Slicer's largest integer; larger defaults are omitted.
_LARGEST_INTEGER = 2**31 - 1
Element = ElementTree.Element


def module_description(words: list[str]) -> str:
    """Describe ``fuse`` with the method given in `words`, as XML."""
    if words[:1] != ["fuse"]:
        raise ParameterError("--xml describes one command to 3D Slicer; write --xml fuse")
    given = [word.lower() for word in words[1:]]
    method = requested_method(given)
    if given not in ([], ["--method", method], [f"--method={method}"]):
        raise ParameterError(
            f"--xml fuse takes --method with one of {', '.join(METHODS)}, got {' '.join(given)!a}"
        )
    fuser = METHODS[method]
    module = Element("executable")
    for name, text in (
        ("category", "Segmentation.Consensus"),
        ("title", f"Consensus ({fuser.method})"),
        ("description", f"Fuse several readers' label maps into one. {fuser.summary}"),
        ("version", itk_consensus.__version__),
        ("license", "Apache-2.0"),
        ("contributor", "the authors of itk-consensus"),
    ):
        _child(module, name, text)
    _images(_group(module, "Images", "Inputs and outputs."), fuser)
    shared = {parameter.name for parameter in parameters_of(LabelFusionFilter)}
    own = [one for one in offered_parameters(fuser) if one.name not in shared]
    common = [one for one in offered_parameters(fuser) if one.name in shared]
    for label, parameters in ((f"Options of {fuser.method}", own), ("Common options", common)):
        if parameters:
            group = _group(module, label, "Empty fields keep their default.")
            group.set("advanced", "true")
            for parameter in parameters:
                _parameter(group, parameter)
    ElementTree.indent(module)
    return ElementTree.tostring(module, encoding="unicode", xml_declaration=True)


def _images(group: Element, fuser: type[LabelFusionFilter]) -> None:
    method = _add_element(group, "string", "method", "Method", "How to fuse.")
    method.set("hidden", "true")
    _child(method, "default", fuser.method)
    for number in range(1, _RATERS + 1):
        name = f"{RATER}{number}"
        text = "Label map of a rater; leave unused ones empty."
        rater = _add_element(group, "image", name, f"Reader {number}", text)
        rater.set("type", "label")
        _child(rater, "channel", "input")
    for name, label, kind, text in (
        ("output", "Consensus", "label", "The fused label map."),
        ("probability", "Probability", "scalar", "Probability of the foreground."),
    ):
        image = _add_element(group, "image", name, label, text)
        image.set("type", kind)
        _child(image, "channel", "output")
    mask = LabelFusionFilter.MaskImage
    image = _add_element(group, "image", "mask", "Mask", mask.doc)
    image.set("type", "label")
    _child(image, "channel", "input")


def _parameter(group: Element, parameter: Parameter[object]) -> None:
    """Add a parameter; an optional one becomes a string field, which may be left empty."""
    kind, default = parameter.kind, parameter.default
    flag = option_of(parameter).removeprefix("--").replace("-", "_")
    label = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", parameter.name)
    is_fixed = not callable(default) and default is not None
    is_fixed &= not isinstance(default, int) or default <= _LARGEST_INTEGER
    text = parameter.doc if is_fixed else f"{parameter.doc} [default: {text_of_default(parameter)}]"
    if is_fixed and isinstance(kind, (Boolean, Choice)):
        names = ("yes", "no") if isinstance(kind, Boolean) else kind.names
        shown = text_of_default(parameter)
        element = _add_element(group, "string-enumeration", flag, label, text)
        _child(element, "default", shown)
        for name in names:
            _child(element, "element", name)
    elif is_fixed and isinstance(kind, (Integer, Real)):
        tag = "integer" if isinstance(kind, Integer) else "double"
        element = _add_element(group, tag, flag, label, text)
        _child(element, "default", f"{default:.12g}" if tag == "double" else str(default))
        _constraints(element, kind)
    elif not isinstance(kind, ImageLike):
        _add_element(group, "string", flag, label, text)


def _constraints(element: Element, kind: Integer | Real) -> None:
    low = kind.low
    high = None if kind.high is None or kind.high > _LARGEST_INTEGER else kind.high
    if low is None and high is None:
        return
    constraints = _child(element, "constraints")
    if low is not None:
        _child(constraints, "minimum", f"{low:.12g}")
    if high is not None:
        _child(constraints, "maximum", f"{high:.12g}")
    is_share = isinstance(kind, Real) and low is not None and high is not None and high - low <= 1
    _child(constraints, "step", "0.01" if is_share else "1")


def _group(module: Element, label: str, description: str) -> Element:
    group = _child(module, "parameters")
    _child(group, "label", label)
    _child(group, "description", description)
    return group


def _add_element(group: Element, tag: str, flag: str, label: str, description: str) -> Element:
    element = _child(group, tag)
    for name, text in (("name", flag), ("longflag", flag)):
        _child(element, name, text)
    _child(element, "description", description)
    _child(element, "label", label)
    return element


def _child(parent: Element, tag: str, text: str | None = None) -> Element:
    child = ElementTree.SubElement(parent, tag)
    child.text = text
    return child
