"""Results of a batch as a BIDS derivative dataset: file names and metadata files.

Cases with BIDS names (sub-01_ses-2_space-T1w) keep their entities; other case names become subject
labels. See the section "Derivatives: imaging" of the BIDS specification 1.10.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import itk_consensus
from itk_consensus.report.text import PROGRAM

DESCRIPTION = "dataset_description.json"
#: File that lists the package's own files, which do not belong to the BIDS dataset.
IGNORED = ".bidsignore"

_VERSION = "1.10.0"
_ENTITY = re.compile(r"[A-Za-z]+-[A-Za-z0-9+]+")
#: Entities that come last in BIDS names, in this order.
_LAST = ("space", "res", "den")
#: Entities of raters' files that do not apply to a fused label map; their values are put into
#: desc-.
_INTO_DESCRIPTION = ("label-", "desc-")


def stem_of(case: str) -> str:
    """Return the common beginning of a case's file names, made of entities."""
    words = case.split("_")
    entities = [word for word in words if _ENTITY.fullmatch(word)]
    if not case.startswith("sub-") or not entities:
        return f"sub-{re.sub(r'[^A-Za-z0-9]', '', case) or '0'}"

    def place(entity: str) -> int:
        key = entity.partition("-")[0]
        return _LAST.index(key) + 1 if key in _LAST else 0

    kept = (word for word in entities if not word.startswith(_INTO_DESCRIPTION))
    return "_".join(sorted(kept, key=place))


def description_of(case: str) -> str:
    """Return the value of desc-: "consensus", preceded by words that fit no entity, such as T2w."""
    words = case.split("_")[1:] if case.startswith("sub-") else []
    parts = (word.partition("-")[2] if "-" in word else word for word in words
            if word.startswith(_INTO_DESCRIPTION) or not _ENTITY.fullmatch(word))  # fmt: skip
    return "".join([*(re.sub(r"[^A-Za-z0-9]", "", word) for word in parts), "consensus"])


def folder_of(case: str) -> str:
    """Return the folder of a case's files, e.g. sub-01/anat or sub-01/ses-2/anat."""
    entities = stem_of(case).split("_")
    session = [entity for entity in entities if entity.startswith("ses-")]
    return "/".join([entities[0], *session[:1], "anat"])


def name_of(case: str, suffix: str) -> str:
    """Return the name of a case's file, e.g. sub-01_desc-consensus_dseg.nii.gz."""
    return f"{stem_of(case)}_desc-{description_of(case)}_{suffix}"


def description() -> str:
    """Return the text of dataset_description.json."""
    content = {
        "Name": "Consensus of several raters",
        "BIDSVersion": _VERSION,
        "DatasetType": "derivative",
        "GeneratedBy": [{"Name": PROGRAM, "Version": itk_consensus.__version__}],
    }
    return json.dumps(content, indent=2) + "\n"


def ignore_file() -> str:
    """Return the text of .bidsignore."""
    lines = ("*.html", "*.csv", "*.xlsx", "batch.json", "cases.json", "*_case.json")
    return "\n".join([*lines, "*_agreement.json", "*_thumbnail.png"]) + "\n"


def sidecar(labels: list[int], names: Mapping[int, str], raters: list[str], method: str) -> str:
    """Return the JSON sidecar of a probability map, which states the label of each volume."""
    content: dict[str, Any] = {
        "LabelMap": [names.get(label, str(label)) for label in labels],
        "Description": f"{method} of {', '.join(raters)}",
        "Manual": False,
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
