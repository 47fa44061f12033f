"""Run ANTs's joint label fusion in another interpreter, which has antspyx installed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Program for the other environment, which reads images and writes labels, seconds and bytes. The
#: function of ANTs ignores the background when it chooses a label, so the remaining probability is
#: assigned to the background. Its own similarity measure normalises only one of the two patches;
#: correlation is the default of the command-line program.
PROGRAM = """
import json, resource, sys, time
import ants, numpy as np
folder, settings = sys.argv[1], json.loads(sys.argv[2])
case = np.load(folder + "/case.npz")
image = lambda array: ants.from_numpy(np.ascontiguousarray(array).astype("float32"))
target, mask = image(case["target"]), image(case["mask"])
images, maps = [image(a) for a in case["images"]], [image(a) for a in case["maps"]]
before, wall, processor = (
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter(), time.process_time())
fused = ants.joint_label_fusion(
    target, mask, images, beta=settings["beta"], rad=settings["patch"], label_list=maps,
    rho=settings["alpha"], r_search=settings["search"], usecor=True)
found = {
    "wall": time.perf_counter() - wall, "processor": time.process_time() - processor,
    "bytes": 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before),
    "version": ants.__version__}
shares = [one.numpy() for one in fused["probabilityimages"]]
winners = np.argmax([1 - np.sum(shares, axis=0), *shares], axis=0)
labels = np.array([0, *fused["segmentation_numbers"]])[winners] * (case["mask"] > 0)
np.save(folder + "/labels.npy", labels.astype("uint16"))
print(json.dumps(found))
"""


class AntsFusion(NamedTuple):
    """Labels computed by ANTs, and the run time and memory required."""

    labels: NDArray[Any]
    wall: float  #: seconds
    processor: float  #: seconds, summed over all threads
    bytes: int  #: increase of the peak memory
    version: str


def ants_fusion(
    python: str,
    target: NDArray[Any],
    images: Any,
    maps: Any,
    mask: NDArray[Any],
    threads: int,
    **settings: float,
) -> AntsFusion:
    """Fuse labels in another interpreter; `settings` are patch, search, beta and alpha."""
    environment = os.environ | {"ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": str(threads)}
    with TemporaryDirectory() as folder:
        arrays = {"target": target, "images": np.stack(images), "maps": np.stack(maps)}
        np.savez(Path(folder) / "case.npz", mask=mask, **arrays)
        command = [python, "-c", PROGRAM, folder, json.dumps(settings)]
        said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        found = json.loads(said.stdout.splitlines()[-1])
        return AntsFusion(np.load(Path(folder) / "labels.npy"), **found)
