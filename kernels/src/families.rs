//! The operators family by family: a page for each, with a program that runs, shapes, types and errors.
//!
//! Each operator is documented at the function of its name in [`aten`](mod@crate::aten); the pages say what the
//! operators of a family have in common.

macro_rules! pages {
    ($($name:ident)+) => { $(
        #[doc = include_str!(concat!("../docs/", stringify!($name), ".md"))]
        pub mod $name {}
    )+ };
}

pages! {
    create copy view arrange pixel_shuffle pointwise reduce scan sorting unique bucketization correlation histogram
    integration matmul linalg fourier recurrent index softmax norm convolution pooling padding upsample im2col
    grid_sampler loss random optimizer variants
}
