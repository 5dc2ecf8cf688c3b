"""Builds a wheel of the crate in this folder, for `pip install .` and `pip wheel .`: a PEP 517 backend that needs only cargo.

The package is the folder with the crate's name, plus the library, a stub for editors and docstrings. No PyTorch is needed.
"""

import base64
import contextlib
import ctypes
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).parent
HEADER = '''# Written by build_wheel.py from the schemas and the documentation of the operators. Not to be edited.
from collections.abc import Sequence
from typing import Any, overload

import torch
from torch import Tensor
from torch.types import Number

operators: list[dict[str, Any]]

def opcheck(samples: dict[str, list[tuple[Any, ...]]], **options: Any) -> int: ...
def report() -> list[str]: ...
'''
DECLARED = re.compile(r"((?:^[ \t]*///.*\n)+)(?:^[ \t]*#\[.*\]\n)*^[ \t]*([A-Za-z_]\w*(?:\.\w+)?)\(", re.M)


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout


def package():
    """The package in this folder, by cargo's metadata, and the target folder."""
    found = json.loads(cargo("metadata", "--format-version=1", "--no-deps"))
    return found["packages"][0], pathlib.Path(found["target_directory"])


def build():
    """Builds the library, and returns its path."""
    crate, target = package()
    cargo("build", "--release")
    suffix = ".dylib" if sys.platform == "darwin" else ".so"
    return target / "release" / f"lib{crate['name'].replace('-', '_')}{suffix}"


def documentation():
    """The documentation above the declarations in the Rust sources, by name and overload."""
    found = {}
    for path in sorted((HERE / "src").rglob("*.rs")):
        for comment, name in DECLARED.findall(path.read_text("utf-8")):
            found[name] = "\n".join(line.strip()[3:].removeprefix(" ") for line in comment.splitlines())
    return found


@contextlib.contextmanager
def quiet():
    """Silences standard error."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def stub(library):
    """The text of `__init__.pyi`, and the docstrings by name."""
    with quiet():  # the library warns that PyTorch is not loaded
        loaded = ctypes.CDLL(str(library))
    loaded.torch_library_signatures.restype = ctypes.c_char_p
    lines, docs, above = [HEADER], {}, documentation()
    for operator in json.loads(loaded.torch_library_signatures()):
        name, overloads = operator["name"], operator["overloads"]
        texts = []
        for overload in overloads:
            dot = "." if overload["overload"] else ""
            text = above.get(f"{name}{dot}{overload['overload']}", "")
            texts.append(f"{name}{overload['signature']}\n\n{text}".rstrip())
            lines.append("@overload\n" * (len(overloads) > 1) + f"def {name}{overload['signature']}:")
            lines.append(f"    {json.dumps(text, ensure_ascii=False)}\n" if text else "    ...\n")
        docs[name] = "\n\n".join(texts)
    return "\n".join(lines), docs


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The PEP 517 hook. The setting `library` names a library that has been built already."""
    crate, _ = package()
    built = (config_settings or {}).get("library")
    name, library = crate["name"].replace("-", "_"), pathlib.Path(built) if built else build()
    pyi, docs = stub(library)
    files = {f"{name}/{path.name}": path.read_bytes() for path in sorted((HERE / name).glob("*.py"))}
    files[f"{name}/{library.name}"] = library.read_bytes()
    files[f"{name}/__init__.pyi"] = pyi.encode()
    files[f"{name}/docs.json"] = json.dumps(docs, ensure_ascii=False, indent=0).encode()
    files[f"{name}/py.typed"] = b""
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    info, tag = f"{name}-{crate['version']}.dist-info", f"py3-none-{platform}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {crate['version']}\nRequires-Dist: torch>=2.10\n"
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record = [f"{path},sha256={digest(data)},{len(data)}" for path, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    wheel = f"{name}-{crate['version']}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


if __name__ == "__main__":
    print(build_wheel(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")))
