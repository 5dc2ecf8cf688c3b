//! The memory of functional tensors: what reaches the inputs and what does not, and tensors that are moved or resized.

use super::*;

#[test]
fn an_out_argument_that_is_an_input_gets_the_sizes_of_the_result() {
    for sizes in [&[4][..], &[0], &[8], &[1], &[2, 2]] {
        let out = aten::zeros_like(&Tensor::from([0.0; 8])).unwrap().slice(0, 0, sizes.iter().product(), 1);
        let inputs = [Tensor::from([[0.0, 1.0], [2.0, 3.0]]), out.unwrap().view(sizes).unwrap()];
        for factor in [None, Some(10.0)] {
            same(&inputs, |inputs| {
                let mut out = inputs[1].clone();
                aten::add_out(&inputs[0], &inputs[0].t()?, &mut out)?;
                factor.map(|factor: f64| out.mul_(factor).map(drop)).transpose()?;
                Ok(vec![out])
            });
        }
    }
}

/// Memory of six numbers, and views of it.
fn views<const N: usize>(of: [(&[i64], &[i64], i64); N]) -> (Tensor, [Tensor; N]) {
    let memory = Tensor::from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let views = of.map(|(sizes, strides, offset)| memory.strided_view(sizes, strides, offset).unwrap());
    (memory, views)
}

#[test]
fn the_memory_beside_an_input_is_left_alone() -> Result<()> {
    let places: [(&[i64], &[i64], i64, i64); 3] =
        [(&[3], &[1], 1, 5), (&[3], &[2], 0, 3), (&[2, 2], &[0, 3], 1, 2)];
    for (sizes, strides, offset, beside) in places {
        let run = |functional: bool| {
            let (memory, [input]) = views([(sizes, strides, offset)]);
            let outside = memory.select(0, beside)?;
            let program = |inputs: &[Tensor]| {
                let x = &inputs[0];
                aten::fill__Scalar(&mut x.clone(), 7.into())?;
                outside.clone().add_(100.0)?;
                aten::fill__Scalar(&mut x.select(0, 1)?, 8.into())?;
                let second = aten::as_strided::call(x, &[1], &[1], Some(offset + strides[0]))?;
                Ok(vec![x.add(1.0)?, second.add(0.0)?])
            };
            let inputs = std::slice::from_ref(&input);
            let results = if functional { functionalize(inputs, program)? } else { program(inputs)? };
            let numbers = results.iter().chain([&memory]).map(Tensor::to_vec::<f64>);
            numbers.collect::<Result<Vec<_>>>()
        };
        assert_eq!(run(true)?, run(false)?, "{sizes:?} {strides:?} {offset}");
    }
    Ok(())
}

#[test]
fn a_part_of_an_input_is_written_where_it_is_seen() -> Result<()> {
    let run = |functional: bool| {
        let (memory, [input]) = views([(&[3], &[1], 2)]);
        let program = |inputs: &[Tensor]| {
            inputs[0].clone().add_(1.0)?;
            let tail = inputs[0].slice(0, 1, 3, 1)?;
            let mut last = aten::as_strided::call(&inputs[0], &[1], &[1], Some(4))?;
            last.mul_(10.0)?;
            let copy = aten::as_strided_copy::call(&tail, &[2], &[1], Some(2))?;
            let offsets = [tail.storage_offset(), last.storage_offset()].map(|offset| offset as f64);
            Ok(vec![tail, last, copy, Tensor::from(offsets)])
        };
        let inputs = std::slice::from_ref(&input);
        let results = if functional { functionalize(inputs, program)? } else { program(inputs)? };
        let numbers = results.iter().chain([&memory]).map(Tensor::to_vec::<f64>);
        numbers.collect::<Result<Vec<_>>>()
    };
    assert_eq!(run(true)?, run(false)?);
    // The graph knows only the input.
    let (_, inputs) = views([(&[3], &[1], 2)]);
    let (_, graph) = trace(&inputs, |inputs| {
        functionalize(inputs, |inputs| {
            inputs[0].clone().add_(1.0)?;
            Ok(vec![])
        })
    })?;
    assert_eq!(calls(&graph), ["aten::add.Scalar", "aten::copy_"]);
    Ok(())
}

#[test]
fn what_a_view_reaches_between_the_elements_of_an_input_is_written() -> Result<()> {
    let (memory, inputs) = views([(&[2], &[2], 1)]);
    functionalize(&inputs, |inputs| {
        aten::fill__Scalar(&mut aten::as_strided::call(&inputs[0], &[3], &[1], Some(1))?, 7.into())?;
        Ok(vec![])
    })?;
    assert_eq!(memory.to_vec::<f64>()?, [0.0, 7.0, 7.0, 7.0, 4.0, 5.0]);
    let beyond = functionalize(&inputs, |inputs| {
        aten::fill__Scalar(&mut aten::as_strided::call(&inputs[0], &[6], &[1], Some(0))?, 7.into())?;
        Ok(vec![])
    });
    assert!(beyond.unwrap_err().to_string().contains("reaches beyond the input"));
    // What was written to an input before its tensor was moved to a part of it.
    let (memory, inputs) = views([(&[6], &[1], 0)]);
    functionalize(&inputs, |inputs| {
        let mut x = inputs[0].clone();
        x.add_(1.0)?;
        aten::as_strided_::with(&mut x, &[2], &[1]).call()?.mul_(10.0)?;
        Ok(vec![])
    })?;
    assert_eq!(memory.to_vec::<f64>()?, [10.0, 20.0, 3.0, 4.0, 5.0, 6.0]);
    Ok(())
}

#[test]
fn tensors_are_resized() -> Result<()> {
    let sizes: [&[i64]; 4] = [&[8], &[2, 2], &[6], &[3, 2]];
    for sizes in sizes {
        same(&[x(), x()], |inputs| {
            let mut y = aten::clone(&inputs[0])?;
            let row = y.select(0, 0)?;
            aten::fill__Scalar(aten::resize_(&mut y, sizes)?, 2.into())?;
            let mut input = inputs[1].clone();
            input.select(0, 1)?.mul_(10.0)?;
            aten::add__Scalar(aten::resize_as_(&mut input, &Tensor::from([[0.0; 2]; 2]))?, 2.into())?;
            let mut larger = inputs[0].clone();
            aten::fill__Scalar(aten::resize_(&mut larger, sizes)?, 3.into())?;
            Ok(vec![y, row, input, larger])
        });
    }
    let message = refusal(|x| aten::resize_(&mut x.select(0, 1)?, &[12]).cloned());
    assert!(message.contains("aten::resize_ moves a tensor to other memory"), "{message}");
    Ok(())
}
