"""Operators of several crates, from Python: one namespace, one registry, one set of layers."""

import pytest

import torch_library as tl

glyphs, aten = tl.ops.glyphs, tl.ops.aten
PICTURES = tl.tensor([[[[0.0, 4.0], [8.0, 4.0]]], [[[16.0, 0.0], [0.0, 0.0]]]])


def test_operators_of_all_crates_are_there():
    assert {"normalize", "ink", "class_means"} <= set(dir(glyphs))
    assert {"aten", "glyphs"} <= set(dir(tl.ops))
    assert glyphs.ink(PICTURES).tolist() == [16, 16]
    assert glyphs.normalize(PICTURES, max=8.0)[0, 0].tolist() == [[0, 0.5], [1, 0.5]]


def test_they_work_with_those_of_aten():
    means = glyphs.class_means(aten.relu(PICTURES), tl.tensor([0, 1]), classes=2)
    assert means.equal(PICTURES)
    assert glyphs.nearest(PICTURES, means).tolist() == [0, 1]


def test_what_is_wrong_is_an_exception():
    with pytest.raises(ValueError, match="sizes"):
        glyphs.ink(tl.tensor([1.0]))
    with pytest.raises(TypeError, match="glyphs::ink"):
        glyphs.ink("a")
    with pytest.raises(AttributeError, match="glyphs::inc"):
        glyphs.inc


def test_they_are_documented():
    assert "The amount of ink on each picture" in glyphs.ink.__doc__
    assert "glyphs::ink(Tensor images) -> Tensor" in glyphs.ink.__doc__
