"""The rows of rows.rs for PyTorch: names, and functions that prepare a call."""

import torch
import torch.nn.functional as F

r, t = torch.randn, torch.Tensor.t
LAST = torch.channels_last
ROWS = {}


def row(name, inputs, call):
    def prepare():
        given = inputs()
        given = given if isinstance(given, tuple) else (given,)
        return lambda: call(*given)

    ROWS[name] = prepare


def last(*sizes):
    return r(*sizes).contiguous(memory_format=LAST)


for n in (1, 64, 4096, 1 << 20, 1 << 24):
    two = lambda n=n: (r(n), r(n))
    row(f"add f32 [{n}]", two, torch.add)
    row(f"mul f32 [{n}]", two, torch.mul)
    for name in ("relu", "exp", "sum"):
        row(f"{name} f32 [{n}]", lambda n=n: r(n), getattr(torch, name))

for n in (8, 64, 1024, 4096):
    one, two = lambda n=n: r(n, n), lambda n=n: (r(n, n), r(n, n))
    shape = f"[{n},{n}]"
    row(f"add f32 {shape} + transposed", two, lambda a, b: torch.add(a, t(b)))
    row(f"add f32 {shape} + row", lambda n=n: (r(n, n), r(n)), torch.add)
    row(f"add f32 {shape} + column", lambda n=n: (r(n, n), r(n, 1)), torch.add)
    row(f"exp f32 {shape} transposed", one, lambda a: torch.exp(t(a)))
    row(f"contiguous f32 {shape} transposed", one, lambda a: t(a).contiguous())
    row(f"sum f32 {shape} dim 0", one, lambda a: torch.sum(a, 0))
    row(f"sum f32 {shape} dim 1", one, lambda a: torch.sum(a, 1))

s = (32, 64, 56, 56)
row("contiguous(channels_last) f32 [32,64,56,56]", lambda: r(s), lambda x: x.contiguous(memory_format=LAST))
row("contiguous f32 [32,64,56,56] channels_last", lambda: last(*s), lambda x: x.contiguous())
row("add f32 [32,64,56,56] channels_last", lambda: (last(*s), last(*s)), torch.add)
row("add f32 [32,64,56,56] + channels_last", lambda: (r(s), last(*s)), torch.add)
row("relu f32 [32,64,56,56] channels_last", lambda: last(*s), torch.relu)
row("sum f32 [32,64,56,56] channels_last, dims 2 3", lambda: last(*s), lambda x: torch.sum(x, (2, 3)))

n = 1 << 20
functions = {name: getattr(torch, name) for name in "tanh sigmoid log sqrt sin erf mean amax argmax var".split()}
for name, f in {**functions, "gelu": F.gelu, "cumsum": lambda x: torch.cumsum(x, 0)}.items():
    row(f"{name} f32 [{n}]", lambda n=n: torch.rand(n), f)
for name, dtype in (("f64", torch.float64), ("bf16", torch.bfloat16), ("f16", torch.float16), ("i64", torch.int64)):
    one = lambda n=n, dtype=dtype: r(n).to(dtype)
    row(f"add {name} [{n}]", lambda one=one: (one(), one()), torch.add)
    row(f"sum {name} [{n}]", one, torch.sum)
    row(f"exp {name} [{n}]", one, torch.exp)
    row(f"to {name} [{n}]", lambda n=n: r(n), lambda x, dtype=dtype: x.to(dtype))

for name, dtype in (("f32", torch.float32), ("f64", torch.float64), ("bf16", torch.bfloat16)):
    for n in (64, 256, 1024):
        row(f"mm {name} {n}", lambda n=n, d=dtype: (r(n, n).to(d), r(n, n).to(d)), torch.mm)
    row(f"bmm {name} 64 of 64", lambda d=dtype: (r(64, 64, 64).to(d), r(64, 64, 64).to(d)), torch.bmm)
row("mm f32 8x8", lambda: (r(8, 8), r(8, 8)), torch.mm)
row("mm f32 256 transposed", lambda: (r(256, 256), r(256, 256)), lambda a, b: torch.mm(a, t(b)))
row("mv f32 1024", lambda: (r(1024, 1024), r(1024)), torch.mv)
row("linear f32 [32,256]x[256,256]", lambda: (r(32, 256), r(256, 256), r(256)), F.linear)
attention = F.scaled_dot_product_attention
row("attention f32 [2,8,256,64]", lambda: r(2, 8, 256, 64), lambda x: attention(x, x, x))
row("attention f32 [2,8,256,64] causal", lambda: r(2, 8, 256, 64), lambda x: attention(x, x, x, is_causal=True))


def attended(causal):
    x, grad = r(2, 8, 256, 64), r(2, 8, 256, 64)
    return (grad, x, *torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x, x, x, 0.0, causal))


for causal in (False, True):
    row(
        f"attention backward f32 [2,8,256,64]{' causal' if causal else ''}",
        lambda causal=causal: attended(causal),
        lambda grad, x, out, sums, causal=causal:
            torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(grad, x, x, x, out, sums, 0.0, causal),
    )


def convolution(image, weight, stride, padding, groups):
    name = f"conv2d f32 {image}*{weight} s{stride} p{padding} g{groups}".replace(", ", ",")
    call = lambda x, w: F.conv2d(x, w, None, stride, padding, 1, groups)
    row(name, lambda: (r(image), r(weight)), call)


convolution([8, 64, 56, 56], [64, 64, 3, 3], 1, 1, 1)
convolution([8, 3, 224, 224], [64, 3, 7, 7], 2, 3, 1)
convolution([8, 128, 28, 28], [128, 128, 3, 3], 1, 1, 1)
convolution([8, 128, 56, 56], [128, 128, 3, 3], 2, 1, 1)
convolution([8, 512, 7, 7], [512, 512, 3, 3], 1, 1, 1)
convolution([8, 256, 14, 14], [1024, 256, 1, 1], 1, 0, 1)
convolution([8, 64, 56, 56], [64, 1, 3, 3], 1, 1, 64)
convolution([8, 64, 56, 56], [64, 1, 3, 3], 2, 1, 64)
convolution([32, 1, 8, 8], [16, 1, 3, 3], 1, 1, 1)
convolution([32, 16, 8, 8], [32, 16, 3, 3], 1, 1, 1)
convolution([1, 1, 8, 8], [16, 1, 3, 3], 1, 1, 1)
row(
    "conv2d backward f32 [8,64,56,56]*[64,1,3,3] s2 p1 g64",
    lambda: (r(8, 64, 28, 28), r(8, 64, 56, 56), r(64, 1, 3, 3)),
    lambda grad, x, w: torch.ops.aten.convolution_backward(
        grad, x, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 64, [True, True, False]
    ),
)
row("max_pool2d f32 [8,64,112,112] 3 s2 p1", lambda: r(8, 64, 112, 112), lambda x: F.max_pool2d(x, 3, 2, 1))
row("max_pool2d f32 [32,32,8,8] 2", lambda: r(32, 32, 8, 8), lambda x: F.max_pool2d(x, 2))
row("avg_pool2d f32 [8,64,56,56] 2", lambda: r(8, 64, 56, 56), lambda x: F.avg_pool2d(x, 2))

for n, m in ((512, 1024), (32, 10)):
    row(f"softmax f32 [{n},{m}]", lambda n=n, m=m: r(n, m), lambda x: torch.softmax(x, 1))
    row(f"log_softmax f32 [{n},{m}]", lambda n=n, m=m: r(n, m), lambda x: torch.log_softmax(x, 1))
row("softmax f32 [512,1024] dim 0", lambda: r(512, 1024), lambda x: torch.softmax(x, 0))
row("layer_norm f32 [512,1024]", lambda: (r(512, 1024), r(1024), r(1024)), lambda x, w, b: F.layer_norm(x, (1024,), w, b))
for training in (False, True):
    mode = "training" if training else "eval"
    call = lambda x, mean, var, w, training=training: F.batch_norm(x, mean, var, w, w, training)
    row(f"batch_norm f32 [8,64,56,56] {mode}", lambda: (r(8, 64, 56, 56), r(64), torch.rand(64), r(64)), call)

tiles = lambda: ([r(256, 256) for _ in range(8)],)
row("cat f32 8x[256,256]", tiles, torch.cat)
row("cat f32 8x[256,256] dim 1", tiles, lambda tiles: torch.cat(tiles, 1))
table = lambda: (r(10_000, 256), torch.randint(10_000, (4096,)))
row("index_select f32 [10000,256] x4096", table, lambda x, index: torch.index_select(x, 0, index))
row("embedding f32 [10000,256] x4096", table, lambda x, index: F.embedding(index, x))
columns = lambda: (r(256, 10_000), torch.randint(10_000, (4096,)))
row("index_select f32 [256,10000] dim 1 x4096", columns, lambda x, index: torch.index_select(x, 1, index))
