//! An operator for each feature of a row of `derivatives!`.

use torch_library::autograd::{self, Context, Function};
use torch_library::derivatives;
use torch_library::guard::AutoDispatchBelowAutograd;
use torch_library::prelude::*;
use torch_library_aten::aten;
use torch_library_aten::prelude::*;

torch_library! {
    /// Operators with derivatives.
    pub mod rows {
        /// Has a row that also serves the in-place variant below.
        weigh(Tensor self, Tensor other) -> Tensor;
        /// Works in place, by the row above, and overwrites a tensor that a formula names.
        weigh_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// Works in place, with a formula that names the result.
        expm_(Tensor(a!) self, Scalar factor=1) -> Tensor(a!);
        /// Has a weight that cannot require grad, and an index without a gradient.
        picked(Tensor self, Tensor weight, Tensor index) -> Tensor;
        /// Has one formula for two arguments, and named results.
        pair(Tensor a, Tensor b) -> (Tensor left, Tensor right);
        /// Only one of two results has a gradient.
        halved(Tensor self) -> (Tensor half, Tensor rest);
        /// No result has a gradient.
        place(Tensor self) -> Tensor;
        /// The result has a gradient only if an argument says so.
        converted(Tensor self, bool exact) -> Tensor;
        /// Has a formula that needs only sizes.
        total(Tensor self) -> Tensor;
        /// Takes a tensor as a keyword-only argument.
        shifted(Tensor self, *, Tensor by, float factor=1) -> Tensor;
        /// Works in place, with formulas that name no tensor.
        shifted_(Tensor(a!) self, *, Tensor by, float factor=1) -> Tensor(a!);
        /// Has one formula for two arguments, which names them in reverse order.
        swapped(Tensor a, Tensor b) -> Tensor;
        /// Takes a list that no formula names, and one that a formula names.
        dotted(Tensor[] parts, Tensor[] weights, Tensor? bias=None) -> Tensor;
        /// Takes a list that no formula names, and returns a list and a tensor that is named.
        each(Tensor[] parts, Tensor factor) -> (Tensor[], Tensor);
        /// Has a condition on the dtype of a tensor that no formula names.
        cast_like(Tensor self, Tensor other) -> Tensor;
        /// Has a handwritten derivative.
        by_hand(Tensor self, Tensor other) -> Tensor;
        /// Returns a number and a string with a tensor.
        counted(Tensor self) -> (Tensor, int, str);
        /// Returns a number and a list with a tensor.
        apart(Tensor self) -> (Tensor, int, Tensor[]);
        /// A composite of operators that return several types.
        mean_of(Tensor self) -> Tensor;
        /// Returns a view, and has a formula.
        corner(Tensor(a) self) -> Tensor(a);
        /// Returns no view, although its schema says so.
        no_view(Tensor(a) self) -> Tensor(a);
        /// Changes sizes in place.
        #[tags(inplace_view)]
        flip_(Tensor(a!) self) -> Tensor(a!);
    }
}

derivatives! {
    in rows;

    #[in_place]
    weigh(Tensor self, Tensor other) -> Tensor {
        self => grad.mul(other),
        other => grad.mul(self),
    }

    expm_(Tensor(a!) self, Scalar factor=1) -> Tensor(a!) {
        self => grad.mul(result)?.mul(factor),
    }

    picked(Tensor self, Tensor weight, Tensor index) -> Tensor {
        self => grad.mul(weight),
        weight => cannot_require_grad,
        index => non_differentiable,
    }

    pair(Tensor a, Tensor b) -> (Tensor left, Tensor right) {
        (a, b) => {
            let of = |index: usize, factor: &Tensor| match &grads[index] {
                Some(grad) if mask[index] => grad.mul(factor).map(Some),
                _ => Ok(None),
            };
            (of(0, left)?, of(1, right)?)
        },
    }

    halved(Tensor self) -> (Tensor half, Tensor rest) {
        self => grad.mul(0.5),
        rest => non_differentiable,
    }

    place(Tensor self) -> Tensor as non_differentiable;

    #[differentiable_if(exact)]
    converted(Tensor self, bool exact) -> Tensor {
        self => grad.clone(),
    }

    total(Tensor self) -> Tensor {
        self => aten::expand(grad, self.sizes()),
    }

    swapped(Tensor a, Tensor b) -> Tensor {
        (b, a) => (grad.mul(a)?, grad.mul(b)?),
    }

    dotted(Tensor[] parts, Tensor[] weights, Tensor? bias=None) -> Tensor {
        parts => weights.iter().map(|weight| grad.mul(weight)).collect::<Result<Vec<Tensor>>>(),
        weights => non_differentiable,
        bias => grad.clone(),
    }

    each(Tensor[] parts, Tensor factor) -> (Tensor[], Tensor) {
        parts => {
            let (last, each) = grads.split_last().expect("a gradient for each result");
            let of = |grad: &Option<Tensor>| match (grad, last) {
                (Some(grad), Some(last)) => grad.mul(factor)?.add(&last.mul(result1)?),
                (Some(grad), None) => grad.mul(factor),
                (None, _) => last.as_ref().map_or_else(|| Ok(Tensor::undefined()), |last| last.mul(result1)),
            };
            each.iter().map(of).collect::<Result<Vec<Tensor>>>()
        },
        factor => non_differentiable,
    }

    #[differentiable_if(other.dtype().is_floating_point())]
    cast_like(Tensor self, Tensor other) -> Tensor {
        self => grad.clone(),
        other => non_differentiable,
    }

    #[in_place]
    shifted(Tensor self, *, Tensor by, float factor=1) -> Tensor {
        self => grad.clone(),
        by => grad.mul(factor),
    }

    counted(Tensor self) -> (Tensor, int, str) {
        self => grad.mul(2.0),
    }

    apart(Tensor self) -> (Tensor, int, Tensor[]) {
        self => {
            let mut sum = aten::zeros_like(self)?;
            for (grad, factor) in grads.iter().zip([2.0, 3.0, 4.0]) {
                if let Some(grad) = grad {
                    sum = sum.add(&grad.mul(factor)?)?;
                }
            }
            Ok(sum)
        },
    }

    corner(Tensor(a) self) -> Tensor(a) {
        self => {
            let row = aten::zeros_like(self)?;
            aten::select_scatter(&row, grad, 0, 0)
        },
    }
}

/// A handwritten function, which computes and saves a tensor that is no argument.
struct Added;

impl Function for Added {
    fn name(&self) -> &'static str {
        "AddedByHand"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        context.save_for_backward(&[&inputs[1].mul(2.0)?]);
        Ok(vec![rows::by_hand(inputs[0], inputs[1])?])
    }

    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let half = |grad: &Tensor| grad.mul(&context.saved()[0])?.div(&context.saved()[0]);
        let gradient = grads[0].as_ref().map(half).transpose()?;
        Ok(vec![gradient.clone(), gradient])
    }
}

#[torch_impl(rows::by_hand, Autograd)]
fn by_hand(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let _below = AutoDispatchBelowAutograd::new();
    Ok(autograd::apply(Added, &[this, other])?.remove(0))
}

#[torch_impl(rows::mean_of, CompositeImplicitAutograd)]
fn mean_of(this: &Tensor) -> Result<Tensor> {
    let (whole, count, parts) = rows::apart(this)?;
    let (doubled, also, text) = rows::counted(this)?;
    ensure!((count, &*text) == (also, "doubled"), Kernel, "{count} and {also} elements, {text}");
    aten::sum(&whole.add(&doubled)?.mul(&parts[1])?)?.div(count as f64)
}

#[torch_impl(rows, CPU, Meta)]
mod kernels {
    use super::*;

    fn weigh(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        this.mul(other)
    }

    fn weigh_<'a>(this: &'a mut Tensor, other: &Tensor) -> Result<&'a mut Tensor> {
        aten::mul__Tensor(this, other)
    }

    fn expm_(this: &mut Tensor, factor: Scalar) -> Result<&mut Tensor> {
        aten::mul__Scalar(this, factor)?;
        aten::exp_(this)
    }

    fn picked(this: &Tensor, weight: &Tensor, _: &Tensor) -> Result<Tensor> {
        this.mul(weight)
    }

    fn pair(a: &Tensor, b: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((aten::exp(a)?, aten::exp(b)?))
    }

    fn halved(this: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((this.mul(0.5)?, this.mul(0.5)?))
    }

    fn place(this: &Tensor) -> Result<Tensor> {
        aten::floor(this)
    }

    fn converted(this: &Tensor, _: bool) -> Result<Tensor> {
        this.mul(1.0)
    }

    fn total(this: &Tensor) -> Result<Tensor> {
        aten::sum(this)
    }

    fn shifted(this: &Tensor, by: &Tensor, factor: f64) -> Result<Tensor> {
        this.add(&by.mul(factor)?)
    }

    fn shifted_<'a>(this: &'a mut Tensor, by: &Tensor, factor: f64) -> Result<&'a mut Tensor> {
        aten::add__Tensor(this, &by.mul(factor)?)
    }

    fn swapped(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        a.mul(b)
    }

    fn dotted(parts: &[Tensor], weights: &[Tensor], bias: Option<&Tensor>) -> Result<Tensor> {
        let mut sum = bias.map_or_else(|| aten::zeros_like(&parts[0]), |bias| bias.mul(1.0))?;
        for (part, weight) in parts.iter().zip(weights) {
            sum = sum.add(&part.mul(weight)?)?;
        }
        Ok(sum)
    }

    fn each(parts: &[Tensor], factor: &Tensor) -> Result<(Vec<Tensor>, Tensor)> {
        let mut sum = aten::zeros_like(&parts[0])?;
        for part in parts {
            sum = sum.add(part)?;
        }
        let parts = parts.iter().map(|part| part.mul(factor)).collect::<Result<_>>()?;
        Ok((parts, aten::exp(&sum)?))
    }

    fn cast_like(this: &Tensor, _: &Tensor) -> Result<Tensor> {
        this.mul(1.0)
    }

    fn by_hand(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        this.add(other)
    }

    fn counted(this: &Tensor) -> Result<(Tensor, i64, String)> {
        Ok((this.mul(2.0)?, this.numel() as i64, "doubled".to_owned()))
    }

    fn apart(this: &Tensor) -> Result<(Tensor, i64, Vec<Tensor>)> {
        Ok((this.mul(2.0)?, this.numel() as i64, vec![this.mul(3.0)?, this.mul(4.0)?]))
    }

    fn corner(this: &Tensor) -> Result<Tensor> {
        this.strided_view(&this.sizes()[1..], &this.strides()[1..], this.storage_offset())
    }

    fn no_view(this: &Tensor) -> Result<Tensor> {
        this.mul(1.0)
    }

    fn flip_(this: &mut Tensor) -> Result<&mut Tensor> {
        let (sizes, strides) = (this.sizes().to_vec(), this.strides().to_vec());
        let reversed = |list: Vec<i64>| list.into_iter().rev().collect::<Vec<_>>();
        let offset = this.storage_offset();
        this.set_geometry(&reversed(sizes), &reversed(strides), offset)?;
        Ok(this)
    }
}
