"""Kernels above the backend kernels: autocast, batching rules for vmap, another device."""

import weakref

import pytest
import torch

from library import OPERATORS, REPORT, rand

door, layers = torch.ops.door, torch.ops.layers


def test_casts_follow_pytorchs_region():
    x, y = torch.rand(2, 3), torch.rand(3, 2)
    with torch.autocast("cpu"):
        half = layers.product(x, y)
        assert half.dtype == torch.bfloat16 and layers.exact(half).dtype == torch.float32
        assert layers.product(x.double(), y.double()).dtype == torch.float64, "double precision is left alone"
        with torch.autocast("cpu", enabled=False):
            assert layers.product(x, y).dtype == torch.float32
        with pytest.raises(RuntimeError, match="layers::unsafe_loss is not safe under autocast"):
            layers.unsafe_loss(x)
        assert torch.is_autocast_enabled("cpu")
    with torch.autocast("cpu", dtype=torch.float16):
        assert layers.product(x, y).dtype == torch.float16
    assert layers.product(x, y).dtype == torch.float32 and layers.exact(half).dtype == torch.bfloat16
    assert torch.allclose(half.float(), x @ y, rtol=0.05)


def test_casts_are_differentiated():
    x, y = torch.rand(2, 3, requires_grad=True), torch.rand(3, 2, requires_grad=True)
    with torch.autocast("cpu"):
        layers.product(x, y, 2).sum().backward()
    assert x.grad.dtype == torch.float32
    assert torch.allclose(x.grad, (2 * y.detach().sum(1)).expand(2, 3), rtol=0.05)


def test_casts_are_compiled():
    def program(x, y):
        with torch.autocast("cpu"):
            return layers.product(x, y)

    x, y = torch.rand(2, 3), torch.rand(3, 2)
    compiled = torch.compile(program, backend="aot_eager", fullgraph=True)(x, y)
    assert compiled.dtype == torch.bfloat16 and torch.equal(compiled, program(x, y))


def test_kernels_are_at_their_keys():
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    for name, key in [
        ("layers::_product_flat", "AutocastCPU"),
        ("layers::_product_flat", "AutocastCUDA"),
        ("layers::_product_flat", "CPU"),
        ("layers::_product_flat", "Meta"),
        ("layers::_product_flat", "Autograd"),
        ("layers::scores", "FuncTorchBatched"),
        ("door::hypotenuse", "FuncTorchBatched"),
        ("layers::there", "PrivateUse1"),
        ("layers::elsewhere", "PrivateUse1"),
        ("door::swish", "CompositeImplicitAutograd"),
        ("door::swish", "AutocastCPU"),
    ]:
        assert has(name, key), (name, key)
    assert not has("layers::there", "CPU") and not has("layers::product", "AutocastXPU")
    assert any(line.startswith("layers::there's kernel at is not in PyTorch: Conjugate: ") for line in REPORT)
    assert any(line.startswith("the fallback traced") and "for Tracer is not in PyTorch" in line for line in REPORT)


def test_no_result_is_kept_when_another_is_refused():
    known = []

    @torch.library.impl("layers::halves", "CPU")
    def halves(x):
        second = x + 1
        known.append(weakref.ref(second))
        return torch.empty(2, dtype=torch.uint3) if x.ndim == 2 else x * 1, second

    x = torch.rand(3)
    assert torch.equal(layers.half(x), x) and known.pop()() is None
    with pytest.raises(TypeError, match="element type .* of PyTorch is not known here"):
        layers.half(torch.rand(2, 2))
    assert known.pop()() is None


def test_rules_serve_vmap():
    x, y, before = torch.rand(5, 3), torch.rand(3, 5), layers.runs()
    found = torch.vmap(lambda x, y: layers.scores(x, y, factor=3.0), (0, 1))(x, y)
    assert torch.allclose(found, 3 * x * y.t()) and layers.runs() == before + 1, "all examples at once"
    found = torch.vmap(torch.vmap(layers.scores, (None, 0)), (0, None))(x, y.t())
    assert torch.allclose(found, x.unsqueeze(1) * y.t()) and layers.runs() == before + 2
    total, doubled = torch.vmap(lambda a, b: layers.stacked([a, b], b))(x, y.t())
    assert torch.allclose(total, x + 2 * y.t()) and torch.allclose(doubled[0], 2 * x)
    total, doubled = torch.vmap(lambda a: layers.stacked([a, y[:, 0]]))(x)
    assert torch.allclose(total, x + y[:, 0]) and doubled[1].shape == (5, 3)
    assert torch.allclose(torch.vmap(door.hypotenuse, (0, None))(x, y[:, 0]), torch.hypot(x, y[:, 0]))


def test_without_a_rule_pytorch_runs_example_by_example():
    x = torch.rand(3, 2, dtype=torch.float64)
    assert torch.allclose(torch.vmap(door.opaque)(x), x)


def test_rules_are_differentiated():
    x, y = rand(4, 3), rand(3)
    assert torch.autograd.gradcheck(torch.vmap(layers.scores, (0, None)), (x, y))
    assert torch.autograd.gradgradcheck(torch.vmap(layers.scores, (0, None)), (x, y))
