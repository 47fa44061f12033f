"""The compiled extension; everything else about the package is in pyproject.toml."""

import os
from glob import glob

from pybind11.setup_helpers import Pybind11Extension, build_ext
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

setup(ext_modules=[kernels], cmdclass={"build_ext": build_ext})
