//! Sums of products by a formula.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
fn einsum(equation: &str, tensors: &[Tensor], _path: Option<&[i64]>) -> Result<Tensor> {
    formula(equation, tensors).map_err(|error| error.context(format!("aten::einsum of {equation:?}")))
}

/// A name for a dimension: a letter, or which of those that `...` stands for, counted from the last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Unnamed(std::cmp::Reverse<usize>),
    Letter(char),
}

/// A tensor whose dimensions have names, each another.
struct Named {
    tensor: Tensor,
    labels: Vec<Label>,
}

fn formula(equation: &str, tensors: &[Tensor]) -> Result<Tensor> {
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
    let mut occurring = Vec::new();
    let mut operands = Vec::new();
    for (part, tensor) in parts.into_iter().zip(tensors) {
        let labels = labels(part, tensor.dim())?;
        occurring.extend(&labels);
        operands.push(named(tensor, &labels)?);
    }
    let result = match output {
        Some(output) => {
            let unnamed = occurring.iter().filter_map(|label| match label {
                Label::Unnamed(std::cmp::Reverse(place)) => Some(place + 1),
                Label::Letter(_) => None,
            });
            let letters = output.replace("...", "").len();
            labels_of(output, letters + unnamed.max().unwrap_or(0))?
        }
        None => once(&occurring),
    };
    let is_known = |label: &Label| occurring.contains(label) || matches!(label, Label::Unnamed(_));
    ensure!(
        result.iter().all(is_known) && (1..result.len()).all(|i| !result[..i].contains(&result[i])),
        Argument,
        "the result names a dimension twice, or one that no operand has"
    );
    let mut rest = operands.into_iter();
    let mut product = rest.next().expect("there is one for each tensor");
    let rest: Vec<Named> = rest.collect();
    for (i, operand) in rest.iter().enumerate() {
        let later = |label: &Label| {
            result.contains(label) || rest[i + 1..].iter().any(|operand| operand.labels.contains(label))
        };
        product = contracted(product, operand, &later)?;
    }
    arranged(&product, &result)
}

/// The names that a part of the formula gives to so many dimensions.
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
        "{part:?} has other characters than letters and one \"...\""
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

/// The names of the result where the formula has no arrow: those that occur once, in order.
fn once(occurring: &[Label]) -> Vec<Label> {
    let is_kept = |label: &&Label| {
        matches!(label, Label::Unnamed(_)) || occurring.iter().filter(|other| other == label).count() == 1
    };
    let mut labels: Vec<Label> = occurring.iter().filter(is_kept).copied().collect();
    labels.sort();
    labels.dedup();
    labels
}

/// A tensor with a name for each dimension; of those named twice only the diagonal.
fn named(tensor: &Tensor, labels: &[Label]) -> Result<Named> {
    let (mut tensor, mut labels) = (tensor.clone(), labels.to_vec());
    while let Some((first, second)) = repeated(&labels) {
        let (a, b) = (tensor.sizes()[first], tensor.sizes()[second]);
        ensure!(a == b, Shape, "a dimension of one name is of sizes {a} and {b}");
        tensor = aten::diagonal::call(&tensor, 0, first as i64, second as i64)?;
        let label = labels[first];
        labels.remove(second);
        labels.remove(first);
        labels.push(label);
    }
    Ok(Named { tensor, labels })
}

fn repeated(labels: &[Label]) -> Option<(usize, usize)> {
    let pairs = (0..labels.len()).flat_map(|i| (i + 1..labels.len()).map(move |j| (i, j)));
    pairs.into_iter().find(|(i, j)| labels[*i] == labels[*j])
}

/// The product of two operands, summed over what nobody needs any more: as a product of batches of matrices.
fn contracted(a: Named, b: &Named, is_needed: &dyn Fn(&Label) -> bool) -> Result<Named> {
    let in_both = |label: &&Label| a.labels.contains(label) && b.labels.contains(label);
    let shared: Vec<Label> = a.labels.iter().filter(in_both).copied().collect();
    let (batch, summed): (Vec<Label>, Vec<Label>) = shared.into_iter().partition(is_needed);
    let rows: Vec<Label> = a.labels.iter().filter(|label| !b.labels.contains(label)).copied().collect();
    let columns: Vec<Label> = b.labels.iter().filter(|label| !a.labels.contains(label)).copied().collect();
    let mut sizes = Vec::new();
    for label in batch.iter().chain(&summed) {
        let (own, other) = (a.size(label), b.size(label));
        ensure!(
            own == other || own == 1 || other == 1,
            Shape,
            "a dimension of one name is of sizes {own} and {other}"
        );
        sizes.push(if own == 1 { other } else { own });
    }
    let (batch_sizes, summed_sizes) = sizes.split_at(batch.len());
    let left = a.matrices(&[&batch, &rows, &summed], &[batch_sizes, &a.sizes(&rows), summed_sizes])?;
    let right = b.matrices(&[&batch, &summed, &columns], &[batch_sizes, summed_sizes, &b.sizes(&columns)])?;
    let product = aten::bmm(&left, &right)?;
    let sizes = [batch_sizes, &a.sizes(&rows), &b.sizes(&columns)].concat();
    Ok(Named { tensor: aten::reshape(&product, &sizes)?, labels: [batch, rows, columns].concat() })
}

impl Named {
    fn dim(&self, label: &Label) -> Option<i64> {
        self.labels.iter().position(|own| own == label).map(|dim| dim as i64)
    }

    fn size(&self, label: &Label) -> i64 {
        self.dim(label).map_or(1, |dim| self.tensor.sizes()[dim as usize])
    }

    fn sizes(&self, labels: &[Label]) -> Vec<i64> {
        labels.iter().map(|label| self.size(label)).collect()
    }

    /// Three groups of dimensions, each of which becomes one.
    fn matrices(&self, groups: &[&[Label]; 3], sizes: &[&[i64]; 3]) -> Result<Tensor> {
        let order: Vec<i64> = groups.concat().iter().filter_map(|label| self.dim(label)).collect();
        let ordered = aten::expand(&aten::permute(&self.tensor, &order)?, &sizes.concat())?;
        let sizes: Vec<i64> = sizes.iter().map(|sizes| sizes.iter().product()).collect();
        aten::reshape(&ordered, &sizes)
    }
}

/// The dimensions in the order of the result, the others summed.
fn arranged(product: &Named, result: &[Label]) -> Result<Tensor> {
    let is_summed = |dim: &usize| !result.contains(&product.labels[*dim]);
    let summed: Vec<i64> = (0..product.labels.len()).filter(is_summed).map(|dim| dim as i64).collect();
    let order: Vec<i64> = result.iter().filter_map(|label| product.dim(label)).collect();
    let ordered = aten::permute(&product.tensor, &[&order[..], &summed].concat())?;
    if summed.is_empty() {
        return Ok(ordered);
    }
    let last: Vec<i64> = (order.len()..product.labels.len()).map(|dim| dim as i64).collect();
    aten::sum_dim_IntList(&ordered, Some(&last))
}
