"""Time calls of other packages in an environment without this package.

Reads names of packages from stdin, one per line, and writes CPU times in seconds to stdout.
`peers.py` starts it with the folder of the inputs:

python peer_calls.py FOLDER
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS="1")

import numpy as np

#: Name of each package on PyPI.
PACKAGES = {
    "panoptica": "panoptica",
    "surface-distance": "surface-distance",
    "MONAI": "monai",
    "ANTs": "antspyx",
}


def panoptica_call(folder: Path) -> Callable[[], Any]:
    """Match the connected components of two masks with an IoU of at least one half."""
    panoptica = importlib.import_module("panoptica")
    evaluator = panoptica.Panoptica_Evaluator(
        expected_input=panoptica.InputType.SEMANTIC,
        instance_approximator=panoptica.ConnectedComponentsInstanceApproximator(),
        instance_matcher=panoptica.NaiveThresholdMatching(),
    )
    one, other = np.load(folder / "lesions.npy")
    return lambda: evaluator.evaluate(one, other, verbose=False)


def surface_distance_call(folder: Path) -> Callable[[], Any]:
    """Compute the 95th percentile of surface distances, and surface Dice."""
    peer = importlib.import_module("surface_distance")
    one, other = (mask.astype(bool) for mask in np.load(folder / "organ.npy"))

    def compare() -> tuple[float, float]:
        found = peer.compute_surface_distances(one, other, (1.0, 1.0, 1.0))
        return peer.compute_robust_hausdorff(found, 95), peer.compute_surface_dice_at_tolerance(
            found, 1.0
        )

    return compare


def monai_call(folder: Path) -> Callable[[], Any]:
    """Compute the same two measures in separate calls."""
    torch = importlib.import_module("torch")
    metrics = importlib.import_module("monai.metrics")
    torch.set_num_threads(1)
    one, other = (torch.from_numpy(mask)[None, None] for mask in np.load(folder / "organ.npy"))

    def compare() -> tuple[Any, Any]:
        return (
            metrics.compute_hausdorff_distance(one, other, include_background=True, percentile=95),
            metrics.compute_surface_dice(one, other, [1.0], include_background=True),
        )

    return compare


def ants_call(folder: Path) -> Callable[[], Any]:
    """Run joint label fusion."""
    ants = importlib.import_module("ants")
    atlases = [ants.from_numpy(image) for image in np.load(folder / "images.npy")]
    maps = [ants.from_numpy(labels.astype(np.uint32)) for labels in np.load(folder / "maps.npy")]
    target = ants.from_numpy(np.load(folder / "target.npy"))
    mask = ants.from_numpy(np.ones(target.shape, np.uint32))
    return lambda: ants.joint_label_fusion(
        target, mask, atlases, label_list=maps, rad=[2, 2, 2], r_search=0
    )


CALLS = {
    "panoptica": panoptica_call,
    "surface-distance": surface_distance_call,
    "MONAI": monai_call,
    "ANTs": ants_call,
}


def main() -> None:
    """Serve requests until the end of stdin."""
    folder, ready = Path(sys.argv[1]), dict[str, Callable[[], Any]]()
    answers, sys.stdout = sys.stdout, sys.stderr  # packages print to stdout
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            ready[name] = CALLS[name](folder)
            ready[name]()
        start = time.process_time()
        ready[name]()
        seconds = time.process_time() - start
        said = {"seconds": seconds, "version": version(PACKAGES[name])}
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    main()
