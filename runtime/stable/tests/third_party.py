"""torchaudio's kernels for the CPU, without PyTorch, and what PyTorch computes by the same file.

`here LIBRARY RESULTS` loads it into `torch_library` alone and writes what it computes; `beside LIBRARY RESULTS` loads it into PyTorch,
compares, and then into `torch_library` in the same process.
"""

import sys

import numpy as np

numbers = np.random.default_rng(7)
frames, labels = 12, 5

LOGITS = numbers.standard_normal((1, frames, labels)).astype(np.float32)
LOG_PROBABILITIES = LOGITS - np.log(np.exp(LOGITS).sum(-1, keepdims=True))
TARGETS = np.array([[1, 3, 2, 2]], np.int32)
WAVEFORM = numbers.standard_normal((2, 1, 40)).astype(np.float64)
COEFFICIENTS = np.array([[0.25, -0.5, 1.0]], np.float64)
JOINT = numbers.standard_normal((2, 4, 3, labels)).astype(np.float32)
JOINT_TARGETS = np.array([[1, 2], [3, 1]], np.int32)


def computed(operators, of_numpy):
    """Each kernel on the same numbers: NumPy's arrays by name."""
    results = {}

    def keep(name, *tensors):
        for index, tensor in enumerate(tensors):
            results[f"{name}.{index}"] = np.array(tensor.numpy())

    of = lambda array: of_numpy(np.ascontiguousarray(array))
    lengths = of(np.array([frames], np.int64)), of(np.array([4], np.int64))
    keep("forced_align", *operators.forced_align(of(LOG_PROBABILITIES), of(TARGETS), *lengths, 0))

    padded = of(np.zeros((2, 1, 42)))
    written = operators._lfilter_core_loop(of(WAVEFORM), of(COEFFICIENTS), padded)
    keep("lfilter", padded, written)

    last_in, last_out, driven = of(np.zeros(2)), of(np.zeros(2)), of(np.zeros((2, 40)))
    flat = WAVEFORM[:, 0]
    operators._overdrive_core_loop(of(flat), of(np.tanh(flat)), last_in, last_out, driven)
    keep("overdrive", last_in, last_out, driven)

    lengths = of(np.array([4, 3], np.int32)), of(np.array([2, 2], np.int32))
    keep("rnnt", *operators.rnnt_loss_forward(of(JOINT), of(JOINT_TARGETS), *lengths, 0, -1.0, True))

    for name, arguments in [
        ("forced_align", (of(LOG_PROBABILITIES), of(TARGETS), of(np.array([2], np.int64)), of(np.array([4], np.int64)), 0)),
        ("forced_align", (of(LOGITS[0]), of(TARGETS), of(np.array([frames], np.int64)), of(np.array([4], np.int64)), 0)),
    ]:
        try:
            getattr(operators, name)(*arguments)
        except RuntimeError as error:
            results[f"error.{len(results)}"] = np.array(str(error).split(", ")[-1].splitlines()[0])
        else:
            raise AssertionError(f"{name} took what it has to refuse")
    return results


def in_torch_library(library):
    import torch_library

    names = torch_library.load_library(library)
    print(f"{library.split('/')[-1]} defines {', '.join(names)}")
    return computed(torch_library.ops.torchaudio, torch_library.from_numpy)


def compare(found, expected, where):
    assert found.keys() == expected.keys(), (found.keys(), expected.keys())
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=f"{name}, {where}")
    print(f"{len(expected)} results are PyTorch's, bit by bit: {where}")


def main(mode, library, file):
    if mode == "here":
        np.savez(file, **in_torch_library(library))
        with open("/proc/self/maps") as maps:
            assert "libtorch_cpu" not in maps.read(), "no PyTorch takes part"
        return
    import torch

    torch.ops.load_library(library)
    expected = computed(torch.ops.torchaudio, torch.from_numpy)
    compare(dict(np.load(file)), expected, "without PyTorch")
    compare(in_torch_library(library), expected, "beside PyTorch")
    compare(computed(torch.ops.torchaudio, torch.from_numpy), expected, "in PyTorch afterwards")


main(*sys.argv[1:])
