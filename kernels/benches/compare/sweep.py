"""Which operators are slower than PyTorch's? Measures calls of calls.txt on both sides, in turn, and prints the slowest.

usage: sweep.py OURS THREADS BELOW [WORD...]: our program, the threads of each side, the ratio (PyTorch's time over ours, by best
samples) below which a row is printed, and words that rows contain.
Arguments of a few elements show what a call costs: ours by name through the dispatcher, PyTorch's from Python, so that 1 is
no goal there.
"""

import sys

import calls, compare, torch

DTYPES = dict(
    f32=torch.float32, f64=torch.float64, f16=torch.float16, bf16=torch.bfloat16, c64=torch.complex64,
    i64=torch.int64, i32=torch.int32, u8=torch.uint8, bool=torch.bool,
)
compare.BUDGET = 15
compare.SAMPLE = 200_000


def tensor(word):
    kind, rest = word.split("[", 1)
    sizes, marks = rest.split("]", 1)
    sizes, dtype = [int(size) for size in sizes.split(",") if size], DTYPES[kind]
    if "/" in marks:
        sizes[-1] *= 2
    if dtype == torch.bool:
        found = torch.randn(sizes) > 0
    elif not (dtype.is_floating_point or dtype.is_complex):
        below = int(marks.split("<")[1]) if "<" in marks else 0
        found = torch.randint(0 if below else 1, below or 10, sizes).to(dtype)
    else:
        found = (torch.rand(sizes) * 0.8 + 0.1).to(dtype) if "+" in marks else torch.randn(sizes, dtype=dtype)
    if "'" in marks:
        return found.transpose(-1, -2)
    if "^" in marks:
        return found.transpose(1, 2)
    if "/" in marks:
        return found.chunk(2, -1)[0]
    return found.contiguous(memory_format=torch.channels_last) if "@" in marks else found


def value(word):
    if word[0] == "{":
        return [tensor(each) for each in word[1:-1].split(";")]
    if word in DTYPES:
        return DTYPES[word]
    if "[" in word and word[0] != "[":
        return tensor(word)
    return eval(word, {"none": None, "true": True, "false": False})


class PyTorch(compare.PyTorch):
    def measure(self, name):
        if name != self.name:
            operator, *words = name.split()
            operator, _, overload = operator.removeprefix("aten::").partition(".")
            operator = getattr(getattr(torch.ops.aten, operator), overload or "default")
            named = dict((word.split("=")[0], value(word.split("=")[1])) for word in words if "=" in word)
            values = [value(word) for word in words if "=" not in word]
            self.name, self.call = name, lambda: operator(*values, **named)
        return {"ns": compare.samples(self.call)}


def main(ours, threads, below, *words):
    torch.set_num_threads(int(threads))
    sides = {"ours": compare.Other(threads, ours, "--serve"), "python": PyTorch()}
    found, failed = [], []
    for name in calls.rows():
        if words and not any(word in name for word in words):
            continue
        ns = {}
        for side, measurer in sides.items():
            try:
                answer = measurer.measure(name)
                ns[side] = min(answer["ns"])
            except Exception as error:  # a call that one side rejects is a row to fix, not a reason to stop
                failed.append((name, side, answer.get("error", error) if side == "ours" else error))
        if len(ns) == 2:
            found.append((ns["python"] / ns["ours"], name, ns))
    print("| call | ours | PyTorch | ratio |\n|---|---:|---:|---:|")
    for ratio, name, ns in sorted(found):
        if ratio < float(below):
            print(f"| {name} | {compare.human(ns['ours'])} | {compare.human(ns['python'])} | {ratio:.2f} |")
    print(f"\n{sum(ratio < float(below) for ratio, *_ in found)} of {len(found)} calls are below {below}")
    for name, side, error in failed:
        print(f"not measured: {name}: {side}: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    with torch.inference_mode():
        main(*sys.argv[1:])
