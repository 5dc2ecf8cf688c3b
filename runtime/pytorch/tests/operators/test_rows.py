"""Each feature of a row of `derivatives!` in PyTorch's autograd: against finite differences, and under transforms."""

import gc
import weakref

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from library import VERSION, rand

TOLD = VERSION >= (2, 13) or None  # before 2.13, PyTorch's C functions print the error instead of returning it
rows, door, layers = torch.ops.rows, torch.ops.door, torch.ops.layers

HALF = torch.tensor(0.5, dtype=torch.float64)
CASES = {
    "formula": (rows.weigh, lambda: (rand(2, 3), rand(2, 3))),
    "in_place": (lambda x, y: rows.weigh_(x.clone(), y), lambda: (rand(3), rand(3))),
    "in_place on a view": (lambda x, y: _of_view(x, y), lambda: (rand(2, 3), rand(3))),
    "in_place with itself": (lambda x: _with_itself(x), lambda: (rand(3),)),
    "in_place, result and number": (lambda x: rows.expm_(x * 1, 0.5), lambda: (rand(3),)),
    "non_differentiable argument": (
        lambda x: rows.picked(x, torch.full((3,), 2.0, dtype=x.dtype), torch.arange(3)),
        lambda: (rand(3),),
    ),
    "several arguments, named results": (rows.pair, lambda: (rand(3), rand(3))),
    "one argument of several": (lambda x: rows.pair(x, x.detach())[0], lambda: (rand(3),)),
    "non_differentiable result": (lambda x: rows.halved(x)[0], lambda: (rand(3),)),
    "differentiable_if": (lambda x: rows.converted(x, True), lambda: (rand(3),)),
    "metadata": (rows.total, lambda: (rand(2, 3),)),
    "by name": (lambda x, y: rows.shifted(x, by=y, factor=3.0), lambda: (rand(3), rand(3))),
    "beside other returns": (lambda x: rows.counted(x)[0], lambda: (rand(3),)),
    "beside a number and a list": (lambda x: _put_together(*rows.apart(x)), lambda: (rand(3),)),
    "one of a list": (lambda x: rows.apart(x)[2][1], lambda: (rand(3),)),
    "made of returns of several types": (rows.mean_of, lambda: (rand(3),)),
    "a view": (rows.corner, lambda: (rand(2, 3),)),
    "a number": (lambda x, y: layers.product(x, y, 0.5), lambda: (rand(2, 3), rand(3, 2))),
    "broadcast": (door.hypotenuse, lambda: (rand(2, 1), rand(3))),
    "nothing named, broadcast": (lambda x, y: rows.shifted(x, by=y), lambda: (rand(2, 3), rand(3))),
    "nothing named, in place": (lambda x, y: rows.shifted_(x * 1, by=y, factor=3.0), lambda: (rand(2, 3), rand(3))),
    "nothing named, with itself": (lambda x: _shifted_by_itself(x), lambda: (rand(3),)),
    "arguments out of order": (rows.swapped, lambda: (rand(3), rand(2, 3))),
    "a list named": (lambda x, y: rows.dotted([x, y], [torch.full_like(y, 2), HALF]), lambda: (rand(3), rand(3))),
    "a list, and something optional": (lambda x, y: rows.dotted([x, x], [HALF] * 2, y), lambda: (rand(3), rand(3))),
    "a list of results": (lambda x, y: _sum_of_each(x, y), lambda: (rand(3), rand(3))),
    "a condition on a type": (lambda x: rows.cast_like(x, torch.ones(1)), lambda: (rand(3),)),
    "by hand": (rows.by_hand, lambda: (rand(3), rand(3))),
}


def _of_view(x, y):
    x = x * 1
    rows.weigh_(x[1], y)
    return x * x


def _put_together(whole, count, parts):
    return whole * count + parts[0] * parts[1]


def _with_itself(x):
    x = x * 1
    return rows.weigh_(x, x)


def _shifted_by_itself(x):
    x = x * 1
    return rows.shifted_(x, by=x) * x


def _sum_of_each(x, y):
    parts, whole = rows.each([x, y], torch.full_like(x, 2))
    return parts[0] * parts[1] + whole


@pytest.mark.parametrize("function, arguments", CASES.values(), ids=CASES)
def test_first_and_second_derivatives_agree_with_differences(function, arguments):
    assert gradcheck(function, arguments()) and gradgradcheck(function, arguments())


def test_results_without_a_gradient_require_none():
    x = rand(3)
    assert not rows.place(x).requires_grad
    assert not rows.converted(x, False).requires_grad and rows.converted(x, True).requires_grad
    half, rest = rows.halved(x)
    assert half.requires_grad and not rest.requires_grad
    doubled, count, text = rows.counted(x)
    assert doubled.requires_grad and (count, text) == (3, "doubled")
    assert rows.weigh(x, x).grad_fn.name().startswith("weighBackward")


def test_returns_of_several_types():
    x = torch.ones(3)
    whole, count, parts = rows.apart(x)
    assert (whole.tolist(), count, [part.tolist() for part in parts]) == ([2] * 3, 3, [[3] * 3, [4] * 3])
    assert rows.mean_of(x) == 16
    whole, count, parts = rows.apart(rand(3))
    assert whole.requires_grad and count == 3 and all(part.requires_grad for part in parts)
    torch.library.opcheck(rows.apart.default, (rand(3),))


def test_a_gradient_that_there_is_none_of_is_refused_by_name():
    x, weight = rand(3), rand(3)
    with pytest.raises(RuntimeError, match="no derivative with respect to `weight`"):
        rows.picked(x, weight, torch.arange(3))


def test_writes_in_place_are_recorded_as_pytorchs_own():
    x, y = rand(3), rand(3)
    z = x * 1
    version = z._version
    assert rows.weigh_(z, y) is z and z._version > version and z.grad_fn.name().startswith("weigh_Backward")
    for leaf in [x, x[:2]]:
        before = leaf.detach().clone()
        with pytest.raises(RuntimeError, match="^rows::weigh_ writes to a leaf that requires grad"):
            rows.weigh_(leaf, y[: len(leaf)])
        assert torch.equal(leaf.detach(), before), "nothing was written"
    with torch.no_grad():
        rows.weigh_(x, y)
    plain = torch.ones(3, dtype=torch.float64)
    assert rows.weigh_(plain, y) is plain and plain.requires_grad
    saved = z.exp()
    loss = (saved * 2).sum() + (saved * saved).sum()
    rows.weigh_(saved, y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_what_is_no_view_and_says_so_is_an_error_where_a_gradient_would_be_lost():
    with torch.no_grad():
        assert rows.no_view(torch.ones(2)).tolist() == [1, 1]
    assert rows.no_view(torch.ones(2)).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="rows::no_view returns no view of its argument"):
        rows.no_view(rand(2))


def test_sizes_in_place():
    x = torch.rand(2, 3)
    assert rows.flip_(x) is x and x.shape == (3, 2)
    with pytest.raises(RuntimeError, match="rows::flip_ writes to an argument"):
        rows.flip_(rand(2, 3) * 1)


def test_graphs_are_freed():
    def graph():
        x, y = rand(3), rand(3)
        z = rows.weigh_(x * 1, y)
        door.weighted([z, y], None, 2).sum().backward()
        return [weakref.ref(tensor) for tensor in (x, y, z, x.grad)]

    left = graph()
    assert [tensor() for tensor in left] == [None] * 4
    gc.collect()


FUNCTIONS = {
    "functional": lambda x, y: rows.weigh(x, y).sum(),
    "pointwise": lambda x, y: door.hypotenuse(x, y).sum(),
    "with a rule for vmap": lambda x, y: layers.scores(x, y, factor=2.0).sum(),
    "in place": lambda x, y: rows.weigh_(x * 1, y).sum(),
    "list and number": lambda x, y: door.weighted([x, y], y, 2).sum(),
    "two results": lambda x, y: sum(part.sum() for part in rows.pair(x, y)),
    "composite": lambda x, y: door.swish(x * y).sum(),
}


def test_transforms_of_views():
    def function(x):
        return (rows.corner(x.unsqueeze(0)) ** 2).sum()

    x = torch.rand(3)
    assert torch.allclose(torch.func.grad(function)(x), 2 * x)
    assert torch.allclose(torch.func.jvp(function, (x,), (x,))[1], (2 * x * x).sum())
    with pytest.raises(RuntimeError, match=TOLD and "Batching rule not implemented for rows::corner"):
        torch.func.vmap(torch.func.grad(function))(torch.stack([x, x]))
    with pytest.raises(RuntimeError, match="rows::no_view returns no view"):
        torch.func.grad(lambda x: rows.no_view(x).sum())(x)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_transforms_of_functions_give_what_autograd_gives(function):
    x, y = torch.rand(4, 3, dtype=torch.float64), torch.rand(4, 3, dtype=torch.float64)

    def expected(x, y):
        x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
        return torch.autograd.grad(function(x, y), (x, y))

    of_one = torch.func.grad(function, argnums=(0, 1))
    assert all(map(torch.allclose, of_one(x[0], y[0]), expected(x[0], y[0])))
    of_all = torch.func.vmap(of_one)(x, y)
    assert all(map(torch.allclose, of_all, map(torch.stack, zip(*map(expected, x, y)))))
    value, pull = torch.func.vjp(function, x[0], y[0])
    assert all(map(torch.allclose, pull(torch.ones_like(value)), expected(x[0], y[0])))
    assert torch.allclose(torch.func.jacrev(function)(x[0], y[0]), expected(x[0], y[0])[0])


def test_second_transforms_agree_with_second_derivatives():
    x, y = rand(3), rand(3)
    for function in [
        lambda x: rows.weigh(x, x * y).sum(),
        lambda x: rows.weigh(x, y).pow(3).sum(),
        lambda x: rows.expm_(x * y, 0.5).sum(),
        lambda x: rows.weigh_(x * 1, y).pow(3).sum(),
        lambda x: door.expm(x).sum(),
        lambda x: door.weighted([x, x], x, 2).sum(),
        lambda x: sum(part.sum() for part in rows.pair(x, x * y)),
    ]:
        first = torch.autograd.grad(function(x), x, create_graph=True)[0]
        expected = torch.autograd.grad(first.square().sum(), x)[0]
        found = torch.func.grad(lambda x: torch.func.grad(function)(x).square().sum())(x.detach())
        assert torch.allclose(found, expected)


def test_exceptions_of_python_pass_as_they_are():
    class Refusal(Exception):
        pass

    class Refuses(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            raise Refusal(str(function))

    x = torch.rand(3)
    calls = [lambda x: rows.weigh(x, x), lambda x: layers.product(x.unsqueeze(0), x.unsqueeze(1), 2), door.swish]
    for call in calls:
        for x in [torch.rand(3), rand(3)]:
            x = x * 1
            with Refuses(), pytest.raises(Refusal, match="^(rows.weigh|layers._product_flat|aten.).*default$|aten.unsq"):
                call(x)
            assert call(x).shape in ((3,), (1, 1))
    y = rows.weigh(rand(3), rand(3)).sum()
    with Refuses(), pytest.raises(Refusal):
        y.backward()


def test_forward_mode_is_refused_by_name():
    x = torch.rand(3)
    for function, name in [
        (lambda x: rows.weigh(x, x), "rows::weigh"),
        (lambda x: layers.product(x.unsqueeze(0), x.unsqueeze(1)), "layers::product"),
        (lambda x: rows.weigh_(x * 1, x), "rows::weigh_"),
    ]:
        with pytest.raises(NotImplementedError, match=f"{name} has no forward-mode derivative in PyTorch"):
            torch.func.jvp(function, (x,), (x,))
    value, tangent = torch.func.jvp(door.swish, (x,), (x,))
    assert torch.allclose(tangent, torch.func.jvp(lambda x: x * x.sigmoid(), (x,), (x,))[1])


def test_compiled_programs_do_the_same():
    def program(x, y):
        return (rows.shifted(rows.weigh(x, y), by=layers.product(x, y, 2)) * rows.halved(x)[0]).sum()

    x, y = rand(3, 3), rand(3, 3)
    expected = torch.autograd.grad(program(x, y), (x, y))
    found = torch.autograd.grad(torch.compile(program, backend="aot_eager", fullgraph=True)(x, y), (x, y))
    assert all(map(torch.allclose, found, expected))
