//! The crates of the demonstration: both backends agree, and bad input is rejected with a reason.

use glyphs_extra::glyphs_extra as glyphs;
use torch_library::{Device, Error, ErrorKind, Result, Tensor};
use torch_library_kernels::aten;

/// Two pictures of 2×3 pixels.
fn images() -> Tensor {
    Tensor::from_slice(&[0f32, 8.0, 8.0, 0.0, 0.0, 16.0, 4.0, 4.0, 4.0, 4.0, 0.0, 0.0], &[2, 1, 2, 3])
        .unwrap()
}

fn to(x: &Tensor, device: Device) -> Result<Tensor> {
    aten::_to_copy::with(x).device(device).call()
}

fn on_tape(x: &Tensor) -> Result<Tensor> {
    to(x, glyphs_tape::device()?)
}

/// Runs an operator on both backends, and returns the result on which they must agree.
fn both(operator: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Vec<f32>> {
    let (here, there) = (operator(&images())?, operator(&on_tape(&images())?)?);
    assert_eq!(there.device().to_string(), "tape:0");
    assert_eq!(here.sizes(), there.sizes());
    let values = here.to_vec()?;
    assert_eq!(values, to(&there, Device::CPU)?.to_vec::<f32>()?);
    Ok(values)
}

#[test]
fn both_backends_agree() -> Result<()> {
    let labels = Tensor::from([1i64, 0]);
    assert_eq!(both(glyphs::normalize)?[..3], [0.0, 0.5, 0.5]);
    assert_eq!(both(|images| glyphs::normalize::with(images).max(8.0).call())?[5], 2.0);
    assert_eq!(both(glyphs::ink)?, [32.0, 16.0]);
    let means = both(|images| glyphs::class_means::with(images, &labels).classes(2).call())?;
    assert_eq!(means[..6], images().to_vec::<f32>()?[6..]);
    Ok(())
}

#[test]
fn means_are_nan_for_a_class_without_pictures() -> Result<()> {
    let means = glyphs::class_means::with(&images(), &Tensor::from([1i64, 1])).classes(2).call()?;
    assert_eq!(means.sizes(), [2, 1, 2, 3]);
    let means: Vec<f32> = means.to_vec()?;
    assert!(means[..6].iter().all(|mean| mean.is_nan()));
    assert_eq!(means[6..], [2.0, 6.0, 6.0, 2.0, 0.0, 8.0]);
    Ok(())
}

#[test]
fn outlines_are_inked_pixels_that_paper_touches() -> Result<()> {
    let mut ink = vec![1f32; 25];
    ink[0] = 0.0;
    let outlined = glyphs::outlined(&Tensor::from_vec(ink, &[1, 1, 5, 5])?)?;
    let outline = &outlined.to_vec::<f32>()?[25..];
    let expected = [
        [0.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 1.0, 1.0, 1.0, 1.0],
    ];
    assert_eq!(outline, expected.as_flattened());
    Ok(())
}

#[test]
fn the_nearest_mean_wins() -> Result<()> {
    let means = Tensor::from_slice(&[0f32, 0.0, 9.0, 9.0], &[2, 1, 1, 2])?;
    let images = Tensor::from_slice(&[8f32, 7.0, 1.0, 2.0], &[2, 1, 1, 2])?;
    assert_eq!(glyphs::nearest(&images, &means)?.to_vec::<i64>()?, [1, 0]);
    Ok(())
}

#[test]
fn a_tape_is_recorded_in_place() -> Result<()> {
    let mut tape = on_tape(&images())?;
    let handle = tape.clone();
    aten::copy_(&mut tape, &Tensor::from([3i64]))?; // broadcast, and converted
    assert_eq!(to(&handle, Device::CPU)?.to_vec::<f32>()?, [3.0; 12]);
    aten::copy_(&mut tape, &on_tape(&images())?)?;
    assert_eq!(to(&handle, Device::CPU)?.to_vec::<f32>()?, images().to_vec::<f32>()?);
    Ok(())
}

#[test]
fn bad_input_is_refused_with_a_reason() -> Result<()> {
    let refused = |kind: ErrorKind, text: &str, result: Result<Tensor>| {
        let error: Error = result.expect_err(text);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    };
    let (x, labels) = (images(), |labels: &[i64]| Tensor::from(labels.to_vec()));
    for x in [x.clone(), on_tape(&x)?] {
        refused(
            ErrorKind::Argument,
            "picture 1 has label 10, classes are 0..10",
            glyphs::class_means(&x, &labels(&[0, 10])),
        );
        refused(
            ErrorKind::Shape,
            "2 pictures need labels of sizes [2], these have [1]",
            glyphs::class_means(&x, &labels(&[0])),
        );
        refused(
            ErrorKind::Argument,
            "max must be positive, but is 0",
            glyphs::normalize::with(&x).max(0.0).call(),
        );
    }
    refused(
        ErrorKind::Shape,
        "pictures have sizes [N, C, H, W], but the tensor's are [2]",
        glyphs::ink(&Tensor::from([1f32, 2.0])),
    );
    refused(
        ErrorKind::Shape,
        "cannot be compared with means of sizes [1, 1, 1, 2]",
        glyphs::nearest(&x, &Tensor::from([[[[1f32, 2.0]]]])),
    );
    refused(
        ErrorKind::Argument,
        "there is no room for 9223372036854775807 classes",
        glyphs::class_means::with(&x, &labels(&[0, 1])).classes(i64::MAX).call(),
    );
    Ok(())
}

/// Operators without a kernel for the tape, and tapes that cannot be processed run by run, fall back to the CPU.
#[test]
fn the_rest_falls_back() -> Result<()> {
    let silent = torch_library::warning::listen(|_| ());
    let (x, taped) = (images(), on_tape(&images())?);
    let outlined = glyphs::outlined(&taped)?;
    assert_eq!(outlined.device().to_string(), "tape:0");
    assert_eq!(outlined.to_vec::<f32>()?, glyphs::outlined(&x)?.to_vec::<f32>()?);
    assert_eq!(on_tape(&Tensor::from([1i64, 1, 2]))?.to_vec::<i64>()?, [1, 1, 2]);
    let turned = on_tape(&aten::transpose_int(&x, 2, 3)?)?;
    assert_eq!(turned.to_vec::<f32>()?, aten::transpose_int(&x, 2, 3)?.to_vec::<f32>()?);
    let part = aten::select_int(&taped, 0, 1)?;
    assert_eq!(to(&part, Device::CPU)?.to_vec::<f32>()?, aten::select_int(&x, 0, 1)?.to_vec::<f32>()?);
    let error = glyphs::normalize(&part.strided_view(&[1, 1, 1, 2], &[2, 2, 2, 1], 0)?).unwrap_err();
    assert!(error.to_string().contains("a view of a part of a tape cannot be played run by run"), "{error}");
    drop(silent);
    let counts = torch_library::backend::fallback_counts(torch_library::DeviceType::PrivateUse1);
    assert!(counts.iter().any(|(operator, _)| operator == "glyphs::outlined"), "{counts:?}");
    Ok(())
}
