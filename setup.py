"""Build the compiled extension, and make the README's relative links absolute; all other settings
are in pyproject.toml.
"""

import os
import re
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path
from typing import Any

import nanobind
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

WINDOWS = os.name == "nt"
NANOBIND = Path(nanobind.include_dir()).parent
NANOBIND_FOLDERS = [
    str(NANOBIND / folder) for folder in ("include", "src", "ext/robin_map/include")
]

# Wheels built with Python 3.12 or later use the stable ABI of 3.12, so they also work with all
# later versions (except free-threaded builds).
STABLE_ABI = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")

# CI adds compiler warnings, and wrapping/kernels/sanitize.sh adds -fsanitize=..., through
# ITK_CONSENSUS_CXXFLAGS; both are off by default, because they slow down the build or the kernels.
EXTRA = os.environ.get("ITK_CONSENSUS_CXXFLAGS", "").split()

if WINDOWS:
    FLAGS = ["/std:c++17", "/EHsc", "/bigobj", "/O2"]
else:
    FLAGS = ["-std=c++17", "-fvisibility=hidden", "-g0", "-O3"]
    # Treat nanobind's headers as system headers, to suppress warnings from them.
    FLAGS += [word for folder in NANOBIND_FOLDERS for word in ("-isystem", folder)]

# nanobind's own sources are not performance-critical, and they cast between structs as CPython
# does, so they need -fno-strict-aliasing.
LIBRARY_FLAGS = [] if WINDOWS else ["-Os", "-fno-strict-aliasing"]


class BuildKernels(build_ext):
    """Compile the source files in parallel, on all cores."""

    def build_extensions(self) -> None:
        compile_in_turn = self.compiler.compile

        def compile_one(source: str, options: dict[str, Any]) -> list[str]:
            flags = list(options.pop("extra_postargs", None) or [])
            if Path(source).stem == "nanobind":
                flags += LIBRARY_FLAGS
            return compile_in_turn([source], **options, extra_postargs=flags)

        def compile_side_by_side(sources: list[str], **options: Any) -> list[str]:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = pool.map(lambda source: compile_one(source, dict(options)), sources)
                return [name for names in objects for name in names]

        self.compiler.compile = compile_side_by_side
        super().build_extensions()


def longest_first(sources: list[str]) -> list[str]:
    """Return the files sorted by decreasing size, so that all cores finish compiling at about the
    same time.
    """
    return sorted(sources, key=lambda source: -Path(source).stat().st_size)


KERNELS = "wrapping/kernels"

kernels = Extension(
    "itk_consensus._kernels",
    longest_first(glob(f"{KERNELS}/*.cpp")),
    include_dirs=[KERNELS, f"{KERNELS}/include", *(NANOBIND_FOLDERS if WINDOWS else [])],
    depends=sorted(glob(f"{KERNELS}/*.hpp") + glob(f"{KERNELS}/include/*.hpp")),
    define_macros=[("Py_LIMITED_API", "0x030C0000")] if STABLE_ABI else [],
    py_limited_api=STABLE_ABI,
    extra_compile_args=FLAGS + EXTRA,
    extra_link_args=[flag for flag in EXTRA if flag.startswith("-fsanitize")],
    language="c++",
)

# The README links to files and images in the repository. A package index needs absolute URLs (it
# does not display data URIs), so a release sets the address of the repository:
# ITK_CONSENSUS_URL=https://... make dist (see CONTRIBUTING.md).
address = os.environ.get("ITK_CONSENSUS_URL", "").rstrip("/")
readme = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
if address:
    relative = r"(?!https?:|#)"
    readme = re.sub(rf'(!\[[^\]]*\]\(|src="){relative}', rf"\1{address}/raw/HEAD/", readme)
    readme = re.sub(rf"(\]\(){relative}", rf"\1{address}/blob/HEAD/", readme)

setup(
    ext_modules=[kernels],
    cmdclass={"build_ext": BuildKernels},
    options={"bdist_wheel": {"py_limited_api": "cp312"}} if STABLE_ABI else {},
    long_description=readme,
    long_description_content_type="text/markdown",
    project_urls={"Repository": address} if address else {},
)
