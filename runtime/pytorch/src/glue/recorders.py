"""PyTorch autograd nodes for calls that need a gradient. This source is compiled when the first call is recorded."""

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd.forward_ad import _set_fwd_grad_enabled
from torch.autograd.function import _SingleLevelFunction


def _after_recorder(operator):
    """The function that records calls which Rust has made: it takes their arguments, their results, and a bit mask of the
    results without a gradient.

    It runs for every recorded call, so everything that is the same for all calls is computed beforehand.
    """
    kinds, (tensors_at, _) = _kinds(operator), _tensors(operator)
    optional = [a for a in _called(operator)._schema.arguments if isinstance(a.type, torch.OptionalType)]
    is_plain = kinds == ["tensor"] * len(kinds) and not optional
    count, is_one = len(kinds), len(_called(operator)._schema.returns) == 1
    make = _by_tensors if operator["gradients"] else _by_lists
    apply = _function(operator, *make(operator, is_plain, is_one)).apply
    is_transformed = torch._C._are_functorch_transforms_active

    def record(*values):
        try:
            tensors, rest = values[:count], None
            if not is_plain:
                tensors, rest = _taken_apart(tensors, tensors_at)
            if is_transformed():
                with enable_single_level_autograd_function():
                    recorded = apply(rest, values[count:-1], values[-1], *tensors)
            else:
                recorded = apply(rest, values[count:-1], values[-1], *tensors)
            return recorded[0] if is_one else recorded
        except Exception as error:
            _raised[-1](error)
            raise

    return record


def _by_tensors(operator, is_plain, is_one):
    """The forward and the backward function of a node that passes tensors one by one. Which tensors are saved and where they
    go depends only on which gradients are needed."""
    backward, named = _overload(operator, operator["gradients"])._op, _namer(operator)
    kinds, (tensors_at, owners) = _kinds(operator), _tensors(operator)
    of, of_results = [owners[index] for index in tensors_at], range(len(_called(operator)._schema.returns))
    passed = named(None, of, of_results)  # the positions of the tensors that the backward operator takes
    taken = [(i, kind == "tensor") for i, kind in enumerate(kinds) if kind != "tensor" or tensors_at.index(i) in passed]
    known = {}  # by needed gradients: their bit mask, and the positions of saved tensors among all and among passed ones

    def know(needs):
        saved = named(needs[3:], of, of_results)
        slots = None if saved == passed else [passed.index(index) for index in saved]
        known[needs] = found = sum(need << index for index, need in enumerate(needs[3:])), saved, slots
        return found

    def forward(ctx, rest, results, lost, *tensors):
        needs = ctx.needs_input_grad
        _, saved, _ = known.get(needs) or know(needs)
        if saved:
            everything = tensors + results
            ctx.to_save = tuple([everything[index] for index in saved])
        if not is_plain:
            ctx.rest = rest[0]
        if lost:
            ctx.mark_non_differentiable(*[result for index, result in enumerate(results) if lost >> index & 1])
        if is_one:  # otherwise a formula may rely on a gradient for each result
            ctx.materialize_grads = False
        return results

    def run(ctx, *grads):
        needs = ctx.needs_input_grad
        if grads[0] is None:
            return (None,) * len(needs)
        wanted, saved, slots = known[needs]
        values = ctx.saved_tensors if saved else ()
        if slots is not None:
            values = _scattered(values, slots, len(passed), grads[0])
        if not is_plain:
            rest = iter(values)
            values = [next(rest) if is_tensor else ctx.rest[index] for index, is_tensor in taken]
            values += rest
        found = backward(*values, *grads, wanted)
        return (None, None, None, *found) if len(needs) > 4 else (None, None, None, found)

    return forward, run


def _by_lists(operator, is_plain, is_one):
    """The forward and the backward function of a node with lists of tensors or with optional tensors."""
    backward, named = _overload(operator, operator["backward"])._op, _namer(operator)
    _, owners = _tensors(operator)

    def forward(ctx, rest, results, lost, *tensors):
        of = owners if is_plain else [owners[index] for index, _ in rest[1]]
        ctx.named = named(ctx.needs_input_grad[3:], of, range(len(results)))
        everything = tensors + results
        ctx.to_save = tuple([everything[index] for index in ctx.named])
        ctx.rest = rest
        if lost:
            ctx.mark_non_differentiable(*[result for index, result in enumerate(results) if lost >> index & 1])
        if is_one:  # otherwise a formula may rely on a gradient for each result
            ctx.materialize_grads = False
        return results

    def run(ctx, *grads):
        needs = ctx.needs_input_grad[3:]
        before = len(needs)
        if grads[0] is None:
            return (None,) * (before + 3)
        saved = _scattered(ctx.saved_tensors, ctx.named, before + len(grads), grads[0])
        values = saved[:before] if is_plain else _filled(*ctx.rest, saved)
        return None, None, None, *backward(*values, saved[before:], grads, needs)

    return forward, run


def _function(operator, forward, backward):
    name = _full_name(operator).split("::")[1].replace(".", "_")
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (_SingleLevelFunction,), members)


def _kinds(operator):
    """The kind of each argument of the operator that has the kernels."""
    return [kind for a in operator["arguments"] for kind in ([a["kind"]] * (3 if a["kind"] == "number" else 1))]


def _tensors(operator):
    """The positions of tensors among the arguments of the operator that has the kernels, and for each of its arguments the
    index of the operator's own argument that it comes from."""
    arguments = operator["arguments"]
    owners = [i for i, a in enumerate(arguments) for _ in range(3 if a["kind"] == "number" else 1)]
    return [i for i, kind in enumerate(_kinds(operator)) if kind in ("tensor", "tensors")], owners


def _namer(operator):
    """A function that returns which tensors of a call are saved: the positions, among arguments and then results, of those
    that the formulas for the needed gradients name, or that any formula names if `needs` is None. It takes the index of the
    argument or the result that each tensor belongs to.

    Only saved tensors are kept alive until the backward pass, and must not be written to until then.
    """
    formulas, known = operator["formulas"], {}

    def find(needs, of, of_results):
        wanted = -1 if needs is None else 0  # a bit mask of arguments
        for need, argument in zip(needs or (), of):
            wanted |= need << argument
        arguments = results = 0
        for given, by_arguments, by_results in formulas:
            if given & wanted:
                arguments, results = arguments | by_arguments, results | by_results
        found = [index for index, argument in enumerate(of) if arguments >> argument & 1]
        return found + [len(of) + index for index, result in enumerate(of_results) if results >> result & 1]

    def named(needs, of, of_results):
        if formulas is None:
            return list(range(len(of) + len(of_results)))
        key = (needs, *of, *of_results)
        found = known.get(key)
        if found is None:
            found = find(needs, of, of_results)
            if len(known) < 4096:
                known[key] = found
        return found

    return named


def _scattered(tensors, places, count, other):
    """`count` tensors: the given ones in their places, and `other` everywhere else, where Rust does not use it because no
    formula names the tensor there."""
    found = [other] * count
    for index, tensor in zip(places, tensors):
        found[index] = tensor
    return found


def _taken_apart(values, tensors_at):
    """The tensors among arguments, and the rest: the arguments without tensors, and the places of the tensors."""
    values, places, tensors = list(values), [], []
    for index in tensors_at:
        value, values[index] = values[index], None
        if isinstance(value, torch.Tensor):
            places.append((index, None))
            tensors.append(value)
        elif value is not None:
            values[index] = [None] * len(value)
            for position, tensor in enumerate(value):
                if tensor is not None:
                    places.append((index, position))
                    tensors.append(tensor)
    return tensors, (values, places)


def _recorder(operator):
    """The function that makes and records calls of an operator."""
    call, backward, differentiable = (
        _overload(operator, name) for name in (operator["flat"], operator["backward"], operator["differentiable"])
    )
    arguments, kinds = operator["arguments"], _kinds(operator)
    by_name = {} if operator["flat"] else {i: a["name"] for i, a in enumerate(arguments) if a["by_name"]}
    (tensors_at, owners), named = _tensors(operator), _namer(operator)
    written_at = _written(operator)[0][0] if any(a["is_written"] for a in arguments) else None
    ever_named = -1 if operator["formulas"] is None else 0  # a bit mask of arguments
    for _, by_arguments, _ in operator["formulas"] or ():
        ever_named |= by_arguments
    known = {}  # which results have gradients, by what that may depend on: all but the elements of tensors
    first_named, is_one = min(by_name, default=len(kinds)), len(call._schema.returns) == 1

    def below(values):
        with torch._C._AutoDispatchBelowAutograd():
            return call(*values[:first_named], **{name: values[i] for i, name in by_name.items()})

    def below_transforms(values):
        # PyTorch makes a node with grad mode off, but an outer transform still has to record the call.
        with torch.enable_grad(), _set_fwd_grad_enabled(True):
            return below(values)

    def forward(ctx, plan, *tensors):
        values, places, before = plan.values, plan.places, plan.before
        is_transformed = torch._C._are_functorch_transforms_active()
        output = (below_transforms if is_transformed else below)(_filled(values, places, tensors))
        outputs = (output,) if is_one else output
        plan.layout = [len(part) if isinstance(part, list) else None for part in outputs]
        flat, returns = [], []
        for index, part in enumerate(outputs):
            flat += part if isinstance(part, list) else [part]
            returns += [index] * (len(flat) - len(returns))
        ctx.results_at = [i for i, part in enumerate(flat) if part is None or isinstance(part, torch.Tensor)]
        results = [flat[i] for i in ctx.results_at]
        saved = tensors[: len(places)]
        if before is not None:
            written = tensors[before]
            if len(tensors) > len(places):  # formulas use the copy from before the write, which is an extra input
                saved = [tensors[-1] if tensor is written else tensor for tensor in saved]
            flat = results = [written]  # under a transform the operator returns another object
            ctx.mark_dirty(written)
        needs = [need and _has_gradient(tensor) for need, tensor in zip(ctx.needs_input_grad[1:], saved)]
        key = None if is_transformed else _metadata(values, saved, results, needs)
        flags = known.get(key)
        if flags is None:
            flags = differentiable(*_filled(values, places, saved), results, needs)
            if key is not None and len(known) < 4096:
                known[key] = flags
        if not all(flags):
            ctx.mark_non_differentiable(*(t for t, flag in zip(results, flags) if t is not None and not flag))
        ctx.set_materialize_grads(len(flat) > 1)  # a formula may rely on a gradient for each result
        ctx.plan, ctx.needs, ctx.extra = plan, needs, len(tensors) - len(places)
        of = [owners[index] for index, _ in places]
        ctx.named = named(tuple(needs), of, [returns[index] for index in ctx.results_at])
        all_of_it = (*saved, *results)
        ctx.save_for_backward(*[all_of_it[index] for index in ctx.named])
        return tuple(flat)

    def run(ctx, *grads):
        plan, grads = ctx.plan, [grads[index] for index in ctx.results_at]
        count = len(plan.places)
        some = next((grad for grad in grads if grad is not None), None)
        if some is None:
            return (None,) * (1 + count + ctx.extra)
        saved = _scattered(ctx.saved_tensors, ctx.named, count + len(grads), some)
        values = _filled(plan.values, plan.places, saved)
        found = backward(*values, saved[count:], grads, ctx.needs)
        return (None, *found, *[None] * ctx.extra)

    function = _function(operator, forward, run)

    def record(*values):
        tensors, (values, places) = _taken_apart(values, tensors_at)
        before = None
        if written_at is not None:
            before = places.index((written_at, None))
            written = tensors[before]
            _check_write(operator, written)
            if any(tensor is written and ever_named >> owners[index] & 1 for tensor, (index, _) in zip(tensors, places)):
                tensors.append(written.clone())
        plan = _Plan(values, places, before)
        if torch._C._are_functorch_transforms_active():
            with enable_single_level_autograd_function():
                flat = function.apply(plan, *tensors)
        else:
            flat = function.apply(plan, *tensors)
        if plan.layout == [None]:
            return flat[0]
        parts = _regrouped(plan.layout, flat)
        return parts[0] if is_one else tuple(parts)

    return record


class _Plan:
    """The structure of a call: its arguments without tensors, the places of tensors, and which of them is written to."""

    __slots__ = ("values", "places", "before", "layout")

    def __init__(self, values, places, before):
        self.values, self.places, self.before, self.layout = values, places, before, None


def _has_gradient(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def _metadata(values, tensors, results, needs):
    """A cache key with all of a call but elements; None unless all tensors are plain ones and nothing is symbolic."""
    try:
        rest = tuple([tuple(value) if isinstance(value, list) else value for value in values])
        of_tensors = []
        for tensor in (*tensors, *results):
            if tensor is None:
                of_tensors.append(None)
            elif type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter:
                of_tensors.append((tensor.dtype, tensor.device, tensor.shape, tensor.stride()))
            else:
                return None
        key = (rest, tuple(of_tensors), tuple(needs))
        hash(key)
        return key
    except TypeError:  # a symbolic number, which has no hash
        return None


def _filled(values, places, tensors):
    """The arguments of a call, with these tensors in their places."""
    values = [list(value) if isinstance(value, list) else value for value in values]
    for (index, position), tensor in zip(places, tensors):
        if position is None:
            values[index] = tensor
        else:
            values[index][position] = tensor
    return values


def _regrouped(layout, flat):
    """The returns of an operator from the flat list of their parts: `layout` has the length of each list, or None."""
    rest = iter(flat)
    return [next(rest) if length is None else [next(rest) for _ in range(length)] for length in layout]
