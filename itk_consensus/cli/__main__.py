"""``python -m itk_consensus.cli``."""

from __future__ import annotations

import sys

from itk_consensus.cli import main

if __name__ == "__main__":
    sys.exit(main())
