//! `einsum`: sums of products by an equation.

use std::collections::VecDeque;

use torch_library::geometry::numel;
use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
fn einsum(equation: &str, tensors: &[Tensor], path: Option<&[i64]>) -> Result<Tensor> {
    formula(equation, tensors, path)
        .map_err(|error| error.context(format!("{} of {equation:?}", aten::einsum::NAME)))
}

/// The label of a dimension: a letter, or, for a dimension of `...`, its index counted from the last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Unnamed(std::cmp::Reverse<usize>),
    Letter(char),
}

/// # How it works
///
/// 1. All operands get the same dimensions: those of the result in its order, then those that are summed. A dimension
///    that an operand lacks has size 1.
/// 2. They are multiplied pair by pair. A dimension is summed with the last pair that has it.
fn formula(equation: &str, tensors: &[Tensor], path: Option<&[i64]>) -> Result<Tensor> {
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&equation[..], None),
    };
    let parts: Vec<&str> = inputs.split(',').collect();
    ensure!(
        parts.len() == tensors.len() && !tensors.is_empty(),
        Argument,
        "the formula has {} operands, {} tensors are given",
        parts.len(),
        tensors.len()
    );
    let named = parts.iter().zip(tensors).map(|(part, tensor)| labels(part, tensor.dim()));
    let named = named.collect::<Result<Vec<_>>>()?;
    let occurring = named.concat();
    let mut order = result_labels(output, &occurring)?;
    let result = order.len();
    let mut summed: Vec<Label> = occurring.into_iter().filter(|label| !order.contains(label)).collect();
    summed.sort();
    summed.dedup();
    order.extend(summed);
    let operands = tensors.iter().zip(&named).map(|(tensor, labels)| aligned(tensor, labels, &order));
    let operands = operands.collect::<Result<Vec<_>>>()?;
    check_sizes(&operands)?;
    let product = joined(operands, path, result)?;
    if result == order.len() {
        Ok(product)
    } else if tensors.len() > 1 {
        aten::view(&product, &product.sizes()[..result])
    } else {
        let summed: Vec<i64> = (result as i64..order.len() as i64).collect();
        aten::sum_dim_IntList(&product, Some(&summed))
    }
}

/// The product of all operands; if there are several, the dimensions from `result` on are summed.
fn joined(operands: Vec<Tensor>, path: Option<&[i64]>, result: usize) -> Result<Tensor> {
    let mut having = vec![0usize; operands[0].dim()];
    let mut count = |tensor: &Tensor, change: isize| {
        let sizes = tensor.sizes().iter().zip(&mut having).filter(|(size, _)| **size != 1);
        sizes.for_each(|(_, having)| *having = having.wrapping_add_signed(change));
        // Counts how many operands have each dimension, to decide when it is summed; asking each operand would take
        // quadratic time.
        (result..having.len()).filter(|dim| having[*dim] == 0).collect::<Vec<_>>()
    };
    operands.iter().for_each(|operand| drop(count(operand, 1)));
    let steps = pairs(operands.len(), path)?;
    let mut left = VecDeque::from(operands);
    for [first, second] in steps {
        let (Some(b), Some(a)) = (left.remove(second), left.remove(first)) else { break };
        count(&a, -1);
        let product = contracted(&a, &b, count(&b, -1).into_iter())?;
        count(&product, 1);
        if path.is_some() { left.push_back(product) } else { left.push_front(product) }
    }
    left.pop_front().ok_or_else(|| Error::new(ErrorKind::Internal, "no operand is left"))
}

/// The two operands, among those that are left, that are multiplied at each step.
fn pairs(operands: usize, path: Option<&[i64]>) -> Result<Vec<[usize; 2]>> {
    let Some(path) = path else { return Ok(vec![[0, 1]; operands - 1]) };
    let needed = if operands == 1 { 1 } else { 2 * (operands - 1) };
    ensure!(
        path.len() == needed,
        Argument,
        "a path of {} numbers for {operands} operands, expected {needed}",
        path.len()
    );
    let pair = |(step, pair): (usize, &[i64])| {
        let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        let left = operands - step;
        ensure!(
            0 <= first && first < second && second < left as i64,
            Argument,
            "the path contracts operands {first} and {second}, which are not two of the {left} that are left"
        );
        Ok([first as usize, second as usize])
    };
    path.chunks_exact(2).enumerate().map(pair).collect()
}

/// The labels that a part of the equation gives to `ndim` dimensions.
fn labels(part: &str, ndim: usize) -> Result<Vec<Label>> {
    let labels = labels_of(part, ndim)?;
    ensure!(
        labels.len() == ndim,
        Shape,
        "{part:?} names {} dimensions of a tensor that has {ndim}",
        labels.len()
    );
    Ok(labels)
}

fn labels_of(part: &str, ndim: usize) -> Result<Vec<Label>> {
    let letters = part.replacen("...", "", 1);
    ensure!(
        letters.chars().all(|c| c.is_ascii_alphabetic()),
        Argument,
        "{part:?} has characters other than letters and one \"...\""
    );
    let mut labels: Vec<Label> = letters.chars().map(Label::Letter).collect();
    if let Some(place) = part.find("...") {
        let Some(missing) = ndim.checked_sub(labels.len()) else {
            bail!(Shape, "{part:?} names more dimensions than the {ndim} that there are")
        };
        labels.splice(place..place, (0..missing).rev().map(|i| Label::Unnamed(std::cmp::Reverse(i))));
    }
    Ok(labels)
}

/// The labels of the result: if the equation has no arrow, those that occur once, in order.
fn result_labels(output: Option<&str>, occurring: &[Label]) -> Result<Vec<Label>> {
    let Some(output) = output else {
        let mut labels = occurring.to_vec();
        labels.sort();
        let is_kept = |same: &&[Label]| matches!(same[0], Label::Unnamed(_)) || same.len() == 1;
        return Ok(labels.chunk_by(|a, b| a == b).filter(is_kept).map(|same| same[0]).collect());
    };
    let unnamed = occurring.iter().filter_map(|label| match label {
        Label::Unnamed(std::cmp::Reverse(place)) => Some(place + 1),
        Label::Letter(_) => None,
    });
    let letters = output.replace("...", "").len();
    let labels = labels_of(output, letters + unnamed.max().unwrap_or(0))?;
    let is_known = |label: &Label| occurring.contains(label);
    ensure!(
        labels.iter().all(is_known) && (1..labels.len()).all(|i| !labels[..i].contains(&labels[i])),
        Argument,
        "the result names a dimension twice, or one that no operand has"
    );
    Ok(labels)
}

/// A tensor with all dimensions in order; of dimensions with the same label, the diagonal.
fn aligned(tensor: &Tensor, labels: &[Label], order: &[Label]) -> Result<Tensor> {
    let (mut tensor, mut labels) = (tensor.clone(), labels.to_vec());
    while let Some((first, second)) = repeated(&labels) {
        let (a, b) = (tensor.sizes()[first], tensor.sizes()[second]);
        ensure!(a == b, Shape, "a dimension of one name has sizes {a} and {b}");
        let diagonal = aten::diagonal::call(&tensor, 0, first as i64, second as i64)?;
        tensor = aten::movedim_int(&diagonal, -1, first as i64)?;
        labels.remove(second);
    }
    for missing in order.iter().filter(|label| !labels.contains(label)).copied().collect::<Vec<_>>() {
        tensor = aten::unsqueeze(&tensor, -1)?;
        labels.push(missing);
    }
    let places = order.iter().filter_map(|label| labels.iter().position(|own| own == label));
    aten::permute(&tensor, &places.map(|place| place as i64).collect::<Vec<_>>())
}

fn repeated(labels: &[Label]) -> Option<(usize, usize)> {
    let pairs = (0..labels.len()).flat_map(|i| (i + 1..labels.len()).map(move |j| (i, j)));
    pairs.into_iter().find(|(i, j)| labels[*i] == labels[*j])
}

/// # Errors
/// A dimension that has two sizes other than 1.
fn check_sizes(operands: &[Tensor]) -> Result<()> {
    for dim in 0..operands[0].dim() {
        let mut sizes = operands.iter().map(|operand| operand.sizes()[dim]).filter(|size| *size != 1);
        let Some(size) = sizes.next() else { continue };
        if let Some(other) = sizes.find(|other| *other != size) {
            bail!(Shape, "a dimension of one name has sizes {size} and {other}");
        }
    }
    Ok(())
}

/// The product of two operands, summed over some dimensions, which are kept with size 1.
fn contracted(a: &Tensor, b: &Tensor, summed: impl Iterator<Item = usize>) -> Result<Tensor> {
    let sum = |tensor: &Tensor, dims: &[i64]| match dims {
        [] => Ok(tensor.clone()),
        dims => aten::sum_dim_IntList::with(tensor, Some(dims)).keepdim(true).call(),
    };
    let (mut shared, mut own) = (Vec::new(), [Vec::new(), Vec::new()]);
    for dim in summed {
        match (a.sizes()[dim] != 1, b.sizes()[dim] != 1) {
            (true, true) => shared.push(dim),
            (true, false) => own[0].push(dim as i64),
            (false, true) => own[1].push(dim as i64),
            (false, false) => {}
        }
    }
    let (a, b) = (sum(a, &own[0])?, sum(b, &own[1])?);
    if shared.is_empty() { aten::mul_Tensor(&a, &b) } else { multiplied(a, b, &shared) }
}

/// A batched matrix product, whose inner dimension consists of the summed dimensions.
fn multiplied(mut a: Tensor, mut b: Tensor, summed: &[usize]) -> Result<Tensor> {
    let (mut batch, mut rows, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for dim in (0..a.dim()).filter(|dim| !summed.contains(dim)) {
        match (a.sizes()[dim] != 1, b.sizes()[dim] != 1) {
            (true, true) => batch.push(dim),
            (true, false) => rows.push(dim),
            (false, _) => columns.push(dim),
        }
    }
    if matches!((rows.first(), columns.last()), (Some(row), Some(column)) if column < row) {
        (a, b) = (b, a); // so that the product has the memory layout of the result
        (rows, columns) = (columns, rows);
    }
    let sizes = |tensor: &Tensor, dims: &[usize]| -> Vec<i64> {
        dims.iter().map(|dim| tensor.sizes()[*dim]).collect()
    };
    let matrices = |tensor: &Tensor, groups: [&[usize]; 3], rest: &[usize]| {
        let order: Vec<i64> =
            groups.iter().chain([&rest]).copied().flatten().map(|dim| *dim as i64).collect();
        let sizes = groups.iter().map(|group| numel(&sizes(tensor, group))).collect::<Result<Vec<i64>>>()?;
        aten::reshape(&aten::permute(tensor, &order)?, &sizes)
    };
    let product = aten::bmm(
        &matrices(&a, [&batch, &rows, summed], &columns)?,
        &matrices(&b, [&batch, summed, &columns], &rows)?,
    )?;
    let unfolded = [sizes(&a, &batch), sizes(&a, &rows), vec![1; summed.len()], sizes(&b, &columns)].concat();
    let order = [&batch[..], &rows, summed, &columns].concat();
    let place = |dim| order.iter().position(|other| *other == dim).map(|place| place as i64);
    let back: Vec<i64> = (0..order.len()).filter_map(place).collect();
    aten::permute(&aten::view(&product, &unfolded)?, &back)
}
