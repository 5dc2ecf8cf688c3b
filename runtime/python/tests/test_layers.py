"""Gradients, vmap, autocast, and other Python threads that run during an operator."""

import threading
import time

import numpy as np
import pytest

import torch_library as tl

aten = tl.ops.aten


def test_gradients_are_those_of_the_formula():
    x = tl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x * x).sum()
    assert y.requires_grad and not y.is_leaf and x.is_leaf and y.grad_fn
    y.backward()
    assert x.grad.tolist() == [2, 4, 6]
    (x * 2).sum().backward()
    assert x.grad.tolist() == [4, 6, 8]
    x.grad = None
    assert x.grad is None
    (first,) = tl.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = tl.autograd.grad(first.sum(), x)
    assert second.tolist() == [6, 12, 18]
    (x * x).backward(tl.tensor([1.0, 0.0, 2.0]))
    assert x.grad.tolist() == [2, 0, 12]
    with pytest.raises(RuntimeError):
        tl.tensor([1.0]).sum().backward()
    with pytest.raises(RuntimeError):
        tl.tensor([1]).requires_grad_()


def test_hooks_see_and_replace_gradients():
    x = tl.tensor([1.0], requires_grad=True)
    seen = []
    hook = x.register_hook(lambda grad: seen.append(grad.tolist()) or grad * 10)
    (x * 3).sum().backward()
    assert seen == [[3.0]] and x.grad.tolist() == [30.0]
    hook.remove()

    def fails(_):
        raise KeyError("of a hook")

    x.register_hook(fails)
    with pytest.raises(KeyError, match="of a hook"):
        (x * 3).sum().backward()


def test_no_grad_is_a_block_and_a_decorator():
    x = tl.tensor([1.0], requires_grad=True)
    with tl.no_grad():
        assert not (x * 2).requires_grad and not tl.is_grad_enabled()
        with tl.enable_grad():
            assert (x * 2).requires_grad
    assert tl.is_grad_enabled()
    for decorator in (lambda: tl.no_grad, tl.no_grad, tl.inference_mode, lambda: tl.set_grad_enabled(False)):

        @decorator()
        def f():
            return (x * 2).requires_grad

        assert not f() and tl.is_grad_enabled()
    with pytest.raises(ZeroDivisionError), tl.no_grad():
        1 / 0
    assert tl.is_grad_enabled()


def test_vmap_is_a_loop():
    a, b = np.random.default_rng(1).standard_normal((2, 5, 3))
    x, y = tl.tensor(a), tl.tensor(b)
    np.testing.assert_allclose(tl.vmap(aten.dot)(x, y).numpy(), (a * b).sum(1))
    np.testing.assert_allclose(tl.vmap(aten.dot, in_dims=(0, None))(x, y[0]).numpy(), a @ b[0])
    np.testing.assert_allclose(tl.vmap(lambda c: c.sum(), in_dims=1)(x).numpy(), a.sum(0))
    total, double = tl.vmap(lambda row, factor: (row.sum(), row * factor), in_dims=(0, None), out_dims=(0, 1))(x, 2)
    np.testing.assert_allclose(double.numpy(), 2 * a.T)
    np.testing.assert_allclose(tl.vmap(tl.vmap(lambda e: e * e))(x).numpy(), a * a)
    with pytest.raises(KeyError):
        tl.vmap(lambda row: {}["none"])(x)
    with pytest.raises(TypeError):
        tl.vmap(lambda row: 3)(x)
    with pytest.raises(ValueError):
        tl.vmap(lambda row: row, in_dims=7)(x)
    leaked = []
    tl.vmap(lambda row: leaked.append(row) or row)(x)
    with pytest.raises((ValueError, RuntimeError)):
        leaked[0] + 1


def test_grad_is_a_function_of_a_function():
    f = lambda w, x: ((w * x).sum()) ** 2  # noqa: E731
    w, x = tl.tensor([1.0, 2.0]), tl.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert tl.grad(f)(w, x[2]).tolist() == [6, 6]
    assert [one.tolist() for one in tl.grad(f, argnums=(0, 1))(w, x[2])] == [[6, 6], [6, 12]]
    per_example = tl.vmap(tl.grad(f), in_dims=(None, 0))(w, x)
    assert per_example.tolist() == [[2, 0], [0, 4], [6, 6]]
    gradient, value = tl.grad_and_value(f)(w, x[2])
    assert value.item() == 9 and not value.requires_grad
    second = tl.grad(lambda w: tl.grad(f)(w, x[2]).sum())(w)
    assert second.tolist() == [4, 4]
    with pytest.raises((ValueError, RuntimeError)):
        tl.grad(lambda w: w)(w)
    with pytest.raises(IndexError):
        tl.grad(f, argnums=5)(w, x)


def test_autocast_is_a_block_and_a_decorator():
    x = tl.tensor([[1.0, 2.0], [3.0, 4.0]])
    with tl.autocast("cpu", dtype=tl.bfloat16):
        assert (x @ x).dtype == tl.bfloat16
        with tl.autocast("cpu", enabled=False):
            assert (x @ x).dtype == tl.float32
    assert (x @ x).dtype == tl.float32
    assert tl.autocast("cpu", dtype=tl.float16)(lambda: x @ x)().dtype == tl.float16
    with pytest.raises((ValueError, RuntimeError)), tl.autocast("no device"):
        pass
    outer, inner = tl.autocast("cpu"), tl.autocast("cpu")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="innermost"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    outer._entered.append(1)
    outer.__exit__(None, None, None)


def test_other_threads_run_while_an_operator_does():
    x = aten.rand([700, 700], dtype=tl.float64)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    while time.perf_counter() - began < 0.2:
        before = time.perf_counter()
        aten.linalg_inv(x)
        after = time.perf_counter()
    stop.set()
    thread.join()
    within = [one for one in ticks if before < one < after]
    assert len(within) >= 2, f"{len(within)} ticks within a call of {after - before:.3f} s"


def test_threads_that_write_what_another_reads_get_an_error_or_a_result():
    x, failures = aten.zeros([300_000]), []

    def work(seed):
        for _ in range(50):
            try:
                x.add_(1) if seed % 2 else x.sum()
            except RuntimeError as error:
                assert "memory cannot be" in str(error)
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures
