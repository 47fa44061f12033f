"""Draw the picture on the page "Getting started": `ic.plot` of the sample nodule.

python -m examples.benchmarks.pictures.plot_picture
"""

from __future__ import annotations

from pathlib import Path

import itk_consensus as ic

PICTURE = Path(__file__).resolve().parents[3] / "docs" / "start-plot.png"


def main() -> None:
    """Fuse and draw the four readers of the sample nodule."""
    images = ic.sample_case()
    consensus = ic.ConsensusFilter()
    consensus.Execute(images)
    names = ["anna", "ben", "chris", "dora"]
    # The metadata, which contain Matplotlib's version, are left out so that equal pictures have
    # equal bytes.
    ic.plot(images, consensus, names=names).savefig(PICTURE, dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
