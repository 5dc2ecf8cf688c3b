//! What torchaudio answers, and what it leaves to its caller.

use torch_library::autograd::gradcheck;
use torch_library::fake::{is_fake, to_fake};
use torch_library::opcheck::opcheck;
use torch_library::prelude::*;
use torch_library_aten::aten;
use torch_library_audio::torchaudio;

#[track_caller]
fn close(tensor: &Tensor, expected: &[f64]) {
    let found = aten::to_dtype(tensor, DType::Float64).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 2e-6, "{found}, torchaudio has {expected}");
    }
}

fn of(dtype: DType, values: &[f64], sizes: &[i64]) -> Tensor {
    aten::to_dtype(&Tensor::from_vec(values.to_vec(), sizes).unwrap(), dtype).unwrap()
}

fn zeros(sizes: &[i64]) -> Tensor {
    Tensor::zeros(sizes, DType::Float32, Device::CPU).unwrap()
}

/// Of three classes.
fn log_softmax(scores: &Tensor) -> Tensor {
    let values = aten::to_dtype(scores, DType::Float64).unwrap().to_vec::<f64>().unwrap();
    let log_sum = |row: &[f64]| row.iter().map(|score| score.exp()).sum::<f64>().ln();
    let rows = values.chunks(3).flat_map(|row| row.iter().map(move |score| score - log_sum(row)));
    of(scores.dtype(), &rows.collect::<Vec<_>>(), scores.sizes())
}

/// Two channels of two signals, their coefficients, and the memory for the result.
fn signals(dtype: DType) -> [Tensor; 3] {
    let samples: Vec<f64> = (0..16).map(|place| f64::from(place % 5 - 2)).collect();
    let padded: Vec<f64> = (0..24).map(|place| if place % 6 < 2 { 1.0 } else { 0.0 }).collect();
    [
        of(dtype, &samples, &[2, 2, 4]),
        of(dtype, &[0.25, -0.5, 1.0, 0.5, 0.125, 1.0], &[2, 3]),
        of(dtype, &padded, &[2, 2, 6]),
    ]
}

const FILTERED: [f64; 24] = [
    1.0,
    1.0,
    -1.75,
    -2.125,
    -0.625,
    1.21875,
    1.0,
    1.0,
    1.375,
    -2.671875,
    -1.353515625,
    1.505126953125,
    1.0,
    1.0,
    1.25,
    2.375,
    -1.125,
    -2.15625,
    1.0,
    1.0,
    -0.625,
    0.578125,
    2.240234375,
    -2.569091796875,
];

#[test]
fn a_filter_goes_on_from_the_samples_before() -> Result<()> {
    for dtype in [DType::Float32, DType::Float64] {
        let [input, coefficients, mut output] = signals(dtype);
        torchaudio::_lfilter_core_loop(&input, &coefficients, &mut output)?;
        close(&output, &FILTERED);
        // Strides are followed, also those of the result.
        let turned = |tensor: &Tensor| {
            aten::transpose_int(&aten::contiguous(&aten::transpose_int(tensor, 0, -1)?)?, 0, -1)
        };
        let [input, coefficients, output] = signals(dtype);
        let mut output = turned(&output)?;
        assert_ne!(output.strides(), [12, 6, 1]);
        torchaudio::_lfilter_core_loop(&turned(&input)?, &turned(&coefficients)?, &mut output)?;
        close(&output, &FILTERED);
    }
    let nothing = zeros(&[2, 2, 0]);
    let mut output = zeros(&[2, 2, 2]);
    torchaudio::_lfilter_core_loop(&nothing, &signals(DType::Float32)[1], &mut output)?;
    Ok(())
}

/// A signal, a distorted one, and what is written.
fn driven() -> [Tensor; 5] {
    [
        of(DType::Float32, &[0.5, -1.0, 2.0, 1.0, 0.0, -3.0], &[2, 3]),
        of(DType::Float32, &[0.25, 1.0, -0.5, 0.0, 2.0, 1.0], &[2, 3]),
        of(DType::Float32, &[0.5, -0.5], &[2]),
        of(DType::Float32, &[1.0, 0.3], &[2]),
        of(DType::Float32, &[0.0; 6], &[2, 3]),
    ]
}

#[test]
fn an_overdriven_signal_is_mixed_with_the_original() -> Result<()> {
    let [waveform, temp, mut last_in, mut last_out, mut output] = driven();
    torchaudio::_overdrive_core_loop(&waveform, &temp, &mut last_in, &mut last_out, &mut output)?;
    close(&last_in, &[-0.5, 1.0]);
    close(&last_out, &[-0.016181422397494316, 1.7805349826812744]);
    let expected = [
        0.8087500333786011,
        0.618456244468689,
        0.9878639578819275,
        1.0988750457763672,
        2.0958805084228516,
        -0.1645987629890442,
    ];
    close(&output, &expected);
    Ok(())
}

fn aligned(log_probs: &Tensor, targets: &[i32]) -> Result<Vec<i32>> {
    let length = targets.len() as i64;
    let targets = Tensor::from_vec(targets.to_vec(), &[1, length])?;
    let times = Tensor::from([log_probs.sizes()[1]]);
    let (path, _) = torchaudio::forced_align(log_probs, &targets, &times, &Tensor::from([length]), 0)?;
    assert_eq!((path.dtype(), path.dim()), (DType::Int32, 2));
    path.to_vec()
}

fn emissions() -> Tensor {
    let scores = [3., 1., 0., 0., 2., 1., 2., 2., 0., 0., 1., 1., 0., 3., 1., 1., 0., 2.];
    log_softmax(&of(DType::Float32, &scores, &[1, 6, 3]))
}

#[test]
fn labels_have_their_most_likely_times() -> Result<()> {
    let (emissions, uniform) = (emissions(), zeros(&[1, 6, 3]));
    for (log_probs, targets, expected) in [
        (&emissions, &[1, 1, 2][..], [0, 1, 0, 1, 1, 2]),
        (&emissions, &[1, 2], [0, 1, 1, 1, 1, 2]),
        (&emissions, &[2, 1, 2, 1, 2], [0, 2, 1, 2, 1, 2]),
        (&emissions, &[1, 1, 1], [0, 1, 0, 1, 0, 1]),
        (&emissions, &[2], [0, 0, 0, 2, 2, 2]),
        (&uniform, &[1, 1, 2], [1, 0, 1, 2, 2, 2]),
        (&uniform, &[1, 2], [1, 2, 2, 2, 2, 2]),
        (&uniform, &[1], [1; 6]),
        // Where torchaudio reads past the end.
        (&emissions, &[], [0; 6]),
    ] {
        assert_eq!(aligned(log_probs, targets)?, expected, "{targets:?}");
    }
    let message = |targets: &[i32]| aligned(&emissions, targets).unwrap_err().to_string();
    assert!(
        message(&[1, 1, 1, 1])
            .contains("4 targets, 3 of which repeat the one before, do not fit into 6 times")
    );
    assert!(message(&[3]).contains("`targets` has the label 3, expected one of 3"));
    assert!(message(&[1, 0]).contains("which is the blank label"));
    Ok(())
}

fn logits(dtype: DType) -> Tensor {
    let numbers: Vec<f64> = (0..48).map(|place| f64::from(place * 7 % 11) / 4.0).collect();
    let rows = numbers.chunks(2).zip(numbers[24..].chunks(2).chain(numbers[..24].chunks(2)));
    let values: Vec<f64> = rows.flat_map(|(row, other)| [row[0], row[1], other[0] * 0.5]).collect();
    of(dtype, &values, &[2, 3, 4, 3])
}

fn transduced(logits: &Tensor, clamp: f64, fused: bool) -> Result<(Tensor, Tensor)> {
    let targets = Tensor::from([[1i32, 2, 1], [2, 1, 0]]);
    let (times, lengths) = (Tensor::from([3i32, 2]), Tensor::from([3i32, 2]));
    torchaudio::rnnt_loss_forward(logits, &targets, &times, &lengths, 0, clamp, fused)
}

const LOSSES: [f64; 2] = [5.232815265655518, 4.148570537567139];

#[test]
fn the_loss_of_a_transducer_comes_with_its_gradient() -> Result<()> {
    let gradient = [
        -0.174474, -0.002757, 0.177231, -0.19317, 0.522221, -0.329051, -0.047048, -0.093342, 0.140389,
        -0.055204, 0.041674, 0.01353, 0.014462, -0.061787, 0.047326, 0.088, 0.091187, -0.179186, 0.007472,
        -0.206918, 0.199446, -0.159456, 0.123945, 0.035511, 0.002839, -0.006057, 0.003217, 0.084907,
        0.031235, -0.116142, 0.335032, -0.380374, 0.045342, -0.878191, 0.700961, 0.177231, -0.15255,
        0.796268, -0.643718, 0.07133, -0.207341, 0.136012, -0.134272, 0.083579, 0.050693, 0.0, 0.0, 0.0,
        0.163005, 0.059966, -0.22297, 0.385967, -0.496548, 0.110581, -0.360937, 0.235098, 0.125839, 0.0, 0.0,
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    ];
    for dtype in [DType::Float32, DType::Float64] {
        let (losses, found) = transduced(&logits(dtype), -1.0, true)?;
        assert_eq!((losses.dtype(), losses.sizes()), (dtype, &[2][..]));
        close(&losses, &LOSSES);
        close(&found, &gradient);
    }
    let (_, clamped) = transduced(&logits(DType::Float32), 0.2, true)?;
    close(&clamped, &gradient.map(|number| number.clamp(-0.2, 0.2)));
    // With respect to logarithms of probabilities, only those that a path takes count.
    let log_probs = log_softmax(&logits(DType::Float32));
    let (losses, found) = transduced(&log_probs, -1.0, false)?;
    close(&losses, &LOSSES);
    close(
        &aten::narrow(&aten::flatten_using_ints(&found)?, 0, 0, 6)?,
        &[-0.296282, -0.703718, 0.0, -0.283918, 0.0, -0.4198],
    );
    Ok(())
}

#[test]
fn the_gradient_is_that_of_the_loss() -> Result<()> {
    let losses = |inputs: &[Tensor]| Ok(vec![transduced(&inputs[0], -1.0, true)?.0]);
    gradcheck(losses, &[logits(DType::Float64)], Default::default())
}

#[test]
fn sizes_are_known_without_elements() -> Result<()> {
    let [input, coefficients, output] = signals(DType::Float32);
    let mut output = to_fake(&output)?;
    let (input, coefficients) = (to_fake(&input)?, to_fake(&coefficients)?);
    assert!(is_fake(torchaudio::_lfilter_core_loop(&input, &coefficients, &mut output)?));
    let sample = |arguments: &[Tensor]| arguments.iter().cloned().map(Value::from).collect::<Vec<_>>();
    opcheck(torchaudio::_lfilter_core_loop::handle(), [sample(&signals(DType::Float32))])?;
    opcheck(torchaudio::_overdrive_core_loop::handle(), [sample(&driven())])?;
    let (lengths, targets) = (Tensor::from([3i32, 2]), Tensor::from([[1i32, 2, 1], [2, 1, 0]]));
    let mut loss = sample(&[logits(DType::Float32), targets, lengths.clone(), lengths]);
    loss.extend([Value::Int(0), Value::Float(-1.0), Value::Bool(true)]);
    opcheck(torchaudio::rnnt_loss_forward::handle(), [loss])?;
    let (targets, times) = (Tensor::from([[1i64, 2]]), Tensor::from([6i64]));
    let mut alignment = sample(&[emissions(), targets, times, Tensor::from([2i64])]);
    alignment.push(Value::Int(0));
    opcheck(torchaudio::forced_align::handle(), [alignment])?;
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() {
    let [input, coefficients, mut output] = signals(DType::Float32);
    let double = aten::to_dtype(&coefficients, DType::Float64).unwrap();
    let error = torchaudio::_lfilter_core_loop(&input, &double, &mut output).unwrap_err().to_string();
    assert!(error.contains("`a_coeff_flipped` is of float64"), "{error}");
    let long = zeros(&[2, 4]);
    let error = torchaudio::_lfilter_core_loop(&input, &long, &mut output).unwrap_err().to_string();
    assert!(error.contains("`padded_output_waveform` has sizes [2, 2, 6], expected [2, 2, 7]"), "{error}");
    let lengths = |times: [i32; 2]| {
        let (targets, lengths) = (Tensor::from([[1i32, 2, 1], [2, 1, 0]]), Tensor::from([3i32, 2]));
        let logits = logits(DType::Float32);
        torchaudio::rnnt_loss_forward(&logits, &targets, &Tensor::from(times), &lengths, 0, -1.0, true)
            .unwrap_err()
            .to_string()
    };
    for times in [[2, 2], [3, 4], [3, 0]] {
        assert!(lengths(times).contains("`logit_lengths` is"), "{times:?}");
    }
}
