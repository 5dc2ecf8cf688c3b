"""Gradients of several tensors at once."""

from torch_library import _native


def _listed(tensors):
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False):
    """Computes gradients with respect to all leaves, and adds them to their `grad`."""
    grads = None if grad_tensors is None else _listed(grad_tensors)
    _native.backward(_listed(tensors), grads, retain_graph, create_graph)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False):
    """The gradients of outputs with respect to inputs, as a tuple; the `grad` of tensors does not change."""
    grads = None if grad_outputs is None else _listed(grad_outputs)
    found = _native.grad(_listed(outputs), _listed(inputs), grads, retain_graph, create_graph, allow_unused)
    return tuple(found)
