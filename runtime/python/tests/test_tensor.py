"""Tensors compared with NumPy arrays: operators such as `+`, indices, methods, elements."""

import operator
import pickle

import numpy as np
import pytest

import torch_library as tl

RANDOM = np.random.default_rng(0)
A, B = RANDOM.standard_normal((3, 4)), RANDOM.standard_normal((3, 4)) + 3


def tensor(array):
    return tl.tensor(array)


def same(found, expected):
    found = np.asarray(found)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("sign", ["add", "sub", "mul", "truediv", "lt", "le", "eq", "ne", "gt", "ge", "mod", "floordiv"])
def test_signs_do_what_they_do_in_numpy(sign):
    f = getattr(operator, sign)
    same(f(tensor(A), tensor(B)), f(A, B))
    same(f(tensor(A), 2.5), f(A, 2.5))
    same(f(2.5, tensor(B)), f(2.5, B))


def test_further_signs():
    same(tensor(B) ** 2, B**2)
    same(2 ** tensor(A), 2**A)
    same(-tensor(A), -A)
    same(abs(tensor(A)), abs(A))
    same(tensor(A) @ tensor(B).T, A @ B.T)
    i, j = np.array([1, 2, 3]), np.array([3, 5, 7])
    for sign in (operator.and_, operator.or_, operator.xor, operator.lshift):
        same(sign(tensor(i), tensor(j)), sign(i, j))
    same(~tensor(i), ~i)
    x = tensor(A)
    y = x
    x += 1
    x *= 2
    x **= 2
    x //= 3
    x %= 5
    assert x is y
    same(x, ((A + 1) * 2) ** 2 // 3 % 5)
    with pytest.raises(TypeError):
        tensor(A) + "a"
    with pytest.raises(TypeError):
        tensor(A) @ 2


KEYS = [
    0, -1, slice(1, None), slice(None, None, 2), slice(-2, -1), (1, 2), (slice(None), 1), (..., 0), (0, ...),
    (None, 1), (slice(None), None), (..., None), [0, 2], ([0, 2], [1, 3]), (slice(None), [1, 3]), ([2, 0], slice(1, 3)),
    np.array([True, False, True]), A > 0, (slice(1), np.array([0, 3])), (None, [1], 2), True, (), np.int64(1),
    (slice(5, 9),), [],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indices_pick_what_they_pick_in_numpy(key):
    same(tensor(A)[key], A[key])
    written, expected = tensor(A), A.copy()
    written[key] = 7.5
    expected[key] = 7.5
    same(written, expected)


def test_indices_of_tensors():
    x = tensor(A)
    same(x[tl.tensor([2, 0])], A[[2, 0]])
    same(x[x > 0], A[A > 0])
    same(x[tl.tensor(1)], A[1])
    x[0] = tensor(B)[1]
    same(x[0], B[1])
    x[1] = B[0]
    same(x[1], B[0])
    view = x[1:]
    view[0, 0] = 100
    assert x[1, 0].item() == 100


def test_leading_ones_of_a_value_do_not_count():
    x = tl.tensor([1.0, 2.0, 3.0])
    x[:] = tl.tensor([[[4.0, 5.0, 6.0]]])
    assert x.tolist() == [4, 5, 6]
    x[1:] = tl.tensor([[7]])
    assert x.tolist() == [4, 7, 7]
    x[0] = tl.tensor([[8.0]])
    x[[1, 2]] = tl.tensor([[1.0, 2.0]])
    assert x.tolist() == [8, 1, 2]
    y = tl.tensor([[9.0, 10.0, 11.0]], requires_grad=True)
    z = x * 1
    z[:] = y
    z.sum().backward()
    assert z.tolist() == [9, 10, 11] and y.grad.tolist() == [[1, 1, 1]]
    for wrong in ([[1.0, 2.0, 3.0]] * 2, [[1.0, 2.0]]):
        with pytest.raises(ValueError):
            x[:] = tl.tensor(wrong)


@pytest.mark.parametrize(
    "key", [3, -4, (0, 4), (0, 0, 0), "a", 1.5, slice(None, None, -1), (..., ...), [0, 7], {}, slice("a"), 1 << 80]
)
def test_indices_that_there_are_not(key):
    with pytest.raises((IndexError, TypeError, ValueError)):
        tensor(A)[key]
    with pytest.raises((IndexError, TypeError, ValueError)):
        tensor(A)[key] = 1


def test_operators_are_methods():
    x = tensor(A)
    same(x.sum(dim=0), A.sum(axis=0))
    same(x.view(2, 6), A.reshape(2, 6))
    same(x.view([4, 3]), A.reshape(4, 3))
    same(x.reshape(-1), A.reshape(-1))
    same(x.permute(1, 0), A.T)
    same(x.transpose(0, 1), A.T)
    same(x.expand(2, 3, 4), np.broadcast_to(A, (2, 3, 4)))
    same(x.mean(1, keepdim=True), A.mean(1, keepdims=True))
    same(x.relu().exp(), np.exp(np.maximum(A, 0)))
    assert x.to(tl.float32).dtype == tl.float32
    assert "sum" in dir(x)
    assert tl.Tensor.sum(x).shape == ()


def test_what_a_tensor_says_of_itself():
    x = tensor(A)
    assert (x.shape, x.ndim, x.numel(), x.strides, x.stride(1)) == ((3, 4), 2, 12, (4, 1), 1)
    assert (x.dtype, str(x.device), x.itemsize, x.nbytes) == (tl.float64, "cpu", 8, 96)
    assert x.size() == (3, 4) and x.size(-1) == 4 and len(x) == 3
    assert x.is_contiguous() and not x.T.is_contiguous() and x.T.shares_memory_with(x)
    assert repr(tl.tensor([1, 2])) == "tensor([1, 2])"
    assert repr(tl.float32) == "torch_library.float32" and repr(tl.device("cpu")) == 'device("cpu")'
    assert pickle.loads(pickle.dumps(tl.float32)) == tl.float32
    assert len({x, x, tensor(A)}) == 2


def test_elements_are_numbers_of_python():
    assert tensor(A).tolist() == A.tolist()
    assert [row.tolist() for row in tensor(A)] == A.tolist() == [row.tolist() for row in iter(iter(tensor(A)))]
    assert (tl.tensor(3).item(), tl.tensor(2.5).item(), tl.tensor(True).item()) == (3, 2.5, True)
    assert float(tl.tensor(3)) == 3.0 and int(tl.tensor(2.5)) == 2 and complex(tl.tensor(1j)) == 1j
    assert bool(tl.tensor([[1]])) and not tl.tensor(0.0)
    assert range(5)[tl.tensor(2)] == 2
    assert 3 in tl.tensor([1, 2, 3]) and 4 not in tl.tensor([1, 2, 3])
    for wrong in (bool, float, int, len):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            wrong(tl.tensor([1, 2]) if wrong is not len else tl.tensor(1))


def test_rows_are_made_when_they_are_asked_for():
    for row in tl.tensor([1.0]).expand([1 << 40]):
        assert row.item() == 1
        break
    x = tl.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    rows = iter(x)
    assert operator.length_hint(rows) == 2
    (next(rows) * 3).sum().backward()
    assert x.grad.tolist() == [[3, 3], [0, 0]]
    y = tl.tensor([1, 2])
    for row in y:
        row.mul_(5)
    assert y.tolist() == [5, 10] and list(tl.tensor([])) == []
    with pytest.raises(TypeError, match="no parts to iterate over"):
        iter(tl.tensor(1))


def test_integers_without_a_type_are_refused_as_such():
    assert tl.tensor([2**63 - 1, -(2**63)]).tolist() == [2**63 - 1, -(2**63)]
    assert tl.tensor(np.array([2**64 - 1], np.uint64)).numpy().tolist() == [2**64 - 1]
    x = tl.tensor([1])
    for large in (2**63, -(2**63) - 1, 1 << 100_000, np.uint64(2**63)):
        with pytest.raises(ValueError, match="does not fit int64"):
            tl.tensor([[1], [large]])
        with pytest.raises(ValueError, match="does not fit int64"):
            x[0] = [large]
    assert x.tolist() == [1]
    with pytest.raises(TypeError, match="`dim` is of type int, not int of 64 bits"):
        tl.ops.aten.select.int(x, 2**63, 0)


def test_tensors_are_made_of_lists():
    assert tl.tensor([[1, 2], [3, 4]]).dtype == tl.int64
    assert tl.tensor([1, 2.0]).dtype == tl.float32 and tl.tensor([True]).dtype == tl.bool
    assert tl.tensor([1j]).dtype == tl.complex64 and tl.tensor([]).shape == (0,)
    assert tl.tensor([1, 2], dtype=tl.float64).dtype == tl.float64
    assert tl.tensor([0.1, 16777217.0], dtype=tl.float64).tolist() == [0.1, 16777217.0]
    assert tl.tensor([0.1 + 1e-9j], dtype=tl.complex128).tolist() == [0.1 + 1e-9j]
    assert tl.tensor([16777217.0, 2.5], dtype=tl.int64).tolist() == [16777217, 2]
    assert tl.tensor([tl.tensor(1), 2]).tolist() == [1, 2]
    for wrong in ([[1], [2, 3]], [[1], 2], [1, [2]], "abc", ["a"], {}, None, [None], object(), [[], [1]]):
        with pytest.raises((TypeError, ValueError)):
            tl.tensor(wrong)


def test_random_numbers_come_from_a_seed():
    tl.manual_seed(3)
    first = tl.ops.aten.rand([4]).tolist()
    tl.manual_seed(3)
    assert tl.ops.aten.rand([4]).tolist() == first
    again = tl.ops.aten.rand([4], generator=tl.Generator(3))
    assert again.tolist() == first


def test_lists_without_end_are_refused():
    for members in ([0.0], []):
        for _ in range(60):
            members = [members, members]
        with pytest.raises(TypeError, match="too many for a list"):
            tl.tensor(members)
    with pytest.raises(TypeError, match="1099511627776 lists are too many"):
        tl.ops.aten.zeros([1, 0]).expand([2**40, 0]).tolist()
    assert tl.ops.aten.zeros([2, 0]).tolist() == [[], []]
