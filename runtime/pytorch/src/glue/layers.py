"""Kernels above an operator's backend kernels: autocast, and batching rules for vmap."""

import torch


def _put_between(operator, key):
    """Registers the kernel that Rust has at a key, which runs with the key excluded, so that its calls go below."""
    called = _lazily(lambda: _layer(operator))
    keys = torch._C.DispatchKeySet(torch._C._dispatch_key_parse(key))
    device = key.removeprefix("Autocast").lower()
    device = torch._C._get_privateuse1_backend_name() if device == "privateuse1" else device

    def kernel(*args, **kwargs):
        dtype = torch.get_autocast_dtype(device)
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return called(args, kwargs, key, dtype)

    _implement(operator, kernel, key)


def _layer(operator):
    layer, positional = _overload(operator, operator["layer"]), _positional_with_defaults(operator)
    return lambda args, kwargs, key, dtype: layer(*positional(args, kwargs), key, dtype)


def _batch(operator):
    """Registers the batching rule that Rust has: PyTorch passes the batch dimension of each tensor."""
    name, library = _full_name(operator, operator["flat"]), _library(operator["namespace"])
    torch.library.register_vmap(name, _lazily(lambda: _rule(operator)), lib=library)


def _rule(operator):
    batched = _overload(operator, operator["batched"])
    kinds = [argument["kind"] for argument in operator["arguments"]]
    positional = _positional_with_defaults(operator)
    if operator["flat"]:
        kinds = [kind for kind in kinds for _ in range(3 if kind == "number" else 1)]

    def rule(info, in_dims, *args, **kwargs):
        dims = []
        for index, (kind, value) in enumerate(zip(kinds, args)):
            dim = in_dims[index]
            for part, of_part in zip(value, dim) if kind == "tensors" and value is not None else [(value, dim)]:
                if kind in ("tensor", "tensors") and part is not None:
                    dims.append(-1 if of_part is None else of_part % part.dim())
        values = positional(args, kwargs)
        *results, dims = batched(*values, dims, info.batch_size, info.randomness)
        dims = iter([None if dim < 0 else dim for dim in dims])
        out_dims = [[next(dims) for _ in part] if isinstance(part, list) else next(dims) for part in results]
        return (results[0], out_dims[0]) if len(results) == 1 else (tuple(results), tuple(out_dims))

    return rule


def _positional_with_defaults(operator):
    """A function that turns the arguments of a call into a list of all arguments, with defaults, by position."""
    schema = _called(operator)._schema.arguments
    count = len(schema) - bool(operator["flat"])  # without `_entry`, the last argument of a flat operator

    def positional(args, kwargs):
        values = list(args[:count])
        for argument in schema[len(values) : count]:
            values.append(kwargs[argument.name] if argument.name in kwargs else argument.default_value)
        return values

    return positional
