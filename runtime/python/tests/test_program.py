"""Loads and runs a model that was written by `torch.export`."""

import collections
import dataclasses
import json
import struct
from pathlib import Path

import numpy as np
import pytest

import torch_library as tl

ROOT = Path(__file__).parents[3]
MODELS, ARCHIVES = ROOT / "examples" / "models", ROOT / "runtime" / "export" / "tests" / "archives"


def safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    kinds = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def test_digits_are_what_pytorch_found():
    inputs, outputs = safetensors(MODELS / "digits.inputs.safetensors"), safetensors(MODELS / "digits.outputs.safetensors")
    model = tl.load(MODELS / "digits.pt2")
    assert not model.problems and len(model.inputs) == len(inputs) == 1
    (images,), (expected,) = inputs.values(), outputs.values()
    for mode in (tl.no_grad, tl.inference_mode):
        with mode():
            found = model(tl.tensor(images))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    assert all(isinstance(weight, tl.Tensor) for weight in model.weights.values())


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(OSError):
        tl.load(tmp_path / "nothing.pt2")
    (tmp_path / "bad.pt2").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises((ValueError, OSError, RuntimeError)):
        tl.load(tmp_path / "bad.pt2")
    model = tl.load(MODELS / "digits.pt2")
    for wrong in ((), (1,), (tl.tensor([1.0]),), ("a",), (object(),), (tl.tensor([1.0]),) * 2):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            model(*wrong)


def test_keywords_and_keys_are_found_by_name():
    model = tl.load(ARCHIVES / "nested.pt2")
    tensors = [tl.tensor(value) for value in safetensors(ARCHIVES / "nested.inputs.safetensors").values()]
    first, second, a, b, scale = tensors
    expected = model(*tensors)["rest"][0].tolist()
    assert expected == (a * scale).tolist() != (b * scale).tolist()
    pair, named = (first, second), {"b": b, "a": a}
    for found in (model(pair, named, scale), model(scale=scale, named=named, pair=pair), model(pair, scale=scale, named=named)):
        assert found["rest"][0].tolist() == expected
        assert found["sum"].tolist() == (first + second).tolist()
    for wrong, message in [
        (lambda: model(pair, named, scales=scale), "no input `scales`; its inputs are `pair"),
        (lambda: model(pair, {"a": a, "c": b}, scale), "no input `named['c']`"),
        (lambda: model(pair, {"b": b}, scale), "the input `named['a']` has no value"),
        (lambda: model(pair, scale=scale), "the input `named['a']` has no value"),
        (lambda: model(pair, named, scale, scale=scale), "the input `scale` has two values"),
    ]:
        with pytest.raises(TypeError) as refusal:
            wrong()
        assert message in str(refusal.value)


def test_constants_may_be_passed_and_must_be_what_they_were():
    model = tl.load(ARCHIVES / "strict.pt2")
    pair, x, second = (tl.tensor(value) for value in safetensors(ARCHIVES / "strict.inputs.safetensors").values())
    (expected,) = safetensors(ARCHIVES / "strict.outputs.safetensors").values()
    for call in (
        lambda: model(2.0, (pair, 4), x, {"first": None, "second": second}),
        lambda: model(2.0, (pair, 4), x, {"second": second}),
        lambda: model(2.0, pair=(pair, 4), named={"second": second, "first": None}, x=x),
        lambda: model(pair=(pair,), named={"second": second}, x=x),
        lambda: model(pair, x, second),
        lambda: model((pair,), x, {"second": second}),
    ):
        np.testing.assert_allclose(call().numpy(), expected, rtol=1e-6)
    for wrong, error, message in [
        (lambda: model(3.0, (pair, 4), x, {"first": None, "second": second}), ValueError, "`scale` is always 2.0 in this program, got 3.0"),
        (lambda: model(2, (pair, 4), x, {"first": None, "second": second}), ValueError, "`scale` is always 2.0 in this program, got 2"),
        (lambda: model(2.0, (pair, "4"), x, {"second": second}), ValueError, "is always 4 in this program, got \"4\""),
        (lambda: model(2.0, (pair, 4), named={"second": second}), TypeError, "the input `x` has no value"),
        (lambda: model(scales=2.0, pair=(pair,), named={"second": second}, x=x), TypeError, "no input `scales`"),
        (lambda: model(2.0, (pair, 4), x), ValueError, "or 6 arguments with constants; got 4"),
    ]:
        with pytest.raises(error) as refusal:
            wrong()
        assert message in str(refusal.value)


@dataclasses.dataclass
class Fields:
    b: tl.Tensor
    a: tl.Tensor
    more: list = dataclasses.field(default_factory=list)


Pair = collections.namedtuple("Pair", "first second")


def test_named_tuples_and_dataclasses_are_arguments_and_results():
    model = tl.load(ARCHIVES / "named.pt2")
    first, second, a, b, z = (tl.tensor(value) for value in safetensors(ARCHIVES / "named.inputs.safetensors").values())
    expected = list(safetensors(ARCHIVES / "named.outputs.safetensors").values())
    for fields in (Fields(b=b, a=a), {"b": b, "a": a}):
        found, pair = model(Pair(first, second), fields, {"z": z})
        assert type(pair) is tuple and found.keys() == {"a", "b"}
        for tensor, value in zip((found["a"], found["b"], *pair), expected, strict=True):
            np.testing.assert_allclose(tensor.numpy(), value, rtol=1e-6)
    with pytest.raises(TypeError, match="the program has no input `fields.more"):
        model((first, second), Fields(b=b, a=a, more=[z]), {"z": z})


@dataclasses.dataclass
class Outer:
    inner: Fields
    pair: Pair
    more: list


def test_deques_ordered_dicts_and_nested_dataclasses_are_arguments_and_results():
    model = tl.load(ARCHIVES / "containers.pt2")
    queue, ordered, outer = (list(part) for part in np.split(np.arange(18, dtype=np.float32).reshape(9, 2), [2, 4]))
    a, b, first, second, more = map(tl.from_numpy, outer)
    queue, (z, y) = [tl.from_numpy(value) for value in queue], [tl.from_numpy(value) for value in ordered]
    expected = list(safetensors(ARCHIVES / "containers.outputs.safetensors").values())
    ordered = collections.OrderedDict(z=z, a=y)
    for arguments in [
        (collections.deque(queue), ordered, Outer(Fields(a=a, b=b), Pair(first, second), [more])),
        (tuple(queue), {"a": y, "z": z}, {"more": (more,), "pair": [first, second], "inner": {"b": b, "a": a}}),
    ]:
        found, ordered, outer = model(*arguments)
        assert type(found) is collections.deque and list(ordered) == ["z", "a"]
        inner = outer["inner"]
        found = [*found, *ordered.values(), inner["a"], inner["b"], *outer["pair"], *outer["more"]]
        for tensor, value in zip(found, expected, strict=True):
            np.testing.assert_array_equal(tensor.numpy(), value)
    with pytest.raises(TypeError, match="sequences, dicts and dataclasses of them, not <class 'set'>"):
        model({1, 2}, ordered, outer)


def test_arguments_within_themselves_are_refused():
    model = tl.load(MODELS / "digits.pt2")
    itself, many = [], []
    itself.append(itself)
    for _ in range(60):
        many = [many, many]
    for wrong in (itself, many):
        with pytest.raises(ValueError, match="nested deeper than"):
            model(wrong)
