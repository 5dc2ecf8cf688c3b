//! Resizing of signals, images and volumes, by sizes or by factors.

use torch_library::prelude::*;

use crate::aten;

pub(crate) mod antialias;

/// Writes the operators that take sizes or factors, in terms of those that take sizes.
macro_rules! by_factors {
    ($($by_factors:ident $name:ident($($scale:ident),+ $(; $align_corners:ident)?);)+) => {
        #[torch_impl(aten, CompositeImplicitAutograd)]
        mod implicit {
            use super::*;

            $(
                fn $by_factors(
                    input: &Tensor,
                    output_size: Option<&[i64]>,
                    $($align_corners: bool,)?
                    scale_factors: Option<&[f64]>,
                ) -> Result<Tensor> {
                    const OPERATOR: &str = aten::$by_factors::NAME;
                    let sizes = sizes(OPERATOR, input, output_size, scale_factors)?;
                    let mut factors = scale_factors.unwrap_or_default().iter().copied();
                    $(let $scale = factors.next();)+
                    aten::$name::call(input, &sizes, $($align_corners,)? $($scale),+)
                }
            )+
        }
    };
}

by_factors! {
    upsample_nearest1d_vec upsample_nearest1d(scales);
    upsample_nearest2d_vec upsample_nearest2d(scales_h, scales_w);
    upsample_nearest3d_vec upsample_nearest3d(scales_d, scales_h, scales_w);
    _upsample_nearest_exact1d_vec _upsample_nearest_exact1d(scales);
    _upsample_nearest_exact2d_vec _upsample_nearest_exact2d(scales_h, scales_w);
    _upsample_nearest_exact3d_vec _upsample_nearest_exact3d(scales_d, scales_h, scales_w);
    upsample_linear1d_vec upsample_linear1d(scales; align_corners);
    upsample_bilinear2d_vec upsample_bilinear2d(scales_h, scales_w; align_corners);
    upsample_trilinear3d_vec upsample_trilinear3d(scales_d, scales_h, scales_w; align_corners);
    upsample_bicubic2d_vec upsample_bicubic2d(scales_h, scales_w; align_corners);
    _upsample_bilinear2d_aa_vec _upsample_bilinear2d_aa(scales_h, scales_w; align_corners);
    _upsample_bicubic2d_aa_vec _upsample_bicubic2d_aa(scales_h, scales_w; align_corners);
    _upsample_lanczos2d_aa_vec _upsample_lanczos2d_aa(scales_h, scales_w; align_corners);
}

/// The sizes that are given, or that follow from factors.
fn sizes(
    operator: &str,
    input: &Tensor,
    output_size: Option<&[i64]>,
    scale_factors: Option<&[f64]>,
) -> Result<Vec<i64>> {
    let given = output_size.map_or(scale_factors.unwrap_or_default().len(), <[i64]>::len);
    ensure!(
        given + 2 == input.dim(),
        Argument,
        "{operator}: {given} sizes or factors for an input of sizes {:?}, expected one for each spatial dimension",
        input.sizes()
    );
    match (output_size, scale_factors) {
        (Some(sizes), None) => Ok(sizes.to_vec()),
        (None, Some(factors)) => {
            let own = input.sizes().get(2..).unwrap_or_default();
            Ok(own.iter().zip(factors).map(|(size, factor)| (*size as f64 * factor) as i64).collect())
        }
        _ => bail!(Argument, "{operator}: expected either output_size or scale_factors"),
    }
}
