//! Cases that torchvision leaves undefined or to its caller, and the layers of the operators.

use torch_library::autocast::Autocast;
use torch_library::autograd::{self, gradcheck};
use torch_library::opcheck::opcheck;
use torch_library::prelude::*;
use torch_library::{DType, Device, DeviceType};
use torch_library_kernels::aten;
use torch_library_vision::torchvision;

fn image(channels: i64, dtype: DType) -> Tensor {
    let values: Vec<f64> = (0..2 * channels * 30).map(|x| (x as f64 * 0.7).sin()).collect();
    let image = Tensor::from_vec(values, &[2, channels, 6, 5]).unwrap();
    aten::_to_copy::with(&image).dtype(Some(dtype)).call().unwrap()
}

fn rois(dtype: DType) -> Tensor {
    let rois =
        Tensor::from([[0.0, -1.0, 0.4, 3.2, 4.1], [1.0, 0.3, 0.2, 6.5, 7.0], [1.0, 2.0, 2.0, 2.0, 2.0]]);
    aten::_to_copy::with(&rois).dtype(Some(dtype)).call().unwrap()
}

#[test]
fn a_box_of_an_image_that_is_not_there_is_refused() {
    let refused = |image_number: f32| {
        let rois = Tensor::from([[image_number, 0.0, 0.0, 1.0, 1.0]]);
        torchvision::roi_align(&image(1, DType::Float32), &rois, 1.0, 2, 2, 2, true).unwrap_err().to_string()
    };
    for number in [2.0, -1.0, f32::NAN, 1e30] {
        assert!(refused(number).contains("refers to image"), "{}", refused(number));
    }
}

#[test]
fn a_box_that_would_take_for_ever_is_refused() {
    let rois = Tensor::from([[0f32, -1e9, -1e9, 1e9, 1e9]]);
    let refused = torchvision::roi_align(&image(1, DType::Float32), &rois, 1.0, 2, 2, -1, true).unwrap_err();
    assert!(refused.to_string().contains("points"), "{refused}");
    let few = torchvision::roi_align(&image(1, DType::Float32), &rois, 1.0, 2, 2, 2, true).unwrap();
    assert_eq!(few.to_vec::<f32>().unwrap(), [0.0; 4], "no point of it is in the image");
}

#[test]
fn a_result_that_no_memory_holds_is_refused() {
    let (image, rois) = (image(3, DType::Float32), rois(DType::Float32));
    for parts in [1 << 31, 1 << 62, i64::MAX] {
        torchvision::roi_align(&image, &rois, 1.0, parts, parts, 2, true).unwrap_err();
        torchvision::roi_pool(&image, &rois, 1.0, parts, 1 << 30).unwrap_err();
        torchvision::_roi_align_backward(&image, &rois, 1.0, 2, 2, parts, parts, 3, 3, 2, true).unwrap_err();
    }
    // Without channels there are no elements, but planes and bins that nobody can count.
    let none = Tensor::zeros(&[2, 0, 4, 4], DType::Float32, Device::CPU).unwrap();
    torchvision::roi_pool(&none, &rois, 1.0, 1 << 31, 1 << 33).unwrap_err();
    torchvision::ps_roi_align(&none, &rois, 1.0, 1 << 31, 1 << 33, 2).unwrap_err();
    let grad = Tensor::zeros(&[3, 0, 1, 1], DType::Float32, Device::CPU).unwrap();
    torchvision::_roi_align_backward(&grad, &rois, 1.0, 1, 1, 2, 0, (1 << 62) + 1, 4, 3, true).unwrap_err();
    torchvision::_roi_align_backward(&grad, &rois, 1.0, 1, 1, 0, 1 << 40, 1 << 20, 1 << 20, 3, true)
        .unwrap_err();
    let (weight, none) = (Tensor::from_vec(vec![1f32; 3], &[1, 3, 1, 1]).unwrap(), Tensor::from([0f32]));
    let convolved = |step: i64, padding: i64, groups: i64| {
        torchvision::deform_conv2d(
            &image, &weight, &image, &none, &none, step, 1, padding, 0, step, 1, groups, groups, false,
        )
    };
    for (step, padding, groups) in
        [(0, 0, 1), (1, -1, 1), (1, i64::MAX, 1), (i64::MAX, 0, 1), (1, 0, i64::MAX), (1, 0, 0)]
    {
        convolved(step, padding, groups).unwrap_err();
    }
}

#[test]
fn mistakes_say_what_is_expected() {
    let (image, rois) = (image(3, DType::Float32), rois(DType::Float32));
    let message = |result: Result<Tensor>| result.unwrap_err().to_string();
    let boxes = Tensor::from([[0f32, 1.0, 2.0, 3.0]]);
    assert!(message(torchvision::roi_align(&image, &boxes, 1.0, 2, 2, 2, true)).contains("expected [K, 5]"));
    assert!(message(torchvision::roi_align(&boxes, &rois, 1.0, 2, 2, 2, true)).contains("expected four"));
    assert!(message(torchvision::roi_align(&image, &rois, 1.0, 0, 2, 2, true)).contains("0 × 2 bins"));
    let other = message(torchvision::roi_align(&image, &self::rois(DType::Float64), 1.0, 2, 2, 2, true));
    assert!(other.contains("`rois` is of float64"), "{other}");
    let parts = torchvision::ps_roi_align(&image, &rois, 1.0, 2, 2, 2).map(|(pooled, _)| pooled);
    assert!(message(parts).contains("3 channels"));
    let scores = Tensor::from([1f32, 2.0]);
    assert!(message(torchvision::nms(&boxes, &scores, 0.5)).contains("expected one for each of 1 boxes"));
}

#[test]
fn half_precision_is_computed_in_float32() {
    for dtype in [DType::Float16, DType::BFloat16] {
        let pooled = torchvision::roi_align(&image(2, dtype), &rois(dtype), 1.0, 2, 2, 2, true).unwrap();
        assert_eq!((pooled.dtype(), pooled.sizes()), (dtype, &[3, 2, 2, 2][..]));
    }
}

#[test]
fn nothing_of_nothing_is_nothing() {
    let none = Tensor::empty(&[0, 5], DType::Float32, Device::CPU).unwrap();
    let pooled = torchvision::roi_align(&image(2, DType::Float32), &none, 1.0, 2, 2, 2, true).unwrap();
    assert_eq!(pooled.sizes(), [0, 2, 2, 2]);
    let boxes = Tensor::empty(&[0, 4], DType::Float32, Device::CPU).unwrap();
    let scores = Tensor::empty(&[0], DType::Float32, Device::CPU).unwrap();
    assert_eq!(torchvision::nms(&boxes, &scores, 0.5).unwrap().sizes(), [0]);
}

#[test]
fn gradients_are_the_slopes() {
    let (image, rois) = (image(4, DType::Float64), rois(DType::Float64));
    image.set_requires_grad(true).unwrap();
    let pooled = |x: &[Tensor]| Ok(vec![torchvision::roi_align(&x[0], &rois, 0.9, 2, 2, 2, true)?]);
    gradcheck(pooled, &[image], Default::default()).unwrap();
}

#[test]
fn schemas_and_layers_agree() {
    let (image, rois) = (image(4, DType::Float64), rois(DType::Float64));
    let sample = |pooled: i64, rest: Vec<Value<'static>>| {
        let mut sample = vec![Value::from(image.clone()), Value::from(rois.clone()), Value::Float(0.9)];
        sample.extend((0..pooled).map(|_| Value::Int(2)).chain(rest));
        [sample]
    };
    opcheck(torchvision::roi_align::handle(), sample(3, vec![Value::Bool(true)])).unwrap();
    opcheck(torchvision::roi_pool::handle(), sample(2, vec![])).unwrap();
    opcheck(torchvision::ps_roi_align::handle(), sample(3, vec![])).unwrap();
    opcheck(torchvision::ps_roi_pool::handle(), sample(2, vec![])).unwrap();
}

#[test]
fn no_boxes_have_no_channels_to_list() {
    let (image, rois) =
        (Tensor::empty(&[0, 1_000_000_000_000, 1, 1], DType::Float32, Device::CPU).unwrap(), [0, 5]);
    let rois = Tensor::zeros(&rois, DType::Float32, Device::CPU).unwrap();
    let (pooled, mapping) = torchvision::ps_roi_align(&image, &rois, 1.0, 1000, 1000, 2).unwrap();
    assert_eq!(
        (pooled.sizes(), mapping.sizes()),
        (&[0, 1_000_000, 1000, 1000][..], &[0, 1_000_000, 1000, 1000][..])
    );
    let none = Tensor::zeros(&[2, 0, 4, 4], DType::Float32, Device::CPU).unwrap();
    let rois = Tensor::zeros(&[2, 5], DType::Float32, Device::CPU).unwrap();
    let (_, mapping) = torchvision::ps_roi_pool(&none, &rois, 1.0, 3, 2).unwrap();
    assert_eq!((mapping.sizes(), mapping.strides()), (&[2, 0, 3, 2][..], &[6, 6, 2, 1][..]));
}

/// The convolution of a 2 × 2 image with a single one, padded by one element, for 4 × 4 points that are not moved.
fn unmoved(image: &Tensor, offset: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let (one, zero) = (Tensor::from([[[[1.0]]]]), Tensor::from([0.0]));
    torchvision::deform_conv2d(image, &one, offset, mask, &zero, 1, 1, 1, 1, 1, 1, 1, 1, true)
}

#[test]
fn points_beside_the_image_are_drawn_to_it() -> Result<()> {
    let image = Tensor::from([[[[1.0, 2.0], [3.0, 4.0]]]]);
    let offset = Tensor::zeros(&[1, 2, 4, 4], DType::Float64, Device::CPU)?;
    let mask = aten::ones_like(&aten::narrow(&offset, 1, 0, 1)?)?;
    for tensor in [&image, &offset, &mask] {
        tensor.set_requires_grad(true)?;
    }
    let convolved = unmoved(&image, &offset, &mask)?;
    let padded = [0., 0., 0., 0., 0., 1., 2., 0., 0., 3., 4., 0., 0., 0., 0., 0.];
    assert_eq!(convolved.to_vec::<f64>()?, padded);
    let ones = Some(aten::ones_like(&convolved)?);
    let gradients = autograd::grad(&[&convolved], &[&image, &offset, &mask], &[ones], Default::default())?;
    let values = |at: usize| gradients[at].as_ref().map(|gradient| gradient.to_vec::<f64>()).transpose();
    assert_eq!(values(0)?, Some(vec![1.0; 4]));
    // Torchvision's, who takes the slope from outside to the first row and column, but not to the last ones.
    let down = [0., 1., 2., 0., 0., 2., 2., 0., 0., -3., -4., 0., 0., 0., 0., 0.];
    let right = [0., 0., 0., 0., 1., 1., -2., 0., 3., 1., -4., 0., 0., 0., 0., 0.];
    assert_eq!(values(1)?, Some([down, right].concat()));
    assert_eq!(values(2)?, Some(padded.to_vec()));
    let endless = Some(aten::full_like(&convolved, f64::INFINITY.into())?);
    let again = unmoved(&image, &offset, &mask)?;
    let gradients = autograd::grad(&[&again], &[&image], &[endless], Default::default())?;
    let of_image = gradients[0].as_ref().map(|gradient| gradient.to_vec::<f64>()).transpose()?;
    assert_eq!(of_image, Some(vec![f64::INFINITY; 4]), "elements without a weight get no gradient");
    let endless = unmoved(&aten::full_like(&image, f64::INFINITY.into())?, &offset, &mask)?;
    assert_eq!(endless.to_vec::<f64>()?[..4], [0.0; 4], "infinities of the image are not seen from outside");
    Ok(())
}

#[test]
fn numbers_that_are_not_finite_are_seen() -> Result<()> {
    let mut values = vec![0f32; 9];
    values[4] = f32::NAN;
    let image = Tensor::from_vec(values, &[1, 1, 3, 3])?;
    // The point of the bin is on the first element, the fourth of its neighbours is NaN and has no weight.
    let rois = Tensor::from([[0f32, 0.5, 0.5, 0.5, 0.5]]);
    for sampling_ratio in [1, 2] {
        let pooled = torchvision::roi_align(&image, &rois, 1.0, 1, 1, sampling_ratio, true)?;
        assert!(pooled.to_vec::<f32>()?[0].is_nan());
    }
    // The average of no points: as in torchvision, zero in one operator, and zero divided by zero in the other.
    let (ones, empty) = (aten::ones_like(&image)?, Tensor::from([[0f32, 1.0, 1.0, 1.0, 1.0]]));
    assert_eq!(torchvision::roi_align(&ones, &empty, 1.0, 1, 1, -1, true)?.to_vec::<f32>()?, [0.0]);
    assert!(torchvision::ps_roi_align(&ones, &empty, 1.0, 1, 1, -1)?.0.to_vec::<f32>()?[0].is_nan());
    Ok(())
}

#[test]
fn autocast_computes_boxes_in_float32() -> Result<()> {
    let (image, rois) = (image(2, DType::BFloat16), rois(DType::Float32));
    assert!(torchvision::roi_align(&image, &rois, 1.0, 2, 2, 2, true).is_err(), "two types");
    let autocast = Autocast::on(DeviceType::Cpu);
    let pooled = autocast.run(|| torchvision::roi_align(&image, &rois, 1.0, 2, 2, 2, true))?;
    assert_eq!(pooled.dtype(), DType::BFloat16);
    let single = aten::to_dtype(&image, DType::Float32)?;
    let expected = torchvision::roi_align(&single, &rois, 1.0, 2, 2, 2, true)?;
    assert!(aten::equal(&pooled, &aten::to_dtype(&expected, DType::BFloat16)?)?);
    let boxes = aten::to_dtype(&aten::narrow(&rois, 1, 1, 4)?, DType::BFloat16)?;
    let scores = Tensor::from([0.5f32, 0.25, 0.75]);
    assert!(torchvision::nms(&boxes, &scores, 0.5).is_err(), "two types");
    let kept = Autocast::on(DeviceType::Cpu).run(|| torchvision::nms(&boxes, &scores, 0.5))?;
    let expected = torchvision::nms(&aten::to_dtype(&boxes, DType::Float32)?, &scores, 0.5)?;
    assert!(aten::equal(&kept, &expected)?);
    // The pooling of maxima is not in the list.
    let pooled = Autocast::on(DeviceType::Cpu).run(|| torchvision::roi_pool(&image, &rois, 1.0, 2, 2));
    assert!(pooled.is_err());
    Ok(())
}
