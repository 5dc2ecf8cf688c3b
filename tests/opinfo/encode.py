"""Converts PyTorch's values to the rows' notation, and back.

A tensor is written with its whole storage, so that a row can be replayed from the row alone. Every number is written
with as few digits as give the same number of its dtype again.
"""

import numpy as np
import torch

DTYPES = {
    torch.float32: "float32", torch.float64: "float64", torch.float16: "float16", torch.bfloat16: "bfloat16",
    torch.complex64: "complex64", torch.complex128: "complex128", torch.bool: "bool", torch.uint8: "uint8",
    torch.int8: "int8", torch.int16: "int16", torch.int32: "int32", torch.int64: "int64",
}
# Apart from the others, because few operators take them: `changed.py` picks any of the others for a tensor.
FLOAT8 = {
    torch.float8_e4m3fn: "float8_e4m3fn", torch.float8_e5m2: "float8_e5m2", torch.float8_e4m3fnuz: "float8_e4m3fnuz",
    torch.float8_e5m2fnuz: "float8_e5m2fnuz", torch.float8_e8m0fnu: "float8_e8m0fnu",
}
NAMES = {**DTYPES, **FLOAT8}
FORMATS = {
    torch.contiguous_format: "contiguous_format", torch.preserve_format: "preserve_format",
    torch.channels_last: "channels_last", torch.channels_last_3d: "channels_last_3d",
}
MOST_ELEMENTS = 1500


class Unwritable(Exception):
    """A value that rows cannot represent, or that is too large for them."""


class Sized:
    """A recorded tensor: enough to make it again, as often as it is needed."""

    def __init__(self, tensor):
        if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized:
            raise Unwritable(f"{tensor.layout} on {tensor.device}")
        if tensor.dtype not in NAMES:
            raise Unwritable(str(tensor.dtype))
        with torch.no_grad():
            tensor = tensor.detach()
            if tensor.is_conj() or tensor.is_neg():
                tensor = tensor.resolve_conj().resolve_neg()
            count = tensor.untyped_storage().nbytes() // tensor.element_size()
            if count > MOST_ELEMENTS:
                raise Unwritable(f"{count} elements")
            self.storage = tensor.as_strided([count], [1], 0).clone()
        self.sizes, self.strides = list(tensor.shape), list(tensor.stride())
        self.offset = tensor.storage_offset()

    def tensor(self, change=lambda storage: storage):
        storage = change(self.storage.clone())
        return storage.as_strided(self.sizes, self.strides, self.offset).detach()

    def written(self):
        return {"tensor": {"dtype": NAMES[self.storage.dtype], "sizes": self.sizes, "strides": self.strides,
                           "offset": self.offset, "storage": numbers(self.storage)}}


def is_wrapped_number(tensor):
    """Whether a tensor was a Python number, which does not decide the dtype among zero-dimensional tensors."""
    smaller = {torch.float64: torch.float32, torch.int64: torch.int32, torch.complex128: torch.complex64}
    if tensor.dim() or tensor.dtype not in smaller:
        return False
    other = torch.zeros((), dtype=smaller[tensor.dtype])
    return torch.result_type(other, tensor) != tensor.dtype


def take_down(value):
    """An argument with its tensors recorded."""
    if isinstance(value, torch.Tensor):
        return value.item() if is_wrapped_number(value) else Sized(value)
    if isinstance(value, (list, tuple)):
        return [take_down(element) for element in value]
    return value


def made(value, change=lambda storage: storage):
    """The recorded argument, with new tensors."""
    if isinstance(value, Sized):
        return value.tensor(change)
    if isinstance(value, list):
        return [made(element, change) for element in value]
    return value


def written(value):
    """An argument in the rows' notation."""
    if isinstance(value, Sized):
        return value.written()
    if isinstance(value, list):
        return [written(element) for element in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return {"f": number(value)}
    if isinstance(value, complex):
        return {"re": number(value.real), "im": number(value.imag)}
    if isinstance(value, torch.dtype) and value in NAMES:
        return {"dtype": NAMES[value]}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, torch.memory_format) and value in FORMATS:
        return {"memory_format": FORMATS[value]}
    raise Unwritable(repr(value))


def number(value):
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value


def numbers(tensor):
    """The elements in logical order."""
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous().flatten()
    if tensor.dtype.is_complex:
        parts = torch.view_as_real(tensor)
        return [{"re": re, "im": im} for re, im in zip(numbers(parts[:, 0]), numbers(parts[:, 1]))]
    if tensor.dtype in (torch.float16, torch.bfloat16):
        return [short(value, tensor.dtype) for value in tensor.double().tolist()]
    if tensor.dtype == torch.float32:
        return [number(float(str(value))) for value in tensor.numpy().astype(np.float32)]
    if tensor.dtype in FLOAT8:
        return [number(value) for value in tensor.double().tolist()]
    if tensor.dtype == torch.float64:
        return [number(value) for value in tensor.tolist()]
    return tensor.tolist()


def short(value, dtype):
    if value != value or value in (float("inf"), float("-inf")):
        return number(value)
    for digits in range(2, 9):
        text = float(f"{value:.{digits}g}")
        if torch.tensor(text, dtype=torch.float64).to(dtype).item() == value:
            return text
    return value


def paths(args, kwargs, kind=Sized):
    """The tensors among arguments, with their paths: `0`, `0.1` in a list, or a name."""
    for path, value in [(str(index), value) for index, value in enumerate(args)] + list(kwargs.items()):
        if isinstance(value, kind):
            yield path, value
        elif isinstance(value, (list, tuple)):
            for index, element in enumerate(value):
                if isinstance(element, kind):
                    yield f"{path}.{index}", element
