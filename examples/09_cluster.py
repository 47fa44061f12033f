"""Fuse volumes larger than memory on several processes or machines, as dask arrays.

python examples/09_cluster.py
"""

from __future__ import annotations

import dask.array as da
import numpy as np
import SimpleITK as sitk
from distributed import Client, LocalCluster

import itk_consensus as ic

# To use the scheduler of another machine, only its address is needed:
#
#     dask scheduler                      on one machine, which prints tcp://10.0.0.1:8786
#     dask worker tcp://10.0.0.1:8786     on every other, with itk_consensus[dask] installed
#
#     with Client("tcp://10.0.0.1:8786"):
#         raters = [da.from_zarr(f"/shared/{name}.zarr") for name in ("ann", "bob", "eve")]
#         ic.STAPLE(raters).to_zarr("/shared/probability.zarr")
#
# or, from a shell, as a run that can be resumed:
#
#     itk-consensus fuse ann.zarr bob.zarr eve.zarr -o fused.zarr --scheduler tcp://10.0.0.1:8786


def main() -> None:
    """Fuse a sample case in chunks on two worker processes, and compare with fusion in memory."""
    arrays = [sitk.GetArrayFromImage(image) for image in ic.sample_case()]
    chunks = tuple(size // 2 + 1 for size in arrays[0].shape)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="localhost:0") as cluster,
        Client(cluster),
    ):
        raters = [da.from_array(array, chunks=chunks) for array in arrays]
        staple = ic.STAPLEImageFilter(NumberOfInitializations=20)
        probability = staple.Execute(raters)  # nothing has been computed yet
        print(f"promised: {probability.numblocks} chunks of {probability.dtype}")
        found = probability.compute()
        print("sensitivity:", *(f"{value:.3f}" for value in staple.GetSensitivity()))
    same = np.array_equal(found, staple.Execute(arrays))
    print(f"the same bits as in memory: {same}")


if __name__ == "__main__":
    main()
