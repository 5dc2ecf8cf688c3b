"""Transforms of functions: `vmap(f)(x)`, `grad(f)(x)`."""

from functools import wraps

from torch_library import _native

Tensor = _native.Tensor


def _flat(value, what):
    if isinstance(value, Tensor):
        return [value], lambda leaves: leaves[0]
    if isinstance(value, (tuple, list)) and all(isinstance(one, Tensor) for one in value):
        kind = type(value) if type(value) in (tuple, list) else tuple
        return list(value), kind
    raise TypeError(f"{what} is a tensor, or a tuple or a list of tensors, not {type(value).__name__}")


def vmap(func, in_dims=0, out_dims=0, randomness="error"):
    """A function that runs `func` on all examples of a batch in one call.

    `in_dims` has the batch dimension of each argument, or `None` for an argument that all examples share, and `out_dims` the
    batch dimension of each result. Arguments that are not tensors are shared.
    """

    @wraps(func)
    def batched(*args, **kwargs):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
        if len(dims) != len(args):
            raise ValueError(f"vmap: {len(dims)} in_dims for {len(args)} arguments, each needs one")
        places = [place for place, arg in enumerate(args) if isinstance(arg, Tensor)]
        structure = []

        def flat(examples):
            filled = list(args)
            for place, example in zip(places, examples):
                filled[place] = example
            leaves, back = _flat(func(*filled, **kwargs), "the result of a function of vmap")
            structure.append(back)
            return leaves

        out = list(out_dims) if isinstance(out_dims, (tuple, list)) else [out_dims]
        outputs = _native.vmap(
            flat, [args[place] for place in places], [dims[place] for place in places], out, randomness
        )
        return structure[0](outputs)

    return batched


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns the gradients of `func` with respect to some arguments, and its value, a single number.

    With `has_aux`, `func` returns a pair of that number and auxiliary data, and the pair is returned as the value.
    """
    numbers = argnums if isinstance(argnums, (tuple, list)) else (argnums,)

    @wraps(func)
    def differentiated(*args, **kwargs):
        places = [number + len(args) if number < 0 else number for number in numbers]
        if not all(0 <= place < len(args) for place in places):
            raise IndexError(f"grad: argnums {argnums} are out of range for {len(args)} arguments")
        rest = []

        def flat(leaves):
            filled = list(args)
            for place, leaf in zip(places, leaves):
                filled[place] = leaf
            value, aux = func(*filled, **kwargs) if has_aux else (func(*filled, **kwargs), ())
            tensors, back = ([], lambda _: aux) if not _is_tensors(aux) else _flat(aux, "what comes beside")
            rest.append(back)
            return [value, *tensors]

        gradients, (value, *tensors) = _native.grads_and_value(flat, [args[place] for place in places])
        gradients = tuple(gradients) if isinstance(argnums, (tuple, list)) else gradients[0]
        return gradients, (value, rest[0](tensors)) if has_aux else value

    return differentiated


def _is_tensors(value):
    return isinstance(value, Tensor) or isinstance(value, (tuple, list)) and any(isinstance(x, Tensor) for x in value)


def grad(func, argnums=0, has_aux=False):
    """A function that returns the gradients of `func`, which returns a single number, with respect to some arguments."""
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def gradient(*args, **kwargs):
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return gradient
