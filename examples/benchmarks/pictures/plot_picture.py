"""The picture of Getting started in docs/: what `ic.plot` draws of the sample nodule.

python -m examples.benchmarks.pictures.plot_picture
"""

from __future__ import annotations

from pathlib import Path

import itk_consensus as ic

PICTURE = Path(__file__).resolve().parents[3] / "docs" / "start-plot.png"


def main() -> None:
    """Fuse the four readers of the sample nodule, and draw them."""
    images = ic.sample_case()
    consensus = ic.ConsensusFilter()
    consensus.Execute(images)
    names = ["anna", "ben", "chris", "dora"]
    # Matplotlib's version would make other bytes of the same picture.
    ic.plot(images, consensus, names=names).savefig(PICTURE, dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
