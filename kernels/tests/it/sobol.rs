//! Sobol sequences, whose points are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// The direction numbers of the first three dimensions, as PyTorch has them.
fn directions() -> Tensor {
    let numbers: [[i64; 30]; 3] = [
        [
            536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304, 2097152,
            1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64,
            32, 16, 8, 4, 2, 1,
        ],
        [
            536870912, 805306368, 671088640, 1006632960, 570425344, 855638016, 713031680, 1069547520,
            538968064, 808452096, 673710080, 1010565120, 572653568, 858980352, 715816960, 1073725440,
            536879104, 805318656, 671098880, 1006648320, 570434048, 855651072, 713042560, 1069563840,
            538976288, 808464432, 673720360, 1010580540, 572662306, 858993459,
        ],
        [
            536870912, 805306368, 402653184, 603979776, 973078528, 385875968, 595591168, 826277888,
            438304768, 657457152, 999817216, 358875136, 538574848, 807862272, 406552576, 605372416,
            975183872, 389033984, 597170176, 828646400, 437926400, 656873216, 1002152832, 357921088,
            536885792, 805312304, 402662296, 603992420, 973085210, 385885991,
        ],
    ];
    Tensor::from_slice(numbers.as_flattened(), &[3, 30]).unwrap()
}

#[test]
fn points_are_pytorchs() -> Result<()> {
    let state = directions();
    let (points, last) = aten::_sobol_engine_draw(&Tensor::from([0i64; 3]), 4, &state, 3, 0, None)?;
    let want = [0.5, 0.5, 0.5, 0.75, 0.25, 0.25, 0.25, 0.75, 0.75, 0.375, 0.375, 0.625];
    assert_eq!((points.to_vec::<f32>()?, points.sizes()), (want.to_vec(), &[4, 3][..]));
    assert_eq!(last.to_vec::<i64>()?, [402653184, 402653184, 671088640]);
    let (points, last) = aten::_sobol_engine_draw(&last, 2, &state, 3, 4, Some(DType::Float64))?;
    assert_eq!(points.to_vec::<f64>()?, [0.875, 0.875, 0.125, 0.625, 0.125, 0.875]);
    assert_eq!(last.to_vec::<i64>()?, [671088640, 134217728, 939524096]);
    let (none, same) = aten::_sobol_engine_draw(&last, 0, &state, 3, 6, None)?;
    assert_eq!((none.sizes(), same.to_vec::<i64>()?), (&[0, 3][..], last.to_vec::<i64>()?));

    let mut skipped = Tensor::from([0i64; 3]);
    aten::_sobol_engine_ff_(&mut skipped, 1000, &state, 3, 0)?;
    assert_eq!(skipped.to_vec::<i64>()?, [235929600, 103809024, 556793856]);
    let (_, drawn) = aten::_sobol_engine_draw(&Tensor::from([0i64; 3]), 1000, &state, 3, 0, None)?;
    assert!(aten::equal(&drawn, &skipped)?, "skipping points is drawing them");
    Ok(())
}

#[test]
fn scrambled_direction_numbers_are_pytorchs() -> Result<()> {
    let bit = |at: i64| {
        let (row, column) = (at / 30 % 30, at % 30);
        if row == column { 1 } else { i64::from(column < row) * ((at * 7919 + at / 13) % 5 % 2) }
    };
    let matrices = Tensor::from_vec((0..2700).map(bit).collect(), &[3, 30, 30])?;
    let mut state = directions();
    aten::_sobol_engine_scramble_(&mut state, &matrices, 3)?;
    let numbers = state.to_vec::<i64>()?;
    assert_eq!(numbers[..3], [635973441, 503509015, 138215912]);
    assert_eq!(numbers[87..], aten::narrow(&aten::select_int(&state, 0, 2)?, 0, 27, 3)?.to_vec::<i64>()?);
    assert_eq!([numbers[29], numbers[59], numbers[89]], [1, 761446617, 335892159]);
    assert_eq!(numbers.iter().sum::<i64>(), 47315116335);
    let mut strided = aten::t(&aten::contiguous(&aten::t(&directions())?)?)?;
    aten::_sobol_engine_scramble_(&mut strided, &matrices, 3)?;
    assert!(aten::equal(&state, &strided)?, "of other strides");

    let few = aten::narrow(&matrices, 0, 0, 2)?;
    let error = aten::_sobol_engine_scramble_(&mut state, &few, 3).unwrap_err().to_string();
    assert!(error.ends_with("for 3 dimensions, expected [3, 30] and [3, 30, 30]"), "{error}");
    assert!(aten::_sobol_engine_scramble_(&mut state, &matrices.to_dtype(DType::Int32)?, 3).is_err());
    assert!(aten::_sobol_engine_scramble_(&mut state, &matrices, -1).is_err());
    Ok(())
}

#[test]
fn sequences_refuse_what_they_have_no_points_for() {
    let (point, state) = (Tensor::from([0i64; 3]), directions());
    let draw = |point: &Tensor, n, dimension, generated, dtype| {
        let drawn = aten::_sobol_engine_draw(point, n, &state, dimension, generated, dtype);
        drawn.map(drop).unwrap_err().to_string().replace("aten::_sobol_engine_draw: ", "")
    };
    assert_eq!(draw(&point, -1, 3, 0, None), "n is -1, expected zero or more");
    for (n, generated) in [(1, (1 << 30) - 1), (1, -1), (i64::MAX, 1), (1, i64::MAX)] {
        let error = draw(&point, n, 3, generated, None);
        assert!(error.ends_with("but a sequence has fewer than 1073741824"), "{error}");
    }
    assert!(draw(&point, 1, 4, 0, None).ends_with("for 4 dimensions, expected [4] and [4, 30]"));
    assert!(draw(&point, 1, -3, 0, None).contains("for -3 dimensions"));
    assert!(draw(&point, 1, 3, 0, Some(DType::Float16)).ends_with("expected float32 or float64"));
    assert!(draw(&Tensor::from([0i32; 3]), 1, 3, 0, None).ends_with("int32 and int64, expected int64"));
    let mut shared = aten::expand(&Tensor::from([0i64]), &[3]).unwrap();
    assert!(aten::_sobol_engine_ff_(&mut shared, 1, &state, 3, 0).is_err(), "elements share memory");
}
