"""What a command's exit code says; 0 is success."""

from __future__ import annotations

#: Files that ``info`` compares differ, or cases of ``batch`` failed.
SOMETHING_FOUND = 1
FAILED = 2
INTERRUPTED = 130
