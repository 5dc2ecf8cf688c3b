//! The target of a node, by its name: an operator, a higher-order operator, arithmetic, a query on a tensor.

use std::fmt;

use crate::error::{Result, bail};
use crate::number::Function;
use crate::wire::{Argument, NamedArgument, Node};

/// The target of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'n> {
    /// An operator of a library.
    Operator(OperatorName<'n>),
    /// A higher-order operator, such as `torch.ops.higher_order.cond`, which runs subgraphs.
    HigherOrder(&'n str),
    /// Arithmetic on numbers.
    Compute(Function),
    /// One of PyTorch's operators that is a query on a tensor here, or only informative.
    Own(Own),
    /// A part of `torch.vmap`.
    Batch(Batch),
}

/// `ns::name.overload`, an operator that has to be linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperatorName<'n> {
    /// The namespace: `aten`.
    pub namespace: &'n str,
    /// The name: `add`.
    pub name: &'n str,
    /// The overload, empty for the one that PyTorch shows as `default`.
    pub overload: &'n str,
}

/// What a node calls, and with what.
///
/// `with_effects(token, operator, …)` orders side effects by a token that each such call takes and returns. A run keeps
/// the order of the nodes, so such a call is one of the operator, and its tokens have no value.
#[derive(Clone, Copy)]
pub struct Call<'n> {
    /// The target, as in [`Target::parse`].
    pub target: &'n str,
    /// The arguments; those without a name are in the order of the operator's schema.
    pub inputs: &'n [NamedArgument],
    /// The results.
    pub outputs: &'n [Argument],
    /// The token that it returns, too.
    pub token: Option<&'n Argument>,
}

impl<'n> Call<'n> {
    /// The call of a node.
    pub fn of(node: &'n Node) -> Call<'n> {
        let (inputs, outputs) = (node.inputs.as_slice(), node.outputs.as_slice());
        if node.target == "torch.ops.higher_order.with_effects"
            && let [_, NamedArgument { arg: Argument::AsOperator(operator), .. }, inputs @ ..] = inputs
            && let [token, outputs @ ..] = outputs
        {
            return Call { target: operator, inputs, outputs, token: Some(token) };
        }
        Call { target: &node.target, inputs, outputs, token: None }
    }
}

/// Queries on tensors, and nodes that are only informative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are PyTorch's")]
pub enum Own {
    Size,
    Stride,
    Numel,
    StorageOffset,
    Assert,
    ConstrainRange,
    AssertTensorMetadata,
}

/// The functions that `torch.vmap` calls before and after the given function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Loads decompositions; it does nothing when a program runs.
    Prepare,
    /// Begins a level, with the given number of examples.
    Begin,
    /// Ends the innermost level.
    End,
    /// Turns a tensor with all examples into a batched tensor.
    Add,
    /// Turns a batched tensor back into one with all examples.
    Remove,
}

impl<'n> Target<'n> {
    /// Parses a node's `target`.
    ///
    /// # Errors
    /// A Python function; an invalid name.
    pub fn parse(target: &'n str) -> Result<Target<'n>> {
        if let Some(name) = target.strip_prefix("torch.ops.higher_order.") {
            return Ok(Target::HigherOrder(name));
        }
        if let Some(function) = Function::of_target(target) {
            return Ok(Target::Compute(function));
        }
        if let Some(batch) = Batch::named(target) {
            return Ok(Target::Batch(batch));
        }
        if target.starts_with("torch._functorch.predispatch.") {
            bail!(
                NotSupported,
                "it is a part of a derivative (`torch.func`) that is computed when the program runs, which is not \
                 supported: call `run_decompositions` on the program before it is saved, which computes it beforehand"
            )
        }
        let Some(name) = target.strip_prefix("torch.ops.") else {
            bail!(NotSupported, "it is a Python function, not an operator")
        };
        match Own::named(name) {
            Some(own) => Ok(Target::Own(own)),
            None => Ok(Target::Operator(OperatorName::parse(name)?)),
        }
    }
}

impl<'n> OperatorName<'n> {
    /// Whether it reads the number in a tensor, which a run does itself if there is no such operator.
    pub fn is_item(&self) -> bool {
        self.namespace == "aten" && matches!(self.name, "item" | "_local_scalar_dense")
    }

    /// Splits `ns.name.overload`.
    fn parse(name: &'n str) -> Result<Self> {
        let parts: Vec<&str> = name.splitn(3, '.').collect();
        let (namespace, name, overload) = match *parts.as_slice() {
            [namespace, name, "default"] | [namespace, name] => (namespace, name, ""),
            [namespace, name, overload] => (namespace, name, overload),
            _ => {
                bail!(
                    Argument,
                    "the archive calls {:?}, which is not the name of an operator",
                    crate::shortened(name)
                )
            }
        };
        Ok(OperatorName { namespace, name, overload })
    }
}

impl fmt::Display for OperatorName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.namespace, self.name)?;
        if self.overload.is_empty() { Ok(()) } else { write!(f, ".{}", self.overload) }
    }
}

impl Batch {
    fn named(target: &str) -> Option<Batch> {
        Some(match target.strip_prefix("torch._functorch.predispatch.")? {
            "lazy_load_decompositions" => Batch::Prepare,
            "_vmap_increment_nesting" => Batch::Begin,
            "_vmap_decrement_nesting" => Batch::End,
            "_add_batch_dim" => Batch::Add,
            "_remove_batch_dim" => Batch::Remove,
            _ => return None,
        })
    }
}

impl Own {
    fn named(name: &str) -> Option<Own> {
        Some(match name {
            "aten.sym_size.int" => Own::Size,
            "aten.sym_stride.int" => Own::Stride,
            "aten.sym_numel.default" => Own::Numel,
            "aten.sym_storage_offset.default" => Own::StorageOffset,
            "aten._assert_scalar.default" | "aten._assert_async.msg" => Own::Assert,
            "aten.sym_constrain_range.default" | "aten.sym_constrain_range_for_size.default" => {
                Own::ConstrainRange
            }
            // The exporter's own checks of types; under autocast or on another device the types differ.
            "aten._assert_tensor_metadata.default" => Own::AssertTensorMetadata,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_effects_is_one_of_its_operator() {
        let node = |inputs: &str| -> Node {
            serde_json::from_str(&format!(
                r#"{{"target": "torch.ops.higher_order.with_effects", "inputs": [{inputs}],
                     "outputs": [{{"as_tensor": {{"name": "token_1"}}}}, {{"as_none": true}}]}}"#
            ))
            .unwrap()
        };
        let token = r#"{"name": "", "arg": {"as_tensor": {"name": "token"}}}"#;
        let operator = r#"{"name": "", "arg": {"as_operator": "torch.ops.aten._print.default"}}"#;
        let text = r#"{"name": "", "arg": {"as_string": "here"}}"#;
        let with = node(&format!("{token}, {operator}, {text}"));
        let call = Call::of(&with);
        assert_eq!(call.target, "torch.ops.aten._print.default");
        assert!(matches!(call.token, Some(Argument::AsTensor(token)) if token.name == "token_1"));
        assert_eq!((call.inputs.len(), call.outputs.len()), (1, 1));
        let without = node(token);
        assert_eq!(Call::of(&without).target, "torch.ops.higher_order.with_effects");
    }

    #[test]
    fn names_are_taken_apart() {
        let operator = |target| match Target::parse(target).unwrap() {
            Target::Operator(name) => name.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(operator("torch.ops.aten.add.Tensor"), "aten::add.Tensor");
        assert_eq!(operator("torch.ops.aten.mm.default"), "aten::mm");
        assert_eq!(operator("torch.ops.mylib.myop"), "mylib::myop");
        assert_eq!(Target::parse("torch.ops.higher_order.cond").unwrap(), Target::HigherOrder("cond"));
        assert_eq!(Target::parse("_operator.add").unwrap(), Target::Compute(Function::Add));
        assert_eq!(Target::parse("torch.ops.aten.sym_size.int").unwrap(), Target::Own(Own::Size));
        assert!(Target::parse("torch.ops.aten").is_err());
        let batch = Target::parse("torch._functorch.predispatch._add_batch_dim").unwrap();
        assert_eq!(batch, Target::Batch(Batch::Add));
        let refused = Target::parse("torch._functorch.predispatch._jvp_increment_nesting").unwrap_err();
        assert!(refused.to_string().contains("call `run_decompositions`"), "{refused}");
        assert!(Target::parse("builtins.print").is_err());
    }
}
