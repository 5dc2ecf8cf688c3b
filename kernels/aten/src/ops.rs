//! The declarations: every operator's schema and documentation, with a file for each family.
//!
//! The families do not see each other: [`aten`](mod@aten) alone has all names. A chain in which each family extends the
//! one before would be simpler to write, but rustc lists all names of every module in a crate's metadata, with the way
//! on which each came there: half of them, and a fifth of the time that the crate takes to check.

pub(crate) mod activation;
pub(crate) mod alias;
pub(crate) mod arrange;
pub(crate) mod autogen;
pub(crate) mod binary;
pub(crate) mod bits;
pub(crate) mod bucketization;
pub(crate) mod constraints;
pub(crate) mod convolution;
pub(crate) mod copy;
pub(crate) mod correlation;
pub(crate) mod create;
pub(crate) mod distance;
pub(crate) mod factor;
pub(crate) mod fake_quantize;
pub(crate) mod foreach;
pub(crate) mod fourier;
pub(crate) mod grid_sampler;
pub(crate) mod histogram;
pub(crate) mod im2col;
pub(crate) mod index;
pub(crate) mod integration;
pub(crate) mod linalg;
pub(crate) mod linear;
pub(crate) mod loss;
pub(crate) mod matmul;
pub(crate) mod metadata;
pub(crate) mod norm;
pub(crate) mod optimizer;
pub(crate) mod padding;
pub(crate) mod pixel_shuffle;
pub(crate) mod pointwise;
pub(crate) mod polynomial;
pub(crate) mod pooling;
pub(crate) mod random;
pub(crate) mod recurrent;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod scatter;
pub(crate) mod segment;
pub(crate) mod softmax;
pub(crate) mod sorting;
pub(crate) mod special;
pub(crate) mod storage;
pub(crate) mod transformer;
pub(crate) mod unary;
pub(crate) mod unique;
pub(crate) mod upsample;
pub(crate) mod variants;
pub(crate) mod view;
pub(crate) mod view_copy;

torch_library::torch_library! {
    /// The operators of this crate, under PyTorch's names: overloads flattened, as in `add_Tensor`.
    pub mod aten extends
        activation::aten, alias::aten, arrange::aten, binary::aten, bits::aten, bucketization::aten,
        constraints::aten, convolution::aten, copy::aten, correlation::aten, create::aten, distance::aten,
        factor::aten, fake_quantize::aten, foreach::aten, fourier::aten, grid_sampler::aten,
        histogram::aten, im2col::aten, index::aten, integration::aten, linalg::aten, linear::aten,
        loss::aten, matmul::aten, metadata::aten, norm::aten, optimizer::aten, padding::aten,
        pixel_shuffle::aten, pointwise::aten, polynomial::aten, pooling::aten, random::aten,
        recurrent::aten, reduce::aten, scan::aten, scatter::aten, segment::aten, softmax::aten,
        sorting::aten, special::aten, storage::aten, transformer::aten, unary::aten, unique::aten,
        upsample::aten, view::aten, view_copy::aten, variants::aten, variants::activation::aten,
        variants::alias::aten, variants::arrange::aten, variants::binary::aten, variants::bits::aten,
        variants::bucketization::aten, variants::convolution::aten, variants::copy::aten,
        variants::create::aten, variants::distance::aten, variants::factor::aten,
        variants::fake_quantize::aten, variants::foreach::aten, variants::fourier::aten,
        variants::grid_sampler::aten, variants::histogram::aten, variants::im2col::aten,
        variants::index::aten, variants::linalg::aten, variants::linear::aten, variants::loss::aten,
        variants::matmul::aten, variants::norm::aten, variants::optimizer::aten, variants::padding::aten,
        variants::pixel_shuffle::aten, variants::polynomial::aten, variants::pooling::aten,
        variants::random::aten, variants::recurrent::aten, variants::reduce::aten, variants::scan::aten,
        variants::scatter::aten, variants::segment::aten, variants::softmax::aten, variants::sorting::aten,
        variants::special::aten, variants::storage::aten, variants::transformer::aten,
        variants::unary::aten, variants::unique::aten, variants::upsample::aten, variants::view::aten,
        variants::view_copy::aten
    {
    }
}
