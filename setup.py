"""The compiled extension and absolute links; everything else is in pyproject.toml."""

import os
import re
from glob import glob
from pathlib import Path

from pybind11.setup_helpers import ParallelCompile, Pybind11Extension, build_ext
from setuptools import setup

kernels = Pybind11Extension(
    "itk_consensus._kernels",
    sorted(glob("wrapping/*.cpp")),
    include_dirs=["wrapping", "wrapping/include"],
    depends=sorted(glob("wrapping/*.hpp") + glob("wrapping/include/*.hpp")),
    cxx_std=17,
)

# ITK_CONSENSUS_CXXFLAGS lets CI add -Werror and the sanitizer run add -fsanitize=...
# without either becoming a user's burden.
extra = os.environ.get("ITK_CONSENSUS_CXXFLAGS", "").split()
if os.name != "nt":
    kernels.extra_compile_args += ["-O3", "-Wall", "-Wextra"]
kernels.extra_compile_args += extra
kernels.extra_link_args += [flag for flag in extra if flag.startswith("-fsanitize")]

# Files compile side by side, on as many cores as there are.
ParallelCompile(default=0).install()

# The README shows and links files of the repository; a package index needs their addresses, and
# shows no image that is data. A release says where the repository is published (CONTRIBUTING.md):
# ITK_CONSENSUS_URL=https://... make dist.
address = os.environ.get("ITK_CONSENSUS_URL", "").rstrip("/")
readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
if address:
    relative = r"(?!https?:|#)"
    readme = re.sub(rf'(!\[[^\]]*\]\(|src="){relative}', rf"\1{address}/raw/HEAD/", readme)
    readme = re.sub(rf"(\]\(){relative}", rf"\1{address}/blob/HEAD/", readme)

setup(
    ext_modules=[kernels],
    cmdclass={"build_ext": build_ext},
    long_description=readme,
    long_description_content_type="text/markdown",
    project_urls={"Repository": address} if address else {},
)
