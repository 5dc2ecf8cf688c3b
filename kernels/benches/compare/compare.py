"""Measures both sides row by row, in turn, and prints one table.

usage: compare.py OURS SMALL CANDLE ROUNDS [WORD...]: our program, those of small.cpp and of candle (or ''), and words that row names
contain.
The ratio is PyTorch's time over ours: above 1 we are faster. Where there is a C++ time, the ratio is to that. Times are medians;
the last ratio is that of the best samples, which other work on the machine disturbs less.
"""

import ctypes, json, os, statistics, subprocess, sys, time

import torch
from rows import ROWS

BUDGET = 60  # milliseconds per row and round
SAMPLE = 500_000  # minimum length of a sample in nanoseconds


class Other:
    """A side in another process, which answers line by line."""

    def __init__(self, threads, *command):
        env = dict(os.environ, RAYON_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def measure(self, name):
        self.process.stdin.write(f"{name}\t{BUDGET}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class PyTorch:
    """The side that runs in this process."""

    name = call = None

    def measure(self, name):
        if name != self.name:
            self.call = None  # frees its memory before the next row
            self.name, self.call = name, ROWS[name]()
            self.peak = peak(self.call)
        return {"ns": samples(self.call), "peak": self.peak}


def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def peak(call):
    """The growth of the process in bytes during the first call."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = status("VmRSS:")
    call()
    return max(0, status("VmHWM:") - before)


def samples(call):
    call()
    calls = 1
    while timed(call, calls) < SAMPLE:
        calls *= 2
    found, end = [], time.perf_counter() + BUDGET / 1000
    while len(found) < 3 or time.perf_counter() < end:
        found.append(timed(call, calls) / calls)
    return found


def timed(call, calls):
    start = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return time.perf_counter_ns() - start


def human(ns):
    return f"{ns:.0f} ns" if ns < 1e4 else f"{ns / 1e3:.0f} µs" if ns < 1e7 else f"{ns / 1e6:.1f} ms"


def memory(peak):
    return f"{peak / (1 << 20):.1f}" if peak >= 1 << 18 else ""


def compare(name, sides, rounds):
    """Samples and peak of each side, which take turns."""
    found = {side: [] for side in sides}
    peaks = {}
    for _ in range(rounds):
        for side, measurer in sides.items():
            answer = measurer.measure(name)
            if "error" in answer:
                sys.exit(f"{name}: {answer['error']}")
            found[side] += answer.get("ns", [])
            peaks.setdefault(side, answer.get("peak", 0))
    found = {side: ns for side, ns in found.items() if ns}
    return {side: statistics.median(ns) for side, ns in found.items()}, {side: min(ns) for side, ns in found.items()}, peaks


def main(ours, small, candle, rounds, *words):
    head = ["row", "threads", "ours", "PyTorch", "from C++", "ratio", "of the best", "peak, MiB", "PyTorch's"]
    head += ["candle", "its ratio"] if candle else []
    print("|", " | ".join(head), "|")
    print("|---|" + "---:|" * (len(head) - 1))
    listed = subprocess.run([ours, "--names"], text=True, capture_output=True, check=True).stdout.splitlines()
    if set(listed) != set(ROWS):
        sys.exit(f"rows.rs and rows.py differ in {sorted(set(listed) ^ set(ROWS))}")
    for threads in (1, 2):
        torch.set_num_threads(threads)
        sides = {"ours": Other(threads, ours, "--serve"), "python": PyTorch()}
        if small:
            sides["c++"] = Other(threads, small)
        if candle:
            sides["candle"] = Other(threads, candle, "--serve")
        for name in listed:
            if not words or any(word in name for word in words):
                ns, best, peaks = compare(name, sides, int(rounds))
                ratio, best = (times.get("c++", times["python"]) / times["ours"] for times in (ns, best))
                cells = [name, str(threads), *(human(ns[side]) if side in ns else "" for side in ("ours", "python", "c++"))]
                cells += [f"{ratio:.2f}", f"{best:.2f}", memory(peaks["ours"]), memory(peaks["python"])]
                if candle:
                    cells += [human(ns["candle"]), f"{ns['candle'] / ns['ours']:.2f}"] if "candle" in ns else ["", ""]
                print("|", " | ".join(cells), "|", flush=True)
        for side in sides.values():
            if isinstance(side, Other):
                side.close()


if __name__ == "__main__":
    with torch.inference_mode():
        main(*sys.argv[1:])
