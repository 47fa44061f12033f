"""The list of errors and warnings is complete, and all texts are well formed."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "wrapping" / "writing"))

from list_messages import PACKAGE, error_classes, messages, sources


def test_every_error_and_warning_of_ours_is_listed() -> None:
    names = "|".join(sorted(error_classes()))
    calls = re.compile(rf"(?<![\w.`\"])(?:{names})\(|(?<=\.)(?:_warn|_parameter_error)\(")
    found: Counter[str] = Counter()
    for path in sources():
        text = re.sub(r'"""[\s\S]*?"""', "", path.read_text(encoding="utf-8"))
        lines = [
            line for line in text.splitlines() if not line.lstrip().startswith(("class ", "#"))
        ]
        file = str(path.relative_to(PACKAGE.parent))
        found[file] += sum(len(calls.findall(line)) for line in lines)
    assert +found == Counter(message.file for message in messages())


def test_a_message_is_words_and_ends_without_a_full_stop_or_exclamation() -> None:
    for message in messages():
        assert not message.text.endswith(("!", "\n")), message
        assert "  " not in message.text, message
