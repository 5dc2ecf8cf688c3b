//! Random operators under vmap, and rules for values that differ between examples.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::vmap::{Randomness, Vmap, vmap};

/// The draws of `operator` for a batch of three, of the rows of a matrix.
fn drawn(randomness: Randomness, operator: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    torch_library_kernels::random::manual_seed(7);
    let rows = Tensor::from_vec(vec![1.0; 12], &[3, 4])?;
    let run = |rows: &[Tensor]| Ok(vec![operator(&rows[0])?]);
    Vmap::new().randomness(randomness).run(&[rows], run).map(|mut outputs| outputs.swap_remove(0))
}

#[test]
fn all_examples_can_have_one_draw() -> Result<()> {
    type Draw = fn(&Tensor) -> Result<Tensor>;
    let filled: Draw = |row| aten::normal_(&mut aten::clone(row)?).map(|row| row.clone());
    let in_place: Draw = |row| aten::dropout_(&mut aten::clone(row)?, 0.5, true).map(|row| row.clone());
    let draws: [(&str, Draw); 6] = [
        ("rand_like", |row| aten::rand_like(row)),
        ("normal_", filled),
        ("dropout", |row| aten::dropout(row, 0.5, true)),
        ("dropout_", in_place),
        ("alpha_dropout", |row| aten::alpha_dropout(row, 0.5, true)),
        ("native_dropout", |row| aten::native_dropout(row, 0.5, Some(true)).map(|both| both.0)),
    ];
    for (name, draw) in draws {
        let same = drawn(Randomness::Same, draw)?;
        let same = aten::expand(&same, &[3, 4])?.to_vec::<f64>()?;
        assert!(same[..4] == same[4..8] && same[..4] == same[8..], "{name}: {same:?}");
        let different = drawn(Randomness::Different, draw)?;
        assert_eq!(different.sizes(), [3, 4], "{name}");
    }
    let error = drawn(Randomness::Same, aten::bernoulli).unwrap_err();
    assert!(error.to_string().contains("arguments that differ between them"), "{error}");
    Ok(())
}

/// PyTorch draws for a whole batch at once, which decides which numbers an example gets.
#[test]
fn examples_draw_like_a_batch() -> Result<()> {
    let all = || {
        torch_library_kernels::random::manual_seed(7);
        aten::randn(&[3, 4])?.to_vec::<f32>()
    };
    let found = drawn(Randomness::Different, |_| aten::randn(&[4]))?;
    assert_eq!((found.sizes(), found.to_vec::<f32>()?), (&[3, 4][..], all()?));
    let shared = Tensor::from([1f32; 4]);
    assert_eq!(drawn(Randomness::Different, |_| aten::randn_like(&shared))?.to_vec::<f32>()?, all()?);
    // A mask for a tensor that all examples share.
    let kept = drawn(Randomness::Different, |_| aten::dropout(&shared, 0.5, true))?;
    assert_eq!(kept.sizes(), [3, 4]);
    Ok(())
}

#[test]
fn numbers_have_windows_and_take_no_rows() -> Result<()> {
    let numbers = Tensor::from([1.0, 2.0]);
    let windows = vmap([&numbers], |[number]| aten::unfold(&number, 0, 1, 1))?;
    assert_eq!(windows.sizes(), [2, 1]);
    let copied = vmap([&numbers, &Tensor::from([[1.0, 2.0], [3.0, 4.0]])], |[number, row]| {
        aten::copy_(&mut number.clone(), &row).map(|to| to.clone())
    });
    let error = copied.unwrap_err().to_string();
    assert!(
        error.contains("a result of 1 dimensions cannot be written to an example of sizes []"),
        "{error}"
    );
    Ok(())
}

#[test]
fn values_and_masks_may_differ_between_examples() -> Result<()> {
    let (rows, values) = (Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), Tensor::from([10.0, 20.0]));
    let index = Tensor::from([0i64, 2]);
    let filled = vmap([&rows, &values], |[row, value]| aten::index_fill_int_Tensor(&row, 0, &index, &value))?;
    assert_eq!(filled.to_vec::<f64>()?, [10.0, 2.0, 10.0, 20.0, 5.0, 20.0]);
    let masks = Tensor::from([[true, false, true], [false, false, true]]);
    let source = Tensor::from([7.0, 8.0, 9.0]);
    let scattered = vmap([&rows, &masks], |[row, mask]| aten::masked_scatter(&row, &mask, &source))?;
    assert_eq!(scattered.to_vec::<f64>()?, [7.0, 2.0, 8.0, 4.0, 5.0, 7.0]);
    Ok(())
}
