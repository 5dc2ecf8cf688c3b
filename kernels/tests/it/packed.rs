//! Packed sequences of different lengths, and recurrent networks that run over them.

use torch_library::autograd::{self, Tolerance};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn spread(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let values = (0..count).map(|at| ((at * 5 + 2) % 7) as f64 / 7.0 - 0.4).collect();
    Tensor::from_vec::<f64>(values, sizes).unwrap()
}

fn counted(sizes: &[i64]) -> Tensor {
    aten::reshape(&aten::arange(sizes.iter().product::<i64>().into()).unwrap(), sizes).unwrap()
}

#[track_caller]
fn near(found: &Tensor, wanted: &[f64]) {
    let found = found.to_vec::<f64>().unwrap();
    let is_near = found.len() == wanted.len() && found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-14);
    assert!(is_near, "{found:?}, expected {wanted:?}");
}

#[test]
fn sequences_are_packed_step_by_step() -> Result<()> {
    let x = counted(&[3, 4]);
    let (data, batch_sizes) = aten::_pack_padded_sequence(&x, &Tensor::from([3i64, 2, 2, 1]), false)?;
    assert_eq!(data.to_vec::<i64>()?, [0, 1, 2, 3, 4, 5, 6, 8]);
    assert_eq!(batch_sizes.to_vec::<i64>()?, [4, 3, 1]);
    let (data, batch_sizes) =
        aten::_pack_padded_sequence(&counted(&[3, 4, 2]), &Tensor::from([4i64, 2, 1]), true)?;
    assert_eq!(data.to_vec::<i64>()?, [0, 1, 8, 9, 16, 17, 2, 3, 10, 11, 4, 5, 6, 7]);
    assert_eq!(batch_sizes.to_vec::<i64>()?, [3, 2, 1, 1]);
    for lengths in [vec![3i64, 2], vec![2, 3, 1, 1], vec![3, 0, 0, 0], vec![4, 1, 1, 1]] {
        let lengths = Tensor::from_slice(&lengths, &[lengths.len() as i64])?;
        assert!(aten::_pack_padded_sequence(&x, &lengths, false).is_err(), "{lengths}");
    }
    assert!(aten::_pack_padded_sequence(&x, &Tensor::from([3i32, 2, 2, 1]), false).is_err());
    assert!(aten::_pack_padded_sequence(&x, &Tensor::from([[3i64, 2, 2, 1]]), false).is_err());
    let empty = aten::zeros(&[3, 2, 0])?;
    assert!(aten::_pack_padded_sequence(&empty, &Tensor::from([3i64, 1]), false).is_err());
    Ok(())
}

#[test]
fn packed_sequences_are_padded_to_one_length() -> Result<()> {
    let (data, batch_sizes) = (counted(&[8]), Tensor::from([4i64, 3, 1]));
    let pad = |batch_first, value: Scalar, total| {
        aten::_pad_packed_sequence(&data, &batch_sizes, batch_first, value, total)
    };
    let (padded, lengths) = pad(false, (-1).into(), 4)?;
    assert_eq!(padded.to_vec::<i64>()?, [0, 1, 2, 3, 4, 5, 6, -1, 7, -1, -1, -1, -1, -1, -1, -1]);
    assert_eq!(lengths.to_vec::<i64>()?, [3, 2, 2, 1]);
    let (padded, _) = pad(true, 1.5.into(), 0)?;
    assert_eq!((padded.sizes(), padded.strides()), (&[4, 3][..], &[1, 4][..]));
    assert_eq!(padded.to_vec::<i64>()?, [0, 4, 7, 1, 5, 1, 2, 6, 1, 3, 1, 1]);
    assert!(pad(false, 0.into(), 2).is_err());
    for batch_sizes in [vec![3i64, 5], vec![5, 5], vec![]] {
        let batch_sizes = Tensor::from_slice(&batch_sizes, &[batch_sizes.len() as i64])?;
        assert!(aten::_pad_packed_sequence(&data, &batch_sizes, false, 0.into(), 0).is_err());
    }
    let (padded, lengths) = aten::_pad_packed_sequence(&data, &Tensor::from([3i64, 2]), false, 9.into(), 0)?;
    assert_eq!((padded.to_vec::<i64>()?, lengths.to_vec::<i64>()?), (vec![0, 1, 2, 3, 4, 9], vec![2, 2, 1]));
    Ok(())
}

#[test]
fn packing_and_padding_have_gradients() -> Result<()> {
    let lengths = Tensor::from([3i64, 2, 2, 1]);
    for batch_first in [false, true] {
        let input = if batch_first { spread(&[4, 3, 2]) } else { spread(&[3, 4, 2]) };
        let there_and_back = |x: &[Tensor]| {
            let (data, batch_sizes) = aten::_pack_padded_sequence(&x[0], &lengths, batch_first)?;
            let squares = data.mul(&data)?;
            Ok(vec![aten::_pad_packed_sequence(&squares, &batch_sizes, batch_first, 1.into(), 5)?.0])
        };
        assert!(
            autograd::gradcheck(there_and_back, std::slice::from_ref(&input), Tolerance::default()).is_ok()
        );
        assert!(autograd::gradgradcheck(there_and_back, &[input], Tolerance::default()).is_ok());
    }
    let gradient =
        aten::_pack_padded_sequence_backward(&counted(&[8]), &[4, 4], &Tensor::from([4i64, 3, 1]), true)?;
    assert_eq!(gradient.to_vec::<i64>()?, [0, 4, 7, 0, 1, 5, 0, 0, 2, 6, 0, 0, 3, 0, 0, 0]);
    Ok(())
}

#[test]
fn networks_run_over_packed_sequences_as_in_pytorch() -> Result<()> {
    let (data, batch_sizes) = (spread(&[6, 2]), Tensor::from([3i64, 2, 1]));
    let (h, c) = (spread(&[2, 3, 2]), spread(&[2, 3, 2]).mul(0.5)?);
    let layer = [spread(&[8, 2]), spread(&[8, 2]).mul(0.5)?, spread(&[8]), spread(&[8]).mul(0.3)?];
    let params = [layer.clone(), layer].concat();
    let (output, hidden, cell) =
        aten::lstm_data(&data, &batch_sizes, &[h.clone(), c], &params, true, 1, 0.0, false, true)?;
    assert_eq!((output.sizes(), hidden.sizes()), (&[6, 4][..], &[2, 3, 2][..]));
    near(
        &aten::select_int(&output, 0, 0)?,
        &[-0.12769882979446973, 0.06365042366472821, -0.1676536726855027, 0.17633274794130216],
    );
    near(
        &hidden,
        &[
            -0.18818189932590557,
            0.16165902431787596,
            -0.05138610131900062,
            0.113405598083442,
            -0.040421828957566915,
            0.09685561655469091,
            -0.1676536726855027,
            0.17633274794130216,
            -0.14283041337216607,
            0.13820705380517856,
            -0.026480242606507602,
            0.04487992077886743,
        ],
    );
    near(
        &aten::select_int(&cell, 0, 1)?,
        &[
            -0.33455560996877676,
            0.3674079741086106,
            -0.2467537452283563,
            0.3193190880815642,
            -0.04890070397236466,
            0.10299908532473302,
        ],
    );
    let params = [spread(&[6, 2]), spread(&[6, 2]).mul(0.5)?, spread(&[6, 2]), spread(&[6, 2]).mul(0.5)?];
    let (_, last) = aten::gru_data(&data, &batch_sizes, &h, &params, false, 2, 0.0, false, false)?;
    near(
        &last,
        &[
            -0.09495490735067276,
            0.007689233684366657,
            0.15019587733015058,
            -0.0409909118351151,
            -0.03830519459235615,
            0.12989908502421685,
            0.03834322101468029,
            -0.007647776922567096,
            -0.11789034412937911,
            0.07299761738590153,
            0.03080247707655165,
            -0.13722765464294967,
        ],
    );
    Ok(())
}

#[test]
fn one_length_for_all_is_an_ordinary_input() -> Result<()> {
    let (input, h) = (spread(&[3, 2, 2]), spread(&[2, 2, 3]));
    let params: Vec<Tensor> = [[3, 2], [3, 3], [3, 2], [3, 3]].map(|sizes| spread(&sizes)).into();
    let batch_sizes = Tensor::from([2i64, 2, 2]);
    let data = aten::reshape(&input, &[6, 2])?;
    for relu in [false, true] {
        let (whole, packed) = match relu {
            false => (
                aten::rnn_tanh_input(&input, &h, &params, false, 1, 0.0, false, true, false)?,
                aten::rnn_tanh_data(&data, &batch_sizes, &h, &params, false, 1, 0.0, false, true)?,
            ),
            true => (
                aten::rnn_relu_input(&input, &h, &params, false, 1, 0.0, false, true, false)?,
                aten::rnn_relu_data(&data, &batch_sizes, &h, &params, false, 1, 0.0, false, true)?,
            ),
        };
        assert_eq!(whole.0.to_vec::<f64>()?, packed.0.to_vec::<f64>()?);
        assert_eq!(whole.1.to_vec::<f64>()?, packed.1.to_vec::<f64>()?);
    }
    let too_few = aten::narrow(&data, 0, 0, 5)?;
    let error = aten::rnn_tanh_data(&too_few, &batch_sizes, &h, &params, false, 1, 0.0, false, true);
    assert_eq!(
        error.unwrap_err().to_string(),
        "aten::rnn_tanh.data: packed data of 5 rows, expected 6, the sum of the batch sizes"
    );
    let none = Tensor::from_slice::<i64>(&[], &[0])?;
    assert!(aten::rnn_tanh_data(&data, &none, &h, &params, false, 1, 0.0, false, true).is_err());
    let beyond = Tensor::from([i64::MAX, i64::MAX]);
    assert!(aten::rnn_tanh_data(&data, &beyond, &h, &params, false, 1, 0.0, false, true).is_err());
    assert!(aten::_pad_packed_sequence(&data, &beyond, false, 0.into(), 0).is_err());
    Ok(())
}

/// PyTorch's numbers.
#[test]
fn a_layer_runs_in_either_direction() -> Result<()> {
    let waves = |sizes: &[i64]| {
        let values = (0..sizes.iter().product::<i64>()).map(|at| (at as f64 * 0.7).sin()).collect();
        Tensor::from_vec::<f64>(values, sizes)
    };
    let (x, own, state) = (waves(&[3, 2, 3])?, waves(&[8, 3])?, waves(&[8, 2])?);
    let (bias, half) = (waves(&[8])?, waves(&[8])?.div(2.0)?);
    let (hidden, cell) = (waves(&[2, 2])?, waves(&[2, 2])?.div(3.0)?);
    let layer = |reverse, mode, layers| {
        aten::mkldnn_rnn_layer(
            &x,
            &own,
            &state,
            &bias,
            &half,
            &hidden,
            &cell,
            reverse,
            &[],
            mode,
            2,
            layers,
            true,
            false,
            false,
            false,
        )
    };
    let is_close = |found: &Tensor, want: &[f64]| {
        let found = found.to_vec::<f64>().unwrap();
        found.len() == want.len() && found.iter().zip(want).all(|(found, want)| (found - want).abs() < 1e-6)
    };
    let (output, last, last_cell, memory) = layer(false, 2, 1)?;
    let want = [
        0.16489087,
        -0.04199741,
        0.24238530,
        0.03359516,
        0.01503230,
        0.02675586,
        0.28217664,
        -0.06853850,
        0.09828842,
        -0.18032767,
        0.03304892,
        0.02670568,
    ];
    assert!(is_close(&output, &want), "{output}");
    assert!(is_close(&last, &want[8..]), "{last}");
    assert!(is_close(&last_cell, &[0.54866141, -0.53706700, 0.41434175, 0.30824906]), "{last_cell}");
    assert_eq!((last.sizes(), memory.sizes(), memory.dtype()), (&[2, 2][..], &[0][..], DType::UInt8));
    let (output, last, ..) = layer(true, 2, 1)?;
    let want = [0.24095897, -0.06174116, 0.12280825, -0.19954100];
    assert!(is_close(&aten::select_int(&output, 0, 0)?, &want) && is_close(&last, &want), "{output}");
    assert!(layer(false, 3, 1).is_err() && layer(false, 2, 2).is_err());
    Ok(())
}

#[test]
fn sequences_lie_one_after_the_other_or_side_by_side() -> Result<()> {
    let values = Tensor::from([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0]]);
    let offsets = [Tensor::from([0i64, 2, 2, 5])];
    let padded = |steps| {
        aten::_jagged_to_padded_dense_forward::with(&values, &offsets, &[steps]).padding_value(-1.0).call()
    };
    let cut = padded(2)?;
    assert_eq!(cut.sizes(), [3, 2, 2]);
    assert_eq!(cut.to_vec::<f64>()?, [0.0, 1.0, 2.0, 3.0, -1.0, -1.0, -1.0, -1.0, 4.0, 5.0, 6.0, 7.0]);
    let whole = padded(4)?;
    assert_eq!(whole.select(0, 2)?.to_vec::<f64>()?, [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, -1.0, -1.0]);
    let back = aten::_padded_dense_to_jagged_forward(&whole, &offsets)?;
    assert_eq!(back.to_vec::<f64>()?, values.to_vec::<f64>()?);
    let refused = |dense: &Tensor, total| {
        let call = aten::_padded_dense_to_jagged_forward::with(dense, &offsets).total_L(Some(total)).call();
        call.unwrap_err().to_string()
    };
    assert!(refused(&whole, 6).ends_with("the last offset is 5, total_L is 6"));
    assert!(refused(&cut, 5).ends_with("a sequence has 3 steps, the padded ones have 2"));
    let none = Tensor::zeros(&[0, 2], DType::Float32, Device::CPU)?;
    let empty = [Tensor::from([0i64, 0])];
    let padding =
        aten::_jagged_to_padded_dense_forward::with(&none, &empty, &[2]).padding_value(1.5).call()?;
    assert_eq!((padding.sizes(), padding.to_vec::<f32>()?), (&[1, 2, 2][..], vec![1.5; 4]));
    Ok(())
}
