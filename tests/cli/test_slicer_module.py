"""The description of a module for 3D Slicer, checked against the published schema."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import SimpleITK as sitk

import itk_consensus
from itk_consensus.cli import main
from itk_consensus.cli.options import offered_parameters, option_of
from itk_consensus.cli.slicer_flags import restore_option_spelling
from itk_consensus.cli.slicer_module import module_description
from itk_consensus.methods.registry import METHODS

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "slicer" / "ItkConsensus.py"

#: Content of CTK's ctkCmdLineModule.xsd: the children of each element, in order. A question mark
#: marks optional elements; a star marks optional elements that may be repeated.
HEAD = "category? title description version? documentation-url? license? contributor? "
CHILDREN = {
    "executable": HEAD + "acknowledgements? parameters parameters*",
    "string": "name longflag description label default? channel?",
    "string-enumeration": "name longflag description label default? channel? element element*",
    "integer": "name longflag description label default? channel? constraints?",
    "double": "name longflag description label default? channel? constraints?",
    "image": "name longflag description label default? channel?",
}
ATTRIBUTES = {
    "parameters": {"advanced"},
    "string": {"hidden", "multiple"},
    "string-enumeration": {"hidden"},
    "integer": {"hidden", "multiple"},
    "double": {"hidden", "multiple"},
    "image": {"hidden", "multiple", "fileExtensions", "type"},
}


def check(element: ElementTree.Element) -> None:
    """Raise an AssertionError unless an element conforms to the schema."""
    tag, names = element.tag, [child.tag for child in element]
    assert set(element.attrib) <= ATTRIBUTES.get(tag, set()), tag
    if tag == "parameters":
        assert names[:2] == ["label", "description"]
        assert len(names) > 2
        assert set(names[2:]) <= set(CHILDREN) - {"executable"}
    elif tag == "constraints":
        assert set(names) <= {"minimum", "maximum", "step"}
        assert names.count("step") == 1
        assert len(names) == len(set(names))
        assert all(np.isfinite(float(str(child.text))) for child in element)
    elif tag in CHILDREN:
        pattern = "".join(
            f"({re.escape(name.rstrip('?*'))} ){name[len(name.rstrip('?*')) :]}"
            for name in CHILDREN[tag].split()
        )
        assert re.fullmatch(pattern, "".join(f"{name} " for name in names)), (tag, names)
    else:
        assert not names, tag
    if tag == "name":
        assert re.fullmatch("[_a-zA-Z][_a-zA-Z0-9]*", str(element.text))
    if tag == "longflag":
        assert re.fullmatch("-?-?[_a-zA-Z][_a-zA-Z0-9]*", str(element.text))
    if tag == "channel":
        assert element.text in ("input", "output")
    if tag == "image":
        assert element.get("type") in ("scalar", "label", "vector")
    for child in element:
        check(child)


def described(method: str) -> ElementTree.Element:
    return ElementTree.fromstring(module_description(["fuse", "--method", method]))


@pytest.mark.parametrize("method", METHODS)
def test_the_description_of_every_method_is_as_the_schema_wants_it(method: str) -> None:
    module = described(method)
    check(module)
    names = [name.text for name in module.iter("name")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("words", ["--method nope", "--method", "--methd vote", "a.nii", "\0"])
def test_what_cannot_be_described_is_refused_not_described_as_something_else(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--xml", "fuse", *words.split(" ")]) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.startswith("itk-consensus: --xml fuse takes --method with one of")
    assert main(["--xml", "fuse", "--method=VOTE"]) == 0


@pytest.mark.parametrize("method", METHODS)
def test_every_option_is_described_with_its_default(method: str) -> None:
    module = described(method)
    flags = {
        str(element.findtext("longflag")): element
        for group in module.iter("parameters")
        for element in group
        if element.find("longflag") is not None
    }
    fuser = METHODS[method]()
    for parameter in offered_parameters(METHODS[method]):
        element = flags[option_of(parameter).removeprefix("--").replace("-", "_")]
        default = element.findtext("default")
        if element.tag == "integer":
            assert abs(int(str(default))) < 2**31  # Slicer stores it as a 32-bit integer
        if default is not None:
            given = type(fuser)(**{parameter.name: parameter.kind.parse(default)})
            assert getattr(given, parameter.name) == getattr(fuser, parameter.name)
        if element.tag == "string-enumeration":
            assert default in [one.text for one in element.findall("element")]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda module: module.remove(module.find("title")),
        lambda module: module.find("parameters").remove(module.find("parameters/label")),
        lambda module: module.find("parameters/image").append(ElementTree.Element("colour")),
        lambda module: setattr(module.find("parameters/image/longflag"), "text", "no-dashes"),
        lambda module: setattr(module.find("parameters/image/channel"), "text", "both"),
        lambda module: module.find("parameters/image").set("kind", "label"),
    ],
)
def test_the_check_finds_what_is_wrong(break_it: object) -> None:
    module = described("staple")
    break_it(module)  # type: ignore[operator]
    with pytest.raises(AssertionError):
        check(module)


def test_the_command_line_prints_the_description(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--xml", "fuse", "--method", "staple"]) == 0
    assert capsys.readouterr().out == module_description(["fuse", "--method", "staple"]) + "\n"
    assert main(["--xml", "band"]) == 2
    assert "write --xml fuse" in capsys.readouterr().err


def test_slicers_flags_become_options_and_inputs() -> None:
    words = ["fuse", "--method", "vote", "--rater_1", "a b", "--tie_rule=none", "--rater_12", "c"]
    assert restore_option_spelling([*words, "--", "--as_is"]) == [
        *("fuse", "a b", "c", "--method", "vote", "--tie-rule=none"),
        *("--", "--as_is"),
    ]


def masks(folder: Path) -> list[Path]:
    paths = []
    for number in range(3):
        array = np.zeros((4, 9, 9), np.uint8)
        array[1:3, 2 : 6 + number, 2:7] = 1
        paths.append(folder / f"reader {number}.nrrd")
        sitk.WriteImage(sitk.GetImageFromArray(array), str(paths[-1]))
    return paths


def test_what_slicer_would_run_gives_what_the_function_gives(tmp_path: Path) -> None:
    """As in Slicer, every value of the panel is passed, except empty texts and missing images."""
    paths, out = masks(tmp_path), tmp_path / "out.nrrd"
    module = described("vote")
    command = [sys.executable, str(EXAMPLE)]
    chosen = {f"rater_{n}": str(path) for n, path in enumerate(paths, start=1)}
    chosen["output"] = str(out)
    for element in module.iter():
        flag, value = element.findtext("longflag"), element.findtext("default") or ""
        if flag is not None and chosen.get(flag, value):
            command += [f"--{flag}", chosen.get(flag, value)]
    out.write_bytes(b"")  # Slicer may have created the file already
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = itk_consensus.MajorityVote([sitk.ReadImage(str(path)) for path in paths])
    np.testing.assert_array_equal(
        sitk.GetArrayFromImage(sitk.ReadImage(str(out))), sitk.GetArrayFromImage(expected)
    )


def test_the_example_describes_itself() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--xml"], capture_output=True, text=True, check=True
    )
    check(ElementTree.fromstring(done.stdout))
