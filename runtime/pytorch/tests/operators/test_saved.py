"""What PyTorch saves of a recorded call: only the tensors that formulas name whose gradients are needed."""

import array
import weakref

import pytest
import torch

from library import rand

rows = torch.ops.rows

MODIFIED = "modified by an inplace operation"


def _double(value=1.0):
    return torch.full((3,), value, dtype=torch.float64)


# Calls with an argument or a result that no formula names: the call's result, and that tensor.
UNNAMED = {
    "an argument": lambda x, y: (rows.picked(z := x * 1, y, torch.arange(3)), z),
    "an argument of no type with gradients": lambda x, y: (rows.picked(x, y, z := torch.arange(3)), z),
    "one that a formula names which is not wanted": lambda x, y: (rows.weigh(z := x * 1, y), z),
    "a result": lambda x, y: (z := rows.weigh(x, y), z),
    "an argument beside named results": lambda x, y: (rows.pair(z := x * 1, y)[0], z),
    "an argument by name": lambda x, y: (rows.shifted(x, by=y), y),
    "an argument in place": lambda x, y: (rows.shifted_(x * 1, by=y), y),
    "what was written to": lambda x, y: (z := rows.shifted_(x * 1, by=y), z),
    "a tensor in a list": lambda x, y: (rows.dotted([z := x * 1, x], [y, y]), z),
    "something optional": lambda x, y: (rows.dotted([x], [y], z := x * 1), z),
    "a list beside a list of results": lambda x, y: (sum(rows.each([z := x * 1, x], y)[0]), z),
    "a result in a list": lambda x, y: (_doubled((parts := rows.each([x, x], y)[0])[0]), parts[0]),
}

# Calls with an argument or a result that a formula names: the call's result, and that tensor.
NAMED = {
    "an argument": lambda x, y: (rows.picked(x, y, torch.arange(3)), y),
    "one of two": lambda x, y: (rows.weigh(x, y), y),
    "a result": lambda x, y: (rows.pair(x, y)[0], None),
    "an argument in place": lambda x, y: (rows.weigh_(x * 1, y), y),
    "a tensor in a list": lambda x, y: (rows.dotted([x], [y]), y),
    "beside a list of results": lambda x, y: (rows.each([x], y)[0][0], y),
    "sizes": lambda x, y: (rows.total(z := x * 1), z),
    "what a condition asks for": lambda x, y: (rows.cast_like(x, y), y),
    "all by hand": lambda x, y: (rows.by_hand(x, y), y),
}


def _doubled(part):
    return part * 2


def _gradient(call, write):
    x, y = rand(3), _double(2)
    result, other = call(x, y)
    total = result.sum()
    if write:
        with torch.no_grad():
            (result if other is None else other).add_(5)
    return torch.autograd.grad(total, x)[0]


@pytest.mark.parametrize("call", UNNAMED.values(), ids=UNNAMED)
def test_what_no_formula_names_may_be_written_to_before_the_backward_pass(call):
    torch.manual_seed(0)
    expected = _gradient(call, write=False)
    torch.manual_seed(0)
    assert torch.equal(_gradient(call, write=True), expected)


@pytest.mark.parametrize("call", NAMED.values(), ids=NAMED)
def test_what_a_formula_names_may_not(call):
    _gradient(call, write=False)
    with pytest.raises(RuntimeError, match=MODIFIED):
        _gradient(call, write=True)


def test_a_write_under_autograd_keeps_both_gradients_right():
    x, y = rand(3), _double(2)
    z = x * 3
    result = rows.picked(z, y, torch.arange(3))
    z.mul_(10)
    assert torch.equal(torch.autograd.grad((result + z).sum(), x)[0], _double(2 * 3 + 30))


def test_only_the_wanted_formulas_count():
    x, y = rand(3), rand(3)
    moved = y * 1
    result = rows.weigh(x.detach(), moved)  # the gradient of `y` is a product with `x`
    moved.data.zero_()
    with torch.no_grad():
        moved.add_(1)
    assert torch.equal(torch.autograd.grad(result.sum(), y)[0], x.detach())
    both = rows.weigh(x, moved := y * 1)
    with torch.no_grad():
        moved.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        both.sum().backward()


def _lent(values=(1.0, 2.0, 3.0)):
    """A tensor, and a weak reference to its memory, which dies with the last tensor over it."""
    memory = array.array("d", values)
    return torch.frombuffer(memory, dtype=torch.float64), weakref.ref(memory)


def test_memory_of_what_no_formula_names_is_free_after_the_forward_pass():
    x = rand(3)
    for call, is_kept in [
        (lambda z: rows.picked(x, _double(), z), False),
        (lambda z: rows.picked(x, z, torch.arange(3)), True),
        (lambda z: rows.weigh(z, x), True),
        (lambda z: rows.shifted(x, by=z), False),
        (lambda z: rows.shifted_(x * 1, by=z), False),
        (lambda z: rows.dotted([z, x], [_double()] * 2), False),
        (lambda z: rows.dotted([x], [z]), True),
        (lambda z: rows.each([x, z], _double())[0][0], False),
        (lambda z: rows.each([x], z)[0][0], True),
        (lambda z: rows.by_hand(x, z), True),
    ]:
        tensor, memory = _lent()
        result = call(tensor)
        del tensor
        assert (memory() is not None) is is_kept
        result.sum().backward()
        del result
        assert memory() is None


def test_results_that_no_formula_names_are_freed_too():
    x = rand(3)
    result = rows.weigh(x, x)
    storage = weakref.ref(result)
    total = result.sum()  # saves only sizes
    del result
    assert storage() is None
    total.backward()
    left, right = rows.pair(x, x)
    total = left.sum()
    assert len(total.grad_fn.next_functions[0][0].saved_tensors) == 2, "the results, and no argument"
    shifted, weighed = rows.shifted(x, by=x), rows.weigh(x, _double(7))
    assert shifted.grad_fn.saved_tensors == ()
    (saved,) = weighed.grad_fn.saved_tensors  # `weighed` must stay alive for PyTorch 2.11
    assert saved.tolist() == [7] * 3


def test_second_derivatives_of_what_was_saved():
    x, y = rand(3), rand(3)
    first, second = torch.autograd.grad(rows.weigh(x, y * y).sum(), (x, y), create_graph=True)
    assert torch.allclose(torch.autograd.grad(first.sum(), y)[0], 2 * y)
    assert torch.allclose(torch.autograd.grad(second.sum(), x)[0], 2 * y)
    # A write between the two backward passes, to a tensor that the second needs, is an error, too.
    factor, z = rand(3), y * 1
    first = torch.autograd.grad(rows.weigh(x, z), x, factor, create_graph=True)[0]
    with torch.no_grad():
        z.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        torch.autograd.grad(first.sum(), factor)
