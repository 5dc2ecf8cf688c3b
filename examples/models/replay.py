"""Runs the archives of a folder with `run`, and compares the results with those that PyTorch recorded beside them.

    python3 examples/models/replay.py FOLDER [--program target/debug/run]

Prints the archives that do not run or whose error exceeds what their types explain, and fails if there are any.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The name of an archive tells whether it computes in 16-bit floats.
HALVES = re.compile(r"float16|regions|modes")


def difference(program, archive):
    """None if the outputs are close to the recorded ones, otherwise what is wrong."""
    outputs = archive.with_suffix(".outputs.safetensors")
    done = subprocess.run([program, archive, "--compare", outputs], capture_output=True, text=True)
    found = re.search(r"^largest difference.*: (\S+)$", done.stdout, re.M)
    if done.returncode != 0 or not found:
        return (done.stderr or done.stdout).strip()[:300]
    apart = float(found[1])
    return None if apart <= (2e-2 if HALVES.search(archive.name) else 3e-6) else f"off by {apart}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", default=ROOT / "target" / "debug" / "run", help="the binary `run`")
    options = parser.parse_args()
    archives = sorted(options.folder.glob("*.pt2"))
    wrong = {archive.name: apart for archive in archives if (apart := difference(options.program, archive))}
    for name, apart in wrong.items():
        print(f"{name}: {apart}")
    print(f"{len(archives) - len(wrong)} of {len(archives)} archives compute what PyTorch does")
    sys.exit(bool(wrong) or not archives)


if __name__ == "__main__":
    main()
