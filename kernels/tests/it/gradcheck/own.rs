//! Operators that are made of others but have a derivative of their own, as in PyTorch: one node with its name, and no
//! view.

use torch_library::autograd::gradcheck;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::{both, fixed, sample};

#[track_caller]
fn own(node: &str, inputs: &[Tensor], function: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let out = function(inputs).unwrap();
    assert_eq!(out.grad_fn().unwrap().map(|node| node.name()), Some(node));
    assert!(!out.is_view(), "{node}: a view of a part");
    both(node, inputs, function);
}

fn square() -> [Tensor; 1] {
    [sample(&[3, 3], 0.2, 0.9)]
}

fn image() -> [Tensor; 1] {
    [sample(&[1, 4, 3, 3], -1.0, 1.0)]
}

#[test]
fn elements_put_elsewhere() {
    own("RepeatBackward0", &square(), |x| aten::repeat(&x[0], &[2, 1, 2]));
    own("FlipBackward0", &square(), |x| aten::flip(&x[0], &[1]));
    own("RollBackward0", &square(), |x| aten::roll::call(&x[0], &[1, -1], &[0, 1]));
    own("RollBackward0", &square(), |x| aten::roll::call(&x[0], &[2], &[]));
    own("Rot90Backward0", &square(), |x| aten::rot90::with(&x[0]).k(3).call());
    own("DiagEmbedBackward0", &square(), |x| aten::diag_embed::with(&x[0]).offset(1).call());
    own("PixelUnshuffleBackward0", &[sample(&[1, 1, 4, 2], 0.0, 1.0)], |x| aten::pixel_unshuffle(&x[0], 2));
    own("PixelShuffleBackward0", &image(), |x| aten::pixel_shuffle(&x[0], 2));
    own("ChannelShuffleBackward0", &image(), |x| aten::channel_shuffle(&x[0], 2));
    own("TraceBackward0", &[sample(&[2, 3], 0.0, 1.0)], |x| aten::trace(&x[0]));
    own("Im2ColBackward0", &image(), |x| aten::im2col(&x[0], &[2, 2], &[1, 1], &[1, 0], &[1, 1]));
    own("Col2ImBackward0", &[sample(&[1, 4, 4], 0.0, 1.0)], |x| {
        aten::col2im(&x[0], &[3, 3], &[2, 2], &[1, 1], &[0, 0], &[1, 1])
    });
}

#[test]
fn elements_that_are_picked() {
    let index = || fixed(&[2, 0, 2], &[3]);
    own("TakeBackward0", &square(), |x| aten::take(&x[0], &index()));
    own("MaskedSelectBackward0", &[sample(&[3], 0.0, 1.0)], |x| {
        aten::masked_select(&x[0], &Tensor::from([[true, false, true], [false, true, true]]))
    });
    own("IndexFillBackward0", &square(), |x| aten::index_fill_int_Scalar(&x[0], 1, &index(), 7.into()));
    own("KthvalueBackward0", &square(), |x| Ok(aten::kthvalue(&x[0], 2)?.0));
    own("MedianBackward0", &square(), |x| aten::median(&x[0]));
    own("MedianBackward1", &square(), |x| Ok(aten::median_dim(&x[0], 0)?.0));
    own("NanmedianBackward0", &square(), |x| aten::nanmedian(&x[0]));
    own("NanmedianBackward1", &square(), |x| Ok(aten::nanmedian_dim(&x[0], 0)?.0));
    own("ModeBackward0", &square(), |x| Ok(aten::mode(&x[0])?.0));
}

#[test]
fn sums_and_losses() {
    let pair = || [sample(&[2, 3], -2.0, 2.0), sample(&[2, 3], -0.7, 0.9)];
    own("NansumBackward0", &square(), |x| aten::nansum::with(&x[0]).dim(Some(&[1])).call());
    own("StdMeanBackward0", &square(), |x| {
        Ok(aten::std_mean_correction::with(&x[0]).dim(Some(&[1])).call()?.0)
    });
    both("the mean too", &square(), |x| {
        let (std, mean) = aten::std_mean_correction(&x[0])?;
        std.mul(&mean)
    });
    own("LogsumexpBackward0", &square(), |x| aten::logsumexp(&x[0], &[1]));
    for reduction in 0..3 {
        own("MseLossBackward0", &pair(), |x| aten::mse_loss::call(&x[0], &x[1], reduction));
        own("SmoothL1LossBackward0", &pair(), |x| aten::smooth_l1_loss::call(&x[0], &x[1], reduction, 0.7));
        own("HuberLossBackward0", &pair(), |x| aten::huber_loss::call(&x[0], &x[1], reduction, 0.7));
        own("SoftMarginLossBackward0", &pair(), |x| aten::soft_margin_loss::call(&x[0], &x[1], reduction));
    }
    let zeros = Tensor::from([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0], [4.0, 2.0, 0.5]]);
    zeros.set_requires_grad(true).unwrap();
    own("ProdBackward1", &[zeros], |x| aten::prod_dim_int(&x[0], 1));
}

#[test]
fn products() {
    let batch = || sample(&[2, 3, 3], -1.0, 1.0);
    let vector = || sample(&[3], -1.0, 1.0);
    let [matrix] = square();
    let scales = (Scalar::from(2), Scalar::from(3));
    own("BaddbmmBackward0", &[matrix.clone(), batch(), batch()], |x| {
        aten::baddbmm::call(&x[0], &x[1], &x[2], scales.0, scales.1)
    });
    own("AddbmmBackward0", &[matrix.clone(), batch(), batch()], |x| {
        aten::addbmm::call(&x[0], &x[1], &x[2], scales.0, scales.1)
    });
    own("AddmvBackward0", &[vector(), matrix.clone(), vector()], |x| {
        aten::addmv::call(&x[0], &x[1], &x[2], scales.0, scales.1)
    });
    own("AddrBackward0", &[matrix, vector(), vector()], |x| {
        aten::addr::call(&x[0], &x[1], &x[2], scales.0, scales.1)
    });
    own("VdotBackward0", &[vector(), vector()], |x| aten::vdot(&x[0], &x[1]));
    own("LinalgCrossBackward0", &[sample(&[2, 3], 0.0, 1.0), sample(&[1, 3], -1.0, 1.0)], |x| {
        aten::linalg_cross(&x[0], &x[1])
    });
}

#[test]
fn activations() {
    let x = || [sample(&[2, 4], -2.0, 2.0)];
    own("CeluBackward0", &x(), |x| aten::celu::with(&x[0]).alpha(0.7).call());
    own("GluBackward0", &x(), |x| aten::glu(&x[0]));
    own("HardshrinkBackward0", &x(), |x| aten::hardshrink(&x[0]));
    own("SoftshrinkBackward0", &x(), |x| aten::softshrink(&x[0]));
    own("ThresholdBackward0", &x(), |x| aten::threshold(&x[0], 0.1.into(), 7.into()));
    own("LogitBackward0", &square(), |x| aten::logit(&x[0]));
    own("LogitBackward0", &square(), |x| aten::logit::with(&x[0]).eps(Some(0.45)).call());
    own("HardtanhBackward0", &x(), |x| aten::hardtanh(&x[0]));
}

#[test]
fn images_of_other_sizes() {
    let (line, volume) = (|| [sample(&[1, 2, 4], 0.0, 1.0)], || [sample(&[1, 1, 2, 3, 2], 0.0, 1.0)]);
    own("ReflectionPad1DBackward0", &line(), |x| aten::reflection_pad1d(&x[0], &[2, 1]));
    own("ReflectionPad2DBackward0", &image(), |x| aten::reflection_pad2d(&x[0], &[2, 1, 0, -1]));
    own("ReflectionPad3DBackward0", &volume(), |x| aten::reflection_pad3d(&x[0], &[1, 0, 2, 1, 0, 1]));
    own("ReplicationPad1DBackward0", &line(), |x| aten::replication_pad1d(&x[0], &[2, 1]));
    own("ReplicationPad2DBackward0", &image(), |x| aten::replication_pad2d(&x[0], &[2, 1, 0, -1]));
    own("ReplicationPad3DBackward0", &volume(), |x| aten::replication_pad3d(&x[0], &[1, 0, 0, 1, 2, 0]));
    own("UpsampleNearest1DBackward0", &line(), |x| aten::upsample_nearest1d(&x[0], &[7]));
    own("UpsampleNearest2DBackward0", &image(), |x| aten::upsample_nearest2d(&x[0], &[4, 2]));
    own("UpsampleNearest3DBackward0", &volume(), |x| aten::upsample_nearest3d(&x[0], &[3, 2, 4]));
    own("UpsampleNearestExact1DBackward0", &line(), |x| aten::_upsample_nearest_exact1d(&x[0], &[7]));
    own("UpsampleNearestExact2DBackward0", &image(), |x| aten::_upsample_nearest_exact2d(&x[0], &[4, 2]));
    own("UpsampleNearestExact3DBackward0", &volume(), |x| aten::_upsample_nearest_exact3d(&x[0], &[3, 2, 4]));
    own("UpsampleLinear1DBackward0", &line(), |x| aten::upsample_linear1d(&x[0], &[7], true));
    own("UpsampleBilinear2DBackward0", &image(), |x| {
        aten::upsample_bilinear2d_vec(&x[0], None, false, Some(&[1.5, 0.7]))
    });
    own("UpsampleTrilinear3DBackward0", &volume(), |x| aten::upsample_trilinear3d(&x[0], &[3, 2, 4], false));
    own("UpsampleBicubic2DBackward0", &image(), |x| aten::upsample_bicubic2d(&x[0], &[4, 2], false));
}

#[test]
fn factors_and_what_they_solve() {
    let tall = || [sample(&[2, 3, 2], -1.0, 1.0)];
    own("LinalgPinvBackward0", &tall(), |x| aten::linalg_pinv(&x[0], 1e-9));
    own("LinalgPinvBackward0", &tall(), |x| aten::pinverse(&x[0].transpose(1, 2)?));
    for matrices in [square(), tall(), [sample(&[2, 4], -1.0, 1.0)]] {
        own("LinalgLuFactorExBackward0", &matrices, |x| Ok(aten::linalg_lu_factor_ex(&x[0])?.0));
    }
    let factors = aten::linalg_lu_factor(&square()[0]).unwrap();
    let (lu, pivots) = (factors.0.detach().unwrap(), factors.1);
    lu.set_requires_grad(true).unwrap();
    own("LuUnpackBackward0", std::slice::from_ref(&lu), |x| Ok(aten::lu_unpack(&x[0], &pivots)?.1));
    for (left, adjoint) in [(true, false), (true, true), (false, false), (false, true)] {
        own("LinalgLuSolveBackward0", &[lu.clone(), sample(&[3, 3], -1.0, 1.0)], |x| {
            aten::linalg_lu_solve::call(&x[0], &pivots, &x[1], left, adjoint)
        });
    }
    both("linalg_lu", &square(), |x| {
        let (_, l, u) = aten::linalg_lu(&x[0])?;
        l.mul(&u)
    });
    // Vectors of length 1 may have any phase, so only functions that do not depend on it have a derivative.
    both("linalg_eig", &[sample(&[3, 3], -1.0, 1.0)], |x| {
        let (values, vectors) = aten::linalg_eig(&x[0])?;
        values.abs()?.add(&vectors.abs()?)
    });
    both("linalg_eigvals", &[sample(&[3, 3], -1.0, 1.0)], |x| aten::linalg_eigvals(&x[0])?.abs());
    both("linalg_lstsq", &[sample(&[3, 2], -1.0, 1.0), sample(&[3], -1.0, 1.0)], |x| {
        Ok(aten::linalg_lstsq(&x[0], &x[1])?.0)
    });
}

#[test]
fn sequences_of_labels() {
    let logits = [sample(&[4, 2, 3], -1.0, 1.0)];
    let labels = fixed(&[1, 2, 2, 2], &[2, 2]);
    let loss = |x: &[Tensor]| {
        let log_probs = x[0].log_softmax(2)?;
        Ok(vec![aten::ctc_loss_IntList::call(&log_probs, &labels, &[4, 3], &[2, 1], 0, 0, false)?])
    };
    assert_eq!(
        loss(&logits).unwrap()[0].grad_fn().unwrap().map(|node| node.name()),
        Some("CtcLossBackward0")
    );
    gradcheck(loss, &logits, Default::default()).unwrap();
}

/// Points between pixels, some of them outside.
fn points(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    Tensor::from_vec((0..count).map(|i| 1.37 * (1.9 * i as f64 + 0.4).sin()).collect(), sizes).unwrap()
}

#[test]
fn images_at_the_points_of_a_grid() {
    let inputs = || [sample(&[1, 2, 3, 4], -1.0, 1.0), points(&[1, 2, 3, 2])];
    for (interpolation, padding, align) in (0..18).map(|n| (n / 6, n / 2 % 3, n % 2 == 0)) {
        own("GridSampler2DBackward0", &inputs(), |x| {
            aten::grid_sampler_2d(&x[0], &x[1], interpolation, padding, align)
        });
    }
}

#[test]
fn volumes_at_the_points_of_a_grid() {
    let inputs = || [sample(&[1, 1, 3, 2, 4], -1.0, 1.0), points(&[1, 1, 2, 1, 3])];
    for (interpolation, padding, align) in
        [(0, 0, true), (0, 2, false), (1, 1, false), (2, 0, false), (2, 2, true)]
    {
        own("GridSampler3DBackward0", &inputs(), |x| {
            aten::grid_sampler_3d(&x[0], &x[1], interpolation, padding, align)
        });
    }
}
