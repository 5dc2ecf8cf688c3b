"""Makes a row of one call of an operator: its results, its writes, and its gradients.

A call gets no row (`Unfit`) if its answer is not a fact about the operator: random or uninitialised elements, signs of
eigenvectors, an order among equal elements, and numbers that PyTorch itself computes inaccurately in this dtype.
"""

import random

import torch

from encode import FLOAT8, NAMES, Sized, Unwritable, made, number, numbers, paths, written

# The tolerance between an answer and that of the next wider dtype, for numbers around 1: the same as the runner's.
TOLERANCES = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2,
              torch.complex128: 1e-12, torch.complex64: 2e-5}
WIDER = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64,
         torch.complex64: torch.complex128}
# Vectors whose sign or phase is arbitrary, and eigenvalues in arbitrary order.
FREE_SIGN = {"svd", "_linalg_svd", "linalg_svd", "linalg_eigh", "_linalg_eigh", "linalg_eig", "linalg_eigvals",
             "_linalg_eigvals", "linalg_polar"}
# The order of equal elements is arbitrary.
FREE_ORDER = {"sort", "argsort", "msort", "topk", "kthvalue", "median", "nanmedian", "mode"}
# PyTorch computes only about eight digits of float64 correctly.
ROUGH_IN_FLOAT64 = {"special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1",
                    "special_airy_ai"}
# PyTorch sends the gradient to the elements that were overwritten, instead of to the others.
WRONG_GRADIENT = {"as_strided_scatter"}
# The answer depends on the dtype itself, so it cannot be compared with a wider one.
OF_THE_DTYPE = {"nextafter", "nextafter_", "nan_to_num", "nan_to_num_", "view", "hash_tensor", "frexp", "bucketize"}


class Unfit(Exception):
    """No row can be made of this call."""


class Call:
    """An operator and its arguments, recorded before the call."""

    def __init__(self, operator, args, kwargs):
        self.operator, self.args, self.kwargs = operator, args, kwargs
        self.schema = operator._schema

    @property
    def name(self):
        return self.schema.name + ("." + self.schema.overload_name if self.schema.overload_name else "")

    @property
    def short_name(self):
        return self.schema.name.split("::")[1]

    def signature(self, exact):
        """Equal for calls that differ only in numbers; if `exact`, for those that differ only in elements."""
        def kind(value):
            if isinstance(value, Sized):
                if exact:
                    return (value.storage.dtype, value.sizes, value.strides, value.offset)
                contiguous = torch.empty(value.sizes, device="meta").stride() == tuple(value.strides)
                return (value.storage.dtype, tuple(min(size, 2) for size in value.sizes), contiguous)
            if isinstance(value, list):
                if exact:
                    return [kind(element) for element in value]
                return ("list", kind(value[0])) if value else "empty"
            if exact:
                return value
            return type(value).__name__ if isinstance(value, (int, float, complex)) and value is not True else value
        return str((self.name, [kind(value) for value in self.args],
                    [(name, kind(value)) for name, value in sorted(self.kwargs.items())]))

    def made(self, change=lambda storage: storage):
        args = made(self.args, change)
        return args, {name: made(value, change) for name, value in self.kwargs.items()}

    def wider(self):
        """The same call in the next wider dtype."""
        def dtype(value):
            return WIDER.get(value, value) if isinstance(value, torch.dtype) else value
        args, kwargs = self.made(lambda storage: storage.to(WIDER.get(storage.dtype, storage.dtype)))
        return [dtype(value) for value in args], {name: dtype(value) for name, value in kwargs.items()}

    def nudged(self, seed):
        """The same call with float64 numbers that differ in the last digit."""
        generator = torch.Generator().manual_seed(seed)

        def nudge(storage):
            if storage.dtype != torch.float64:
                return storage
            return storage * (1 + (torch.rand(storage.shape, generator=generator, dtype=torch.float64) - 0.5) * 4e-16)
        return self.made(nudge)


def results(outputs):
    """The results as a list, and whether the operator returns a single list."""
    if isinstance(outputs, (list, tuple)):
        return list(outputs), isinstance(outputs, list)
    return [outputs], False


def row(call):
    """The row of a call that works."""
    refuse_unfit(call)
    args, kwargs = call.made()
    fresh = dict(paths(args, kwargs, torch.Tensor))
    before = {path: value.clone() for path, value in fresh.items()}
    with torch.no_grad():
        outputs, is_list = results(call.operator(*args, **kwargs))
    if not all(output is None or isinstance(output, torch.Tensor) for output in outputs):
        raise Unfit("a result that is no tensor")
    if not call.schema.returns:
        outputs = []
    is_list = is_list and len(call.schema.returns) == 1
    entry = head(call)
    entry["outputs"] = [described(output, fresh) for output in outputs]
    entry["output_is_list"] = is_list
    written_to = {argument.name for argument in call.schema.arguments if argument.alias_info and
                  argument.alias_info.is_write}
    mutated = {path: state(value) for path, value in fresh.items()
               if is_written(call, path, written_to) or not same(value, before[path])}
    if mutated:
        entry["mutated"] = mutated
    elif not any(output is not None for output in outputs):
        raise Unfit("no result")
    check(call, outputs, [fresh[path] for path in mutated])
    if not mutated:
        entry.update(gradients(call))
    return entry


def is_written(call, path, names):
    index = path.split(".")[0]
    name = call.schema.arguments[int(index)].name if index.isdigit() else index
    return name in names


def error_row(call):
    """The row of a call that raises an error."""
    args, kwargs = call.made()
    try:
        with torch.no_grad():
            call.operator(*args, **kwargs)
    except NotImplementedError as error:
        raise Unfit("PyTorch has no kernel") from error
    except Exception as error:
        if "not implemented for" in str(error):
            raise Unfit("PyTorch has no kernel") from error
        if "Expected a value of type" in str(error):
            raise Unfit("a number for a tensor, which Python refuses before the operator sees it") from error
        return {**head(call), "error": {"type": type(error).__name__, "error": str(error).split("\n")[0][:300]}}
    raise Unfit("accepted below")


def head(call):
    kwargs = {}
    for name, value in call.kwargs.items():
        if name == "generator" and value is not None:
            raise Unfit("a generator")
        if name in ("layout", "pin_memory", "generator") and value in (None, False, torch.strided):
            continue
        kwargs[name] = written(value)
    return {"op": call.name, "args": written(call.args), "kwargs": kwargs}


def state(tensor):
    return {"dtype": NAMES[tensor.dtype], "sizes": list(tensor.shape), "strides": list(tensor.stride()),
            "offset": tensor.storage_offset(), "values": numbers(tensor)}


def described(output, inputs):
    if output is None:
        return None
    if output.layout != torch.strided or output.dtype not in NAMES or output.numel() > 2000:
        raise Unwritable("a result")
    address = output.untyped_storage().data_ptr()
    shares = [path for path, value in inputs.items() if address and value.untyped_storage().data_ptr() == address]
    same_object = [path for path, value in inputs.items() if value is output]
    entry = state(output)
    if shares:
        entry["shares_storage_with"] = shares
    if same_object:
        entry["is_same_object_as"] = same_object
    return entry


def same(a, b, tolerance=None):
    """Whether two results are equal: bit by bit, or within a tolerance."""
    if a is None or b is None:
        return a is b
    if a.shape != b.shape:
        return False
    a, b = a.detach(), b.detach()
    if a.dtype in FLOAT8 and a.dtype == b.dtype:
        a, b = a.float(), b.float()  # which is exact, and PyTorch compares few floats of eight bits
    if tolerance is None:
        return a.dtype == b.dtype and torch.equal(torch.nan_to_num(a, nan=7), torch.nan_to_num(b, nan=7)) \
            and (not a.is_floating_point() or torch.equal(a.isnan(), b.isnan()))
    if a.is_complex() != b.is_complex():
        return False
    if a.is_complex():
        return all(same(f(a.resolve_conj()), f(b.resolve_conj()), tolerance) for f in
                   (lambda x: torch.view_as_real(x)[..., 0], lambda x: torch.view_as_real(x)[..., 1]))
    a, b = a.double(), b.double()
    close = (a - b).abs() <= tolerance * b.abs().clamp(min=1)
    return bool((close | (a == b) | (a.isnan() & b.isnan())).all())


def refuse_unfit(call):
    if torch.Tag.nondeterministic_seeded in call.operator.tags or "empty" in call.name or "resize" in call.name:
        raise Unfit("random or never written")
    tensors = [value for _, value in paths(call.args, call.kwargs)]
    elements = sum(value.storage.numel() for value in tensors)
    if call.short_name in ROUGH_IN_FLOAT64 and any(value.storage.dtype == torch.float64 for value in tensors):
        raise Unfit("not accurate in PyTorch")
    if call.short_name in FREE_SIGN and elements:
        raise Unfit("free signs")
    if call.short_name in FREE_ORDER and tensors:
        values = tensors[0].storage
        values = values.float() if values.dtype in FLOAT8 else values
        if values.dtype.is_complex or values.unique().numel() < values.numel():
            raise Unfit("an order among equals")


def check(call, outputs, mutated):
    """Rejects results that change in another run, in a wider dtype or with the last digit of an input."""
    def again(made, seed=1):
        torch.manual_seed(seed)
        args, kwargs = made
        with torch.no_grad():
            outputs = results(call.operator(*args, **kwargs))[0]
        return outputs if call.schema.returns else []
    dirty = [torch.full((size,), 1e30) for size in (1, 4, 16, 64, 256, 1024)]
    del dirty
    if not all(same(a, b) for a, b in zip(outputs, again(call.made()), strict=True)):
        raise Unfit("random or never written")
    if call.short_name in OF_THE_DTYPE:
        return
    for other, tolerance in references(call):
        try:
            others = again(other)
        except Exception:
            continue
        for output, wanted in zip(outputs, others, strict=False):
            allowed = tolerance or (TOLERANCES.get(output.dtype, 0) if output is not None else 0)
            if not same(output, wanted, allowed):
                raise Unfit("not accurate in PyTorch")


def references(call):
    dtypes = {value.storage.dtype for _, value in paths(call.args, call.kwargs)}
    if dtypes & set(WIDER):
        yield call.wider(), None
    elif torch.float64 in dtypes:
        yield call.nudged(1), None
        yield call.nudged(2), None


def gradients(call):
    """The fields for the gradients of a call; none if nothing is differentiable."""
    if call.short_name in WRONG_GRADIENT:
        return {}
    try:
        wanted = backward(call, call.made())
    except Exception as error:
        return {"grad_error_info": str(error).split("\n")[0][:200]} if is_about_derivatives(error) else {}
    if wanted is None:
        return {}
    nodes, weights, grads = wanted
    for other, _ in references(call) if call.short_name not in OF_THE_DTYPE else ():
        try:
            others = backward(call, other)
        except Exception:
            continue
        if others is None:
            continue
        for path, grad in grads.items():
            allowed = TOLERANCES.get(grad.dtype, 0) if grad is not None else 0
            if not same(grad, others[2].get(path), allowed):
                return {}
    return {
        "grad_fn_info": nodes,
        "grad_weights": [{"output": index, "values": [written(value) if isinstance(value, complex) else value for value in values]}
                         for index, values in weights],
        "grads": {path: None if grad is None else
                  {"dtype": NAMES[grad.dtype], "sizes": list(grad.shape), "values": numbers(grad)}
                  for path, grad in grads.items()},
    }


def weighted(output, weights):
    """The real part of the sum of an output's elements, each times its weight."""
    dtype = torch.complex128 if output.is_complex() else torch.float64
    weights = torch.tensor(weights, dtype=dtype).view(output.shape).to(output.dtype)
    total = (output * weights).sum()
    return total.real if total.is_complex() else total


def is_about_derivatives(error):
    return any(word in str(error) for word in ("derivative", "differentiable", "Autograd", "grad"))


def backward(call, made_arguments):
    """Nodes, weights and gradients of the real part of the weighted sum of the results."""
    args, kwargs = made_arguments
    leaves = {}
    for path, value in paths(args, kwargs, torch.Tensor):
        if value.is_floating_point() or value.is_complex():
            leaves[path] = value.requires_grad_()
    if not leaves:
        return None
    torch.manual_seed(1)
    outputs, _ = results(call.operator(*args, **kwargs))
    nodes = {str(index): output.grad_fn.name() for index, output in enumerate(outputs)
             if output is not None and output.grad_fn is not None}
    of = [(index, output) for index, output in enumerate(outputs)
          if output is not None and output.requires_grad]
    if not of:
        return None
    numbers_at_random = random.Random(call.name)

    def at_random():
        return round(numbers_at_random.uniform(-1, 1), 2)
    weights = [(index, [complex(at_random(), at_random()) if output.is_complex() else at_random()
                        for _ in range(output.numel())]) for index, output in of]
    loss = sum(weighted(output, values) for (_, output), (_, values) in zip(of, weights))
    loss.backward()
    return nodes, weights, {path: leaf.grad for path, leaf in leaves.items()}
