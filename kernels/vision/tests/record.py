"""Writes calls of torchvision's operators with their results and gradients, for `recorded.rs`.

    python3 kernels/vision/tests/record.py      # where torch, torchvision and safetensors are

Each file has the arguments by their names, numbers among them as tensors, results as `result0` …, and the gradients of
the sum of all results, weighed by `weight0` …, as `grad_NAME`.
"""

import pathlib

import torch
import torchvision  # registers the operators
from safetensors.torch import save_file

HERE = pathlib.Path(__file__).resolve().parent / "recorded"
OPS = torch.ops.torchvision


def record(file, operator, differentiable=(), **arguments):
    tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
    for name in differentiable:
        tensors[name].requires_grad_()
    results = operator(**arguments)
    results = results if isinstance(results, tuple) else (results,)
    saved = {name: torch.as_tensor(value, dtype=torch.float64) if name not in tensors else value
             for name, value in arguments.items()}
    saved |= {f"result{i}": result for i, result in enumerate(results)}
    if differentiable:
        weights = [torch.randn_like(result) for result in results if result.is_floating_point()]
        saved |= {f"weight{i}": weight for i, weight in enumerate(weights)}
        loss = sum((weight * result).sum() for weight, result in zip(weights, results))
        gradients = torch.autograd.grad(loss, [tensors[name] for name in differentiable])
        saved |= {f"grad_{name}": gradient for name, gradient in zip(differentiable, gradients)}
    save_file({name: value.detach().contiguous() for name, value in saved.items()}, HERE / f"{file}.safetensors")


def boxes(count, side, dtype, images=2):
    corner, sizes = torch.rand(count, 2, dtype=dtype) * side, torch.rand(count, 2, dtype=dtype) * side * 0.7
    image = torch.randint(0, images, (count, 1)).to(dtype)
    # Boxes that leave the image on either side are among them.
    return torch.cat([image, corner - side / 6, corner - side / 6 + sizes], 1)


def main():
    torch.manual_seed(0)
    HERE.mkdir(exist_ok=True)
    single, double = torch.float32, torch.float64
    pooled = {"spatial_scale": 0.5, "pooled_height": 3, "pooled_width": 2}
    for name, dtype in [("f32", single), ("f64", double)]:
        image, parts = torch.randn(2, 3, 9, 8, dtype=dtype), torch.randn(2, 12, 9, 8, dtype=dtype)
        rois = boxes(7, 16, dtype)
        for aligned in [False, True]:
            for ratio in [-1, 2]:
                record(f"roi_align_{name}_{int(aligned)}_{ratio}", OPS.roi_align, ["input"], input=image.clone(), rois=rois,
                       **pooled, sampling_ratio=ratio, aligned=aligned)
        record(f"roi_pool_{name}", OPS.roi_pool, ["input"], input=image.clone(), rois=rois, **pooled)
        for ratio in [-1, 2]:
            record(f"ps_roi_align_{name}_{ratio}", OPS.ps_roi_align, ["input"], input=parts.clone(), rois=rois, **pooled,
                   sampling_ratio=ratio)
        record(f"ps_roi_pool_{name}", OPS.ps_roi_pool, ["input"], input=parts.clone(), rois=rois, **pooled)
        found = boxes(40, 16, dtype)[:, 1:]
        scores = (torch.rand(40, dtype=dtype) * 20).floor() / 20  # some are equal
        for threshold in [0.1, 0.5]:
            record(f"nms_{name}_{threshold}", OPS.nms, dets=found, scores=scores, iou_threshold=threshold)
        for use_mask in [False, True]:
            record(
                f"deform_conv2d_{name}_{int(use_mask)}", OPS.deform_conv2d,
                ["input", "weight", "offset", "bias"] + ["mask"] * use_mask,
                input=torch.randn(2, 4, 6, 5, dtype=dtype), weight=torch.randn(6, 2, 3, 2, dtype=dtype),
                offset=torch.randn(2, 2 * 2 * 6, 3, 4, dtype=dtype) * 2,
                mask=torch.rand(2, 2 * 6, 3, 4, dtype=dtype) if use_mask else torch.zeros(2, 1, dtype=dtype),
                bias=torch.randn(6, dtype=dtype), stride_h=2, stride_w=1, pad_h=1, pad_w=0, dilation_h=1, dilation_w=1,
                groups=2, offset_groups=2, use_mask=use_mask)


if __name__ == "__main__":
    main()
