"""The library of this folder, loaded once by its glue."""

import ctypes
import os

import torch

PATH = os.environ["TORCH_LIBRARY_DOOR"]


def glue(path):
    library = ctypes.CDLL(path)
    library.torch_library_glue.restype = ctypes.c_char_p
    names = {}
    exec(compile(library.torch_library_glue(), "glue.py", "exec"), names)
    return names


GLUE = glue(PATH)
OPERATORS = GLUE["load"](PATH)
REPORT = GLUE["report"](PATH)
VERSION = tuple(map(int, torch.__version__.split(".")[:2]))


def rand(*sizes):
    return torch.rand(*sizes, dtype=torch.float64, requires_grad=True)
