"""Arguments by schema: by position and by name, defaults, overloads, and the exceptions for wrong arguments."""

import sys

import numpy as np
import pytest

import torch_library as tl

aten = tl.ops.aten
X = tl.tensor([[1.0, 2.0], [3.0, 4.0]])


def same(tensor, array):
    np.testing.assert_allclose(np.asarray(tensor), array)


def test_arguments_are_given_by_position_by_name_or_not():
    same(aten.add(X, X), [[2, 4], [6, 8]])
    same(aten.add(X, X, alpha=2), [[3, 6], [9, 12]])
    same(aten.add(self=X, other=X, alpha=2), [[3, 6], [9, 12]])
    same(aten.sum(X, [0], True), [[4, 6]])
    same(aten.sum(X, dim=0), [4, 6])
    assert aten.sum(X, dtype=tl.float64).dtype == tl.float64
    assert aten.sum(X, dtype=float).dtype is aten.sum(X, dtype=np.float64).dtype


def test_overloads_are_tried_in_pytorchs_order():
    assert aten.add.overloads()[:3] == ["Tensor", "Scalar", "out"]
    assert aten.max.overloads()[:3] == ["other", "default", "dim"]
    assert aten.sum.overloads()[0] == "dim_IntList"
    assert aten.max(X).item() == 4
    values, indices = aten.max(X, 1)
    same(values, [2, 4])
    same(indices, [1, 1])
    same(aten.add(2, X), [[3, 4], [5, 6]])
    same(aten.pow(2, X), [[2, 4], [8, 16]])
    assert aten.add.Tensor(X, 1).dtype == tl.float32
    same(aten.max.default(X), 4)


def test_numbers_of_numpy_are_numbers():
    same(aten.mul(X, np.float32(2)), [[2, 4], [6, 8]])
    same(aten.select(X, np.int64(0), np.int32(1)), [3, 4])
    same(aten.select(X, 0, tl.tensor(1)), [3, 4])
    assert aten.add(tl.tensor([1, 2]), np.int8(3)).tolist() == [4, 5]


def test_what_is_written_is_returned_as_it_is():
    y = aten.clone(X)
    assert aten.add_(y, 1) is y
    out = tl.tensor([0.0])
    assert aten.add(X, X, out=out) is out
    same(out, [[2, 4], [6, 8]])


def test_results_are_tuples_lists_numbers_and_none():
    assert isinstance(aten.max(X, 0), tuple)
    assert isinstance(aten.split(X, 1), list)
    assert aten.is_neg(X) is False
    first, second = aten.unbind(X)
    same(second, [3, 4])


def test_a_call_that_no_overload_takes_lists_them():
    with pytest.raises(TypeError) as error:
        aten.add("a", 2)
    text = str(error.value)
    assert text.startswith("aten::add has no overload that takes (str, int):")
    assert "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" in text
    assert "argument 1 `self` is of type Tensor, not str" in text
    with pytest.raises(TypeError, match="there is no argument `foo`"):
        aten.relu(X, foo=1)
    with pytest.raises(TypeError, match="argument `self` is given twice"):
        aten.relu(X, self=X)
    with pytest.raises(TypeError, match="takes at most 1 arguments by position, 2 were given"):
        aten.relu(X, X)
    with pytest.raises(TypeError, match="argument `other` is missing"):
        aten.add.Tensor(X)
    with pytest.raises(TypeError, match="argument 3 `index` is of type (Sym)?[iI]nt, not float"):
        aten.select(X, 0, 1.0)


class Twin(str):
    """A name that is equal only to itself, so that a dictionary can have the same name twice."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


def test_names_are_compared_by_their_text():
    name = "".join(["di", "m"])
    same(aten.sum(X, **{name: 0}), [4, 6])
    same(aten.sum(X, **{Twin("dim"): 0}), [4, 6])
    with pytest.raises(TypeError, match="argument `dim` is given twice"):
        aten.sum.dim_IntList(X, **{"dim": 0, Twin("dim"): 1})
    with pytest.raises(TypeError, match="argument `dim` is given twice"):
        X.sum(0, **{Twin("dim"): 1})
    with pytest.raises(TypeError):
        aten.sum(X, **{3: 0})


@pytest.mark.parametrize("call", [lambda f, *a, **k: f(*a, **k), lambda f, *a, **k: f.__call__(*a, **k), lambda f, *a, **k: type(f).__call__(f, *a, **k)])
def test_each_way_to_call_an_operator_is_the_same_call(call):
    same(call(aten.add, X, X), [[2, 4], [6, 8]])
    same(call(aten.add, X, other=X, alpha=2), [[3, 6], [9, 12]])
    same(call(aten.add.Tensor, other=X, self=X), [[2, 4], [6, 8]])
    same(call(X.add, X, alpha=2), [[3, 6], [9, 12]])
    same(call(X.permute, 1, 0), [[1, 3], [2, 4]])
    for wrong in ((), (X,), ("a",)):
        with pytest.raises(TypeError):
            call(aten.add, *wrong)
    # Without arguments, Python may pass no argument array at all.
    with pytest.raises(TypeError, match="argument `self` is missing"):
        call(aten.relu)
    assert list(map(aten.is_neg, [X, X])) == [False, False]


def test_what_is_borrowed_for_a_call_is_given_back():
    def count():
        return sys.getrefcount(X), sys.getrefcount(aten.add)

    X.add(X), X + X  # the first use looks up the operator and caches it
    before = count()
    for _ in range(100):
        aten.add(X, other=X, alpha=2)
        X.add(X)
        X + X
        X + 1
        with pytest.raises(TypeError):
            aten.add(X, "a")
        with pytest.raises(ValueError):
            aten.add(X, tl.tensor([1.0, 2.0, 3.0]))
    assert count() == before


def test_operators_are_made_of_their_names():
    add = tl.Operator("aten::add")
    same(add(X, X), [[2, 4], [6, 8]])
    assert add.overloads() == aten.add.overloads()
    assert tl.Operator("aten::add.Tensor").schemas == aten.add.Tensor.schemas
    assert tl.Operator("aten::relu.default")(X).shape == (2, 2)
    for wrong in ("aten::addd", "add", "", "aten::add.Foo", "::", ".", "aten::", "aten::add.Tensor.Tensor"):
        with pytest.raises(AttributeError):
            tl.Operator(wrong)
    assert isinstance(aten.add, tl.Operator)
    for _ in range(1000):
        tl.Operator("aten::add"), tl.Operator("aten::add.out")


def test_errors_are_of_pythons_kinds():
    with pytest.raises(ValueError, match="aten::add"):
        aten.add(X, tl.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(IndexError):
        aten.sum(X, dim=5)
    with pytest.raises(IndexError):
        X[2]
    with pytest.raises(IndexError, match="out of range"):
        X[0, 0, 0]
    with pytest.raises(IndexError, match="index 7 is out of range"):
        X[[0, 7]]
    with pytest.raises(IndexError):
        aten.embedding(X, tl.tensor([2]))
    with pytest.raises(IndexError):
        aten.index_select(X, 0, tl.tensor([9]))
    with pytest.raises(IndexError):
        aten.embedding_bag(X, tl.tensor([5]), tl.tensor([0]))
    with pytest.raises(IndexError):
        X.stride(2)
    with pytest.raises(NotImplementedError, match="has no kernel for Meta"):
        aten.nonzero(aten.empty([2], device="meta"))
    with pytest.raises(RuntimeError, match="no backend of this program serves cuda"):
        aten.empty([2], device="cuda")
    with pytest.raises(AttributeError, match="add"):
        aten.addd
    with pytest.raises(AttributeError, match="aten"):
        tl.ops.atem
    with pytest.raises(AttributeError, match="Scalar"):
        aten.add.Foo
    with pytest.raises(MemoryError, match="cannot allocate"):
        aten.zeros([1 << 40, 1 << 10])
    with pytest.raises(AttributeError, match="no_such_method"):
        X.no_such_method


def test_an_operator_says_what_it_is():
    assert aten.add.schemas[0] == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert "aten::add.Tensor(" in aten.add.__doc__
    assert aten.add is aten.add and aten.add.Tensor is aten.add.Tensor
    assert "add" in dir(aten) and "aten" in dir(tl.ops) and "Tensor" in dir(aten.add)
    assert repr(aten.relu) == '<operator "aten::relu", overloads default, out>'
    assert tl.add(X, 1).tolist() == [[2, 3], [4, 5]]
