"""Prints the coverage table of PyTorch's operator tests: replays rows written by `rows.py` with `oracle`.

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


class Count:
    """The numbers of rows, of failed ones and of skipped ones."""

    def __init__(self):
        self.rows, self.failed, self.skipped, self.dtypes = 0, 0, 0, set()

    @property
    def cells(self):
        passed = self.rows - self.failed - self.skipped
        return f"{self.rows} | {passed} | {self.failed or ''} | {self.skipped or ''}"


def dtypes(row):
    """The dtypes among the arguments of a row."""
    return set(re.findall(r'"tensor": {"dtype": "(\w+)"', json.dumps([row["args"], row["kwargs"]])))


def replay(oracle, folder):
    """The rows of a folder, and the operators and entries of failed and of skipped ones."""
    with gzip.open(folder / "kernels.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    output = subprocess.run([oracle, folder, "kernels", "--json"], capture_output=True, text=True).stdout
    report = json.loads(output.splitlines()[-1])
    name = re.compile(r"(\S+) (\S+)")
    failed = collections.Counter(name.match(failure["row"]).groups() for failure in report["failures"])
    skipped = collections.Counter(row.split(" ")[1] for row in report["skipped_rows"])
    return rows, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--oracle", default="target/debug/oracle")
    options = parser.parse_args()
    entries, operators = collections.defaultdict(Count), collections.defaultdict(Count)
    failing, missing = collections.defaultdict(set), collections.Counter()
    for folder in options.folders:
        rows, failures, skips = replay(options.oracle, folder)
        for row in rows:
            entries[row["tag"].split(" ")[0]].rows += 1
            operators[row["op"]].rows += 1
            if "error" not in row:
                operators[row["op"]].dtypes |= dtypes(row)
        for entry, count in skips.items():
            entries[entry].skipped += count
        for (operator, entry), count in failures.items():
            entries[entry].failed += count
            operators[operator].failed += count
            failing[entry].add(operator.removeprefix("aten::"))
        for line in (folder / "missing.txt").read_text().splitlines():
            if match := re.fullmatch(r"(\S+) (\d+)", line):
                missing[match[1]] += int(match[2])
    total = [sum(getattr(count, name) for count in entries.values()) for name in ("rows", "failed", "skipped")]
    print(HEAD.format(version="2.15.0", rows=total[0], entries=len(entries), failed=total[1],
                      passed=total[0] - total[1] - total[2], skipped=total[2], missing=len(missing)))
    print("| entry | rows | passed | failed | skipped | operators that fail |\n|---|---:|---:|---:|---:|---|")
    for entry in sorted(entries):
        names = ", ".join(f"`{name}`" for name in sorted(failing[entry]))
        print(f"| `{entry}` | {entries[entry].cells} | {names} |")
    print("\n## By operator\n\nThe same rows, and the element types among the arguments of calls that are not refused.\n")
    print("| operator | rows | passed | failed | skipped | element types |\n|---|---:|---:|---:|---:|---|")
    for operator in sorted(operators):
        types = ", ".join(sorted(operators[operator].dtypes))
        print(f"| `{operator.removeprefix('aten::')}` | {operators[operator].cells} | {types} |")
    print("\n## Not declared\n\nWith how many entries reach each.\n")
    print(", ".join(f"`{name}` {count}" for name, count in sorted(missing.items(), key=lambda pair: (-pair[1], pair[0]))))


if __name__ == "__main__":
    main()
