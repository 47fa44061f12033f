"""Names of labels, from the command line and from other programs' files."""

from __future__ import annotations

from pathlib import Path

import pytest

from itk_consensus.core.errors import ConsensusError
from itk_consensus.images.label_names import label_names

LIVER_AND_SPLEEN = {1: "liver", 2: "spleen, whole"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'label,organ\n1,liver\n2,"spleen, whole"\n'),
        ("dseg.tsv", "index\tname\tcolor\n1\tliver\t#f00\n2\tspleen, whole\t#0f0\n"),
        ("dataset.json", '{"labels": {"background": 0, "liver": 1, "spleen, whole": 2, "x": [1]}}'),
        ("names.json", '{"1": "liver", "2": "spleen, whole"}'),
        ("snap.txt", '# ITK-SNAP\n 1  255 0 0  1  1 1 "liver"\n 2 0 9 0 0.5 1 1 "spleen, whole"\n'),
    ],
)  # fmt: skip
def test_files_of_other_programs_are_read(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    found = label_names(str(tmp_path / name))
    found.pop(0, None)
    assert found == LIVER_AND_SPLEEN


def test_names_are_given_in_words() -> None:
    assert label_names("1=liver, 12 = left kidney") == {1: "liver", 12: "left kidney"}


#: Issue 44: it caused an unexpected csv.Error.
BINARY = "index,name\n" + "x" * 200_000


@pytest.mark.parametrize(
    "content", ["", "a,b\n1,2\n", "{", "[1]", "index,name\nx,y\n", "\0\1", BINARY]
)
def test_other_files_are_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(content)
    with pytest.raises(ConsensusError, match="holds no label names"):
        label_names(str(path))
    with pytest.raises(ConsensusError, match="must be 1=NAME,2=NAME or a file"):
        label_names(str(tmp_path / "nothing"))
    with pytest.raises(ConsensusError, match="label 1 has two names"):
        label_names("1=a,1=b")
