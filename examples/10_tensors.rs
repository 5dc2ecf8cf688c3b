//! PyTorch's own operators, as functions and as methods: views, broadcasting, memory formats; and a layer built on them.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

torch_library! {
    /// Layers of networks.
    pub mod layers {
        /// A dense layer: `relu(x · weightᵀ + bias)`.
        dense(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor;
    }
}

/// Made of other operators: every backend that has those has this one, too.
#[torch_impl(layers, CompositeImplicitAutograd)]
fn dense(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let product = x.mm(&weight.t()?)?;
    match bias {
        Some(bias) => product.add(bias)?.relu(),
        None => product.relu(),
    }
}

fn main() -> Result<()> {
    let x = Tensor::from([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    println!("x: {x}");
    println!("means of the columns: {}", x.mean_dim(&[0], false)?);
    println!("without them: {}", x.sub(&x.mean_dim(&[0], false)?)?);

    let transposed = x.t()?;
    println!("transposed: sizes {:?}, strides {:?}", transposed.sizes(), transposed.strides());
    transposed.select(0, 1)?.fill_(0)?;
    println!("x, written through a view of a view: {x}");

    let image = aten::ones(&[1, 3, 4, 5])?;
    let channels_last = aten::contiguous::with(&image).memory_format(MemoryFormat::ChannelsLast).call()?;
    println!("an image: sizes {:?}, strides {:?}", image.sizes(), image.strides());
    println!("with channels last: sizes {:?}, strides {:?}", channels_last.sizes(), channels_last.strides());
    println!("and a result keeps that: {:?}", channels_last.add(1)?.strides());

    let promoted = Tensor::from([1i8, 2]).add(&Tensor::from([0.5f32, 0.25]))?;
    println!("int8 and float32: {promoted}");

    let weight = Tensor::from([[1f32, 0.0, -1.0], [0.0, 1.0, 1.0]]);
    println!("dense: {}", layers::dense(&x, &weight)?);
    println!("dense: {}", layers::dense::with(&x, &weight).bias(&Tensor::from([3f32, -3.0])).call()?);
    Ok(())
}

// Prints:
// x: tensor([[1., 2., 3.],
//         [4., 5., 6.]])
// means of the columns: tensor([2.5000, 3.5000, 4.5000])
// without them: tensor([[-1.5000, -1.5000, -1.5000],
//         [ 1.5000,  1.5000,  1.5000]])
// transposed: sizes [3, 2], strides [1, 3]
// x, written through a view of a view: tensor([[1., 0., 3.],
//         [4., 0., 6.]])
// an image: sizes [1, 3, 4, 5], strides [60, 20, 5, 1]
// with channels last: sizes [1, 3, 4, 5], strides [60, 1, 15, 3]
// and a result keeps that: [60, 1, 15, 3]
// int8 and float32: tensor([1.5000, 2.2500])
// dense: tensor([[0., 3.],
//         [0., 6.]])
// dense: tensor([[1., 0.],
//         [1., 3.]])
