"""Operators in Rust: `torch.ops.mine`."""

import ctypes
import os
import pathlib

import torch  # PyTorch first: the library looks for it when it is loaded

_here = pathlib.Path(__file__).parent
_library = os.environ.get("MINE_LIBRARY", str(_here / "libmine.so"))
_glue = {}
_text = ctypes.CDLL(_library).torch_library_glue
_text.restype = ctypes.c_char_p
exec(compile(_text(), "torch_library_glue.py", "exec"), _glue)

operators = _glue["load"](_library)
log_cosh, ramp_, huber = torch.ops.mine.log_cosh, torch.ops.mine.ramp_, torch.ops.mine.huber
