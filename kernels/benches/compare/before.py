"""Measures two trees row by row, in turn, with one thread, and prints what each row takes.

usage: before.py BEFORE NOW ROUNDS [WORD...]: the program of each tree, and words that row names contain. The environment's SWEEP
takes calls.txt for the rows. Times are the best samples, which other work on the machine disturbs least. A row that is slower now is
measured again, and what it took at best in both runs counts.
"""

import json, os, subprocess, sys

import calls

MILLISECONDS = 60  # per row and round
SLOWER = 1.05


class Tree:
    """The program of one tree, which answers line by line."""

    def __init__(self, program):
        env = dict(os.environ, RAYON_NUM_THREADS="1")
        self.process = subprocess.Popen([program, "--serve"], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def best(self, name, milliseconds):
        self.process.stdin.write(f"{name}\t{milliseconds}\n")
        self.process.stdin.flush()
        return min(json.loads(self.process.stdout.readline()).get("ns") or [float("inf")])


def measure(name, trees, rounds, milliseconds):
    """The best sample of each tree; the order alternates between rounds."""
    best = [float("inf")] * len(trees)
    for turn in range(rounds):
        for side in (0, 1) if turn % 2 == 0 else (1, 0):
            best[side] = min(best[side], trees[side].best(name, milliseconds))
    return best


def rows(now, words):
    if os.environ.get("SWEEP"):
        listed = calls.rows()
    else:
        listed = subprocess.run([now, "--names"], text=True, capture_output=True, check=True).stdout.splitlines()
    return [name for name in listed if not words or any(word in name for word in words)]


def main(before, now, rounds, *words):
    trees, rounds, ratios = (Tree(before), Tree(now)), int(rounds), []
    print("| row | before, ns | now, ns | now / before |\n|---|---:|---:|---:|")
    for name in rows(now, words):
        then, today = measure(name, trees, rounds, MILLISECONDS)
        if today > SLOWER * then:
            again = measure(name, trees, 2 * rounds, 2 * MILLISECONDS)
            then, today = min(then, again[0]), min(today, again[1])
        if float("inf") in (then, today):
            print(f"| {name} | {then:.1f} | {today:.1f} | not measured |", flush=True)
            continue
        ratios.append(today / then)
        print(f"| {name} | {then:.1f} | {today:.1f} | {today / then:.2f} |", flush=True)
    slower = sum(ratio > SLOWER for ratio in ratios)
    middle = sorted(ratios)[len(ratios) // 2] if ratios else float("nan")
    print(f"\n{len(ratios)} rows, {slower} of them more than {SLOWER - 1:.0%} slower; the middle ratio is {middle:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
