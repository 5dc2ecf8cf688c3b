"""PyTorch's operators in Rust, for Python without PyTorch.

`torch_library.ops.aten.add(x, y, alpha=2)` calls an operator. Operators are methods of tensors, too, and tensors share
memory with NumPy: `torch_library.from_numpy(a)`, `x.numpy()`.
"""

from torch_library import autograd
from torch_library._functional import grad, grad_and_value, vmap
from torch_library._modes import autocast, enable_grad, inference_mode, no_grad, set_grad_enabled
from torch_library._native import (
    Generator,
    Method,
    Namespace,
    Operator,
    Operators,
    Program,
    Tensor,
    default_generator,
    device,
    dtype,
    from_dlpack,
    from_numpy,
    is_grad_enabled,
    layout,
    load,
    load_library,
    manual_seed,
    memory_format,
    tensor,
)

ops = Operators()

bool = dtype("bool")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
float16 = dtype("float16")
bfloat16 = dtype("bfloat16")
float32 = dtype("float32")
float64 = dtype("float64")
complex64 = dtype("complex64")
complex128 = dtype("complex128")

strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")

__version__ = "0.1.0"


def __getattr__(name):
    """Operators of `aten` as functions: `torch_library.add(x, y)`."""
    if name.startswith("__"):
        raise AttributeError(f"module 'torch_library' has no attribute {name!r}")
    return getattr(ops.aten, name)
