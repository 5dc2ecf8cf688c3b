//! Padding of signals and images.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[test]
fn padding_may_be_negative() -> Result<()> {
    let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
    let padded = aten::constant_pad_nd::with(&x, &[-1, 1, 1, 0]).value(9).call()?;
    assert_eq!((padded.sizes(), padded.to_vec::<i32>()?), (&[3, 3][..], vec![9, 9, 9, 2, 3, 9, 5, 6, 9]));
    assert!(aten::constant_pad_nd(&x, &[1]).is_err() && aten::constant_pad_nd(&x, &[-2, -2]).is_err());
    let turned = aten::zeros(&[6, 4])?.t()?;
    for (pad, strides) in [([0, 0], [1, 4]), ([-1, 0], [1, 4]), ([1, 0], [7, 1])] {
        assert_eq!(aten::constant_pad_nd(&turned, &pad)?.strides(), strides); // as PyTorch's
    }
    Ok(())
}

#[test]
fn padding_repeats_what_is_at_the_edge_or_behind_it() -> Result<()> {
    let x = Tensor::from([[1, 2, 3, 4]]);
    let pad = |mode, pad: &[i64]| aten::pad::with(&x, pad).mode(mode).call()?.to_vec::<i32>();
    assert_eq!(pad("reflect", &[2, 3])?, [3, 2, 1, 2, 3, 4, 3, 2, 1]);
    assert_eq!(pad("replicate", &[2, -3])?, [1, 1, 1]);
    assert_eq!(pad("reflect", &[-5, 3])?, [2, 1]);
    assert_eq!(pad("circular", &[2, 1])?, [3, 4, 1, 2, 3, 4, 1]);
    assert!(pad("reflect", &[4, 0]).is_err() && pad("replicate", &[-2, -2]).is_err());
    assert!(pad("replicate", &[1, 1, 1, 1]).is_err() && pad("reflect", &[1]).is_err());
    let grad = aten::reflection_pad1d_backward(
        &Tensor::from([[1.0, 2.0, 4.0, 8.0]]),
        &Tensor::from([[0.0, 0.0]]),
        &[1, 1],
    )?;
    assert_eq!(grad.to_vec::<f64>()?, [10.0, 5.0]);
    Ok(())
}

#[test]
fn padded_images_lie_as_images_do() -> Result<()> {
    let x = aten::contiguous::with(&aten::rand(&[2, 3, 4, 5])?)
        .memory_format(MemoryFormat::ChannelsLast)
        .call()?;
    for pad in [[1, 1, 1, 1], [0; 4]] {
        let out = aten::replication_pad2d(&x, &pad)?;
        assert!(out.is_contiguous(MemoryFormat::ChannelsLast) && !out.shares_storage_with(&x));
        assert!(aten::reflection_pad2d(&x, &pad)?.is_contiguous(MemoryFormat::ChannelsLast));
        assert!(aten::pad::call(&x, &pad, "circular", None)?.is_contiguous(MemoryFormat::Contiguous));
        assert!(aten::replication_pad2d(&x.transpose(0, 1)?, &pad)?.is_contiguous(MemoryFormat::Contiguous));
    }
    Ok(())
}

#[test]
fn modes_of_padding_have_numbers() -> Result<()> {
    let line = Tensor::from([[0, 1, 2]]);
    let padded =
        |mode| aten::_pad_enum(&line, &[1, 2], mode).and_then(|x| x.to_vec::<i32>()).unwrap_or_default();
    assert_eq!(padded(0), [1, 0, 1, 2, 1, 0]);
    assert_eq!(padded(1), [0, 0, 1, 2, 2, 2]);
    assert_eq!(padded(2), [2, 0, 1, 2, 0, 1]);
    assert_eq!(padded(3), [0, 0, 1, 2, 0, 0]);
    assert!(padded(-1).is_empty() && padded(4).is_empty());
    assert_eq!(aten::_pad_circular(&line, &[1, 2])?.to_vec::<i32>()?, padded(2));
    assert!(aten::_pad_circular(&line, &[1, 4]).is_err(), "more than once around");
    Ok(())
}
