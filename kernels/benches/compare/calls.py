"""The calls of calls.txt, each with its sizes."""

from pathlib import Path


def rows():
    for line in Path(__file__).with_name("calls.txt").read_text().splitlines():
        if "|" in line:
            names, arguments = line.split("|")
            for small, large in (("64", "8"), (str(1 << 20), "1024")) if {"N", "M"} & set(arguments) else [("", "")]:
                for name in names.split():
                    yield f"aten::{name} {arguments.strip().replace('N', small).replace('M', large)}"
