#!/usr/bin/env python-real
"""Panel for 3D Slicer that fuses several readers' label maps. See README.md."""

from __future__ import annotations

import sys

from itk_consensus.cli import main

if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main(["--xml", "fuse"] if words == ["--xml"] else ["fuse", "--overwrite", *words]))
