"""The two parts of the build that pyproject.toml cannot describe: the Cython extensions and the protobuf modules.

Environment variables choose a variant of the extensions; each variant is built in a folder of its own:

``ARRASTRE_CHECKED=1``
    Bounds and initialisation of memory views and containers, and assertions, are checked.
``ARRASTRE_SANITIZE=address,undefined``
    Assertions and the compiler's sanitizers check instead.

Both also build ``arrastre._planted``: faults that they must see. ``tests/variants/run`` builds and tests them.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

CHECKED = os.environ.get("ARRASTRE_CHECKED", "") not in ("", "0")
SANITIZERS = os.environ.get("ARRASTRE_SANITIZE", "")
VARIANT = "-".join(["checked"] * CHECKED + SANITIZERS.split(",") * bool(SANITIZERS)) or "release"
BUILD = Path("build") if VARIANT == "release" else Path("build", VARIANT)

# The one place for compiler directives: no .pyx or .pxd sets any of these for itself. overflowcheck is never one of
# them: it raises without holding the GIL where there is none, and takes a bit that a shift drops from a card set for an
# overflow. Overflow is UBSan's business.
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "initializedcheck": CHECKED,
    "wraparound": False,
    "cdivision": True,
}

COMPILE = ["-std=c++17", "-g"]
LINK: list[str] = []
MACROS: list[tuple[str, str | None]] = []
if SANITIZERS:
    # -O1 keeps the stack traces readable; a fault ends the process, so that no test can pass over it.
    # Python's own flags make signed overflow wrap around, which would leave UBSan nothing to find.
    COMPILE += [f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-fno-wrapv"]
    LINK += [f"-fsanitize={SANITIZERS}"]
if CHECKED or SANITIZERS:
    COMPILE += ["-O1", "-UNDEBUG"]
    MACROS += [("ARRASTRE_CHECKED", "1"), ("_GLIBCXX_ASSERTIONS", "1")]
else:
    COMPILE += ["-O3"]
    MACROS += [("CYTHON_WITHOUT_ASSERTIONS", "1")]


def extensions() -> list[Extension]:
    """One extension for each .pyx under solver/; any .pxd or header there makes all of them out of date."""
    solver = Path("solver")
    headers = sorted(str(path) for pattern in ("*.pxd", "*.pxi", "*.h", "*.hpp") for path in solver.rglob(pattern))
    sources = {
        ".".join(("arrastre", *path.relative_to(solver).with_suffix("").parts)): path
        for path in sorted(solver.rglob("*.pyx"))
    }
    if VARIANT != "release":
        sources["arrastre._planted"] = Path("tests", "variants", "planted.pyx")
    return [
        Extension(
            name,
            [str(path)],
            depends=headers,
            include_dirs=[str(solver)],
            define_macros=MACROS,
            extra_compile_args=COMPILE,
            extra_link_args=LINK,
            language="c++",
        )
        for name, path in sources.items()
    ]


class Build(build):
    """Builds the protobuf modules first, and keeps each variant's object files apart."""

    def initialize_options(self) -> None:
        """Build in the variant's folder, unless a command line says otherwise."""
        super().initialize_options()
        self.build_base = str(BUILD)

    sub_commands: ClassVar = [("build_proto", None), *build.sub_commands]


class BuildExt(build_ext):
    """Runs Cython on the extensions, then the compiler."""

    def build_extensions(self) -> None:
        """Translate all modules at once, into the build folder, and compile what changed."""
        from Cython.Build import cythonize
        from Cython.Compiler import Options

        # Given to cythonize() they would not reach the inline functions of a .pxd; defaults do.
        Options.get_directive_defaults().update(DIRECTIVES)
        # Cython looks for a .pxd by its import path, and in the source tree there is no folder called arrastre.
        cimport = Path("build", "cimport")
        cimport.mkdir(parents=True, exist_ok=True)
        link, target = cimport / "arrastre", Path("..", "..", "solver")
        if not link.is_symlink() or link.readlink() != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target, target_is_directory=True)

        translated = cythonize(
            self.extensions,
            build_dir=str(BUILD / "cython"),
            include_path=[str(cimport)],
        )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        self.parallel = self.parallel or os.cpu_count()
        super().build_extensions()


class BuildProto(Command):
    """Generates the protobuf and gRPC modules, and their type stubs, beside the .proto files."""

    description = "generate Python modules from the .proto files"
    user_options: ClassVar[list[tuple[str, str | None, str]]] = []
    # Set by setuptools for every sub-command of build.
    editable_mode = False
    build_lib: str | None = None

    def initialize_options(self) -> None:
        """Nothing to choose."""

    def finalize_options(self) -> None:
        """Nothing to choose."""

    def run(self) -> None:
        """Call protoc; the proto path is the import path, so that the imports come out right."""
        protos = self.get_source_files()
        if not protos:
            return
        from grpc_tools import protoc

        # The plugins that write the stubs are in the build environment, whose scripts may not be on the PATH.
        scripts = os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()])
        plugins = {name: shutil.which(f"protoc-gen-{name}", path=scripts) for name in ("mypy", "mypy_grpc")}
        # Where google/rpc/status.proto is, and google/protobuf/any.proto.
        common = Path(next(iter(import_module("google.rpc").__path__))).parent.parent
        builtin = Path(str(protoc.__file__)).with_name("_proto")
        arguments = [
            "protoc",
            "-Iproto",
            f"-I{common}",
            f"-I{builtin}",
            "--python_out=proto",
            "--grpc_python_out=proto",
        ]
        arguments += [f"--plugin=protoc-gen-{name}={path}" for name, path in plugins.items()]
        arguments += [f"--{name}_out=quiet:proto" for name in plugins]
        if protoc.main([*arguments, *protos]) != 0:
            raise SystemExit("protoc failed")

    def get_source_files(self) -> list[str]:
        """The .proto files."""
        return sorted(str(path) for path in Path("proto").rglob("*.proto"))

    def get_outputs(self) -> list[str]:
        """Nothing in the build folder: build_py copies the generated modules like any other."""
        return []

    def get_output_mapping(self) -> dict[str, str]:
        """See :meth:`get_outputs`."""
        return {}


setup(
    ext_modules=extensions(),
    cmdclass={"build": Build, "build_ext": BuildExt, "build_proto": BuildProto},
)
