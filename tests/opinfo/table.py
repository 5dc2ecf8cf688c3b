"""Prints the table of coverage of PyTorch's operator tests: replays rows that `rows.py` wrote, by `oracle`.

    python tests/opinfo/table.py FOLDER... [--oracle target/debug/oracle] > docs/opinfo.md
"""

import argparse
import collections
import gzip
import json
import pathlib
import re
import subprocess

HEAD = """# PyTorch's operator tests

What passes of the rows that [`tests/opinfo`](../tests/opinfo) writes from PyTorch's own operator tests (`op_db` of PyTorch {version}): calls with
results to the last stride, aliases and gradients, and inputs that must be refused. Printed by `tests/opinfo/table.py`; do not edit.

{rows} rows of {entries} entries: {passed} passed, {failed} failed, {skipped} skipped because the operator has no kernel. {missing} overloads that the
tests reach are not declared here, and their rows are not written.
"""


def replay(oracle, folder):
    """The rows of a folder, and the operators and entries of those that failed and that were skipped."""
    with gzip.open(folder / "kernels.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    output = subprocess.run([oracle, folder, "kernels", "--json"], capture_output=True, text=True).stdout
    report = json.loads(output.splitlines()[-1])
    failed = collections.Counter(tuple(failure["row"].split(" ")[:2]) for failure in report["failures"])
    skipped = collections.Counter(row.split(" ")[1] for row in report["skipped_rows"])
    return rows, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--oracle", default="target/debug/oracle")
    options = parser.parse_args()
    total, failed, skipped = collections.Counter(), collections.Counter(), collections.Counter()
    failing, missing = collections.defaultdict(set), collections.Counter()
    for folder in options.folders:
        rows, failures, skips = replay(options.oracle, folder)
        for row in rows:
            total[row["tag"].split(" ")[0]] += 1
        skipped += skips
        for (operator, entry), count in failures.items():
            failed[entry] += count
            failing[entry].add(operator.removeprefix("aten::"))
        for line in (folder / "missing.txt").read_text().splitlines():
            if match := re.fullmatch(r"(\S+) (\d+)", line):
                missing[match[1]] += int(match[2])
    every = sum(total.values())
    print(HEAD.format(version="2.15.0", rows=every, entries=len(total), failed=sum(failed.values()),
                      passed=every - sum(failed.values()) - sum(skipped.values()), skipped=sum(skipped.values()),
                      missing=len(missing)))
    print("| entry | rows | passed | failed | skipped | operators that fail |\n|---|---:|---:|---:|---:|---|")
    for entry in sorted(total):
        rows, bad, left = total[entry], failed[entry], skipped[entry]
        names = ", ".join(f"`{name}`" for name in sorted(failing[entry]))
        print(f"| `{entry}` | {rows} | {rows - bad - left} | {bad or ''} | {left or ''} | {names} |")
    print("\n## Not declared\n\nWith how many entries reach each.\n")
    print(", ".join(f"`{name}` {count}" for name, count in sorted(missing.items(), key=lambda pair: (-pair[1], pair[0]))))


if __name__ == "__main__":
    main()
