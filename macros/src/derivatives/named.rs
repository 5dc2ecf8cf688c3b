//! The arguments and results that a row's formulas name, for its kernel's record: hosts that save values read it there.

use proc_macro2::TokenStream;
use quote::quote;

use super::row::Row;

/// `Some(&Derivative)`; `None` for an operator with more than 64 arguments or results, too many for a word's bits.
pub(super) fn named(row: &Row) -> TokenStream {
    if row.operator.arguments.len().max(row.operator.schema.returns.len()) > 64 {
        return quote!(__torch::Option::None);
    }
    let formulas = row.derivative.iter().flat_map(|derivative| &derivative.formulas).map(|(of, formula)| {
        let sets = [positions(of), positions(&formula.values), positions(&formula.metadata)];
        let results = positions(&formula.results);
        quote!(__torch::Formula::new(#(#sets,)* #results))
    });
    let condition = row.condition.iter().flat_map(|named| named.values.iter().chain(&named.metadata));
    let condition = positions(condition);
    let differentiable = positions(row.derivative.iter().flat_map(|derivative| &derivative.differentiable));
    quote!({
        const FORMULAS: &[__torch::Formula] = &[#(#formulas),*];
        const DERIVATIVE: &__torch::Derivative =
            &__torch::Derivative::new(#condition, #differentiable, FORMULAS);
        __torch::Option::Some(DERIVATIVE)
    })
}

fn positions<'p>(positions: impl IntoIterator<Item = &'p usize>) -> TokenStream {
    let bits = positions.into_iter().fold(0u64, |bits, position| bits | 1 << position);
    quote!(__torch::Positions::of_bits(#bits))
}
