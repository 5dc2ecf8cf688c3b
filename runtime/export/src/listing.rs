//! A program as text: inputs, outputs, weights, operators.

use std::collections::BTreeMap;
use std::fmt;

use crate::plan::{Action, Block, Problem};
use crate::program::Program;
use crate::region::Region;
use crate::signature::{Input, Output, Role, Weight};

impl Program {
    /// The operators that it calls, with the number of their nodes, by their names in the archive.
    pub fn operators(&self) -> BTreeMap<String, usize> {
        let mut operators = BTreeMap::new();
        count(&self.block, &mut operators);
        operators
    }
}

fn count(block: &Block, operators: &mut BTreeMap<String, usize>) {
    for step in &block.steps {
        *operators.entry(step.place.target.clone()).or_insert(0) += 1;
        let Action::Region(region) = &step.action else { continue };
        match &**region {
            Region::Cond { yes, no } => [yes, no].into_iter().for_each(|block| count(block, operators)),
            Region::While { condition, body, .. } => {
                [condition, body].into_iter().for_each(|block| count(block, operators));
            }
            Region::Map { body, .. }
            | Region::Scan { body, .. }
            | Region::Associative { body, .. }
            | Region::Grad { body, .. }
            | Region::Autocast { body, .. }
            | Region::Plain(body) => count(body, operators),
        }
    }
}

/// Prints `images: float32[s0 (1 to 64), 3, 224, 224]`.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.kind)?;
        if self.path != self.name { write!(f, ", {}", self.path) } else { Ok(()) }
    }
}

/// Prints `['logits']: float32[s0, 1000]`.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.kind)?;
        if self.role == Role::Loss { f.write_str(", the loss") } else { Ok(()) }
    }
}

impl Output {
    /// Its name in texts: its path, `result` if that is empty, or the value that it is the gradient of.
    pub fn name(&self) -> String {
        match &self.role {
            Role::GradientOfParameter(of) | Role::GradientOfInput(of) => format!("gradient of {of}"),
            _ if self.path.is_empty() => "result".to_owned(),
            _ => self.path.clone(),
        }
    }
}

/// Prints `features.0.weight: float32[8, 1, 3, 3], 288 bytes`.
impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensor = &self.tensor;
        // An expanded tensor may have any number of elements.
        let bytes = i128::from(tensor.numel()) * tensor.dtype().size() as i128;
        write!(f, "{}: {}{:?}, {bytes} bytes", self.name, tensor.dtype(), tensor.sizes())?;
        if self.kind == crate::signature::WeightKind::Parameter {
            return Ok(());
        }
        write!(f, ", {:?}", self.kind)
    }
}

/// Prints `torch.ops.fixtures.twice.default, at twice: …`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 3;
        let (places, others) = self.places.split_at(self.places.len().min(SHOWN));
        write!(f, "{}, at {}", self.operator, places.join(", "))?;
        if !others.is_empty() {
            write!(f, " and {} more", others.len())?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exported by PyTorch {}, schema {}", self.torch_version, self.schema_version)?;
        section(f, "inputs", self.arguments())?;
        section(f, "outputs", &self.outputs)?;
        section(f, "weights", &self.weights)?;
        let elements: i128 = self.weights.iter().map(|weight| i128::from(weight.tensor.numel())).sum();
        writeln!(f, "  {elements} element{} altogether", if elements == 1 { "" } else { "s" })?;
        let operators: Vec<_> =
            self.operators().into_iter().map(|(name, count)| format!("{count:5} × {name}")).collect();
        section(f, "operators", &operators)?;
        if !self.problems().is_empty() {
            section(f, "problems", self.problems())?;
        }
        Ok(())
    }
}

fn section<T: fmt::Display>(f: &mut fmt::Formatter<'_>, title: &str, rows: &[T]) -> fmt::Result {
    writeln!(f, "{title}")?;
    rows.iter().try_for_each(|row| writeln!(f, "  {row}"))
}
