//! Runs of a program with other tensors in place of its weights.

use torch_library::prelude::*;

use crate::profile::Profile;
use crate::program::{Program, waited};
use crate::run::Nobody;

impl Program {
    /// [`run_values`](Self::run_values) with other tensors in the places of the [weights](Self::weights), to which the
    /// program also writes instead: layers such as functionalization and vmap take them from here.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run); a weight of another type or other sizes than the program's own.
    ///
    /// PyTorch: `torch.func.functional_call`.
    pub fn run_with<'v>(
        &self,
        weights: &[Tensor],
        inputs: impl IntoIterator<Item = Value<'v>>,
    ) -> Result<Vec<Value<'static>>> {
        self.check_weights(weights)?;
        self.execute(inputs.into_iter().map(Value::into_owned).collect(), weights, &mut Nobody)
    }

    /// [`profile_values`](Self::profile_values) with other tensors in the places of the weights, as in
    /// [`run_with`](Self::run_with).
    ///
    /// # Errors
    /// The errors of [`run_with`](Self::run_with).
    pub fn profile_with(&self, weights: &[Tensor], inputs: &[Value<'_>], runs: u32) -> Result<Profile> {
        self.check_weights(weights)?;
        let mut profile = Profile::default();
        for _ in 0..runs {
            let values = inputs.iter().map(|value| value.borrowed().into_owned()).collect();
            profile.run(|profile| waited(&self.execute(values, weights, profile)?))?;
        }
        Ok(profile)
    }

    /// # Errors
    /// There are more or fewer than the program has, or one is of another type or other sizes.
    fn check_weights(&self, weights: &[Tensor]) -> Result<()> {
        ensure!(
            weights.len() == self.weights.len(),
            Argument,
            "the program has {} weights, and is given {}",
            self.weights.len(),
            weights.len()
        );
        for (given, own) in weights.iter().zip(&self.weights) {
            let (name, own) = (&own.name, &own.tensor);
            ensure!(
                given.dtype() == own.dtype() && given.sizes() == own.sizes(),
                Argument,
                "the weight `{name}` is {}{:?}, and is given as {}{:?}",
                own.dtype(),
                own.sizes(),
                given.dtype(),
                given.sizes()
            );
        }
        Ok(())
    }
}
