//! Calls by name: operators found in the registry, arguments on a stack or by name, and the schema that describes them.

use torch_library::Dispatcher;
use torch_library::prelude::*;

torch_library! {
    /// Words and numbers.
    pub mod words {
        /// Joins words.
        join(str[] words, str between=" ") -> str;
        /// Repeats a word.
        repeat(str word, int times=2) -> str;
        /// The shortest and longest length.
        lengths(str[] words) -> (int shortest, int longest);
    }
}

#[torch_impl(words, CompositeExplicitAutograd)]
mod everywhere {
    use torch_library::prelude::*;

    fn join(words: &[String], between: &str) -> Result<String> {
        Ok(words.join(between))
    }

    fn repeat(word: &str, times: i64) -> Result<String> {
        ensure!((0..=100).contains(&times), Argument, "repeat: {times} times is not between 0 and 100");
        Ok(word.repeat(times as usize))
    }

    fn lengths(words: &[String]) -> Result<(i64, i64)> {
        let lengths = words.iter().map(|word| word.chars().count() as i64);
        let (Some(shortest), Some(longest)) = (lengths.clone().min(), lengths.max()) else {
            bail!(Argument, "lengths: there are no words");
        };
        Ok((shortest, longest))
    }
}

fn main() -> Result<()> {
    let dispatcher = Dispatcher::global();

    // What a program sees that does not know the operators at compile time: an interpreter, a binding, a test.
    for info in dispatcher.operators() {
        println!("{}", info.operator.schema()?);
        for kernel in &info.kernels {
            println!("  {}: `{}` of crate {}", kernel.key, kernel.function, kernel.place.krate());
        }
    }

    // On a stack, with every argument in its position: for kernels that serve any operator.
    let words = vec!["call".to_owned(), "me".to_owned(), "anything".to_owned()];
    let mut stack = Stack::new();
    stack.push(words.as_slice());
    dispatcher.find("words::lengths")?.call_boxed(&mut stack)?;
    let (longest, shortest): (i64, i64) = (stack.pop_as()?, stack.pop_as()?);
    println!("lengths: {shortest} to {longest}");

    // By position and by name, with the schema's defaults: for interpreters and bindings.
    let join = dispatcher.find("words::join")?;
    let joined: String = join.call_with([words.as_slice().into()], [("between", "-".into())])?.pop_as()?;
    println!("join: {joined}");
    let repeat = dispatcher.find("words::repeat")?;
    println!("repeat: {}", repeat.call_with(["ma".into()], [])?.pop_as::<String>()?);
    if let Err(error) = repeat.call_with(["ma".into()], [("tims", 3.into())]) {
        println!("{error}");
    }
    Ok(())
}

// Prints:
// words::join(str[] words, str between=" ") -> str
//   CompositeExplicitAutograd: `join` of crate 07_boxed_calls
// words::lengths(str[] words) -> (int shortest, int longest)
//   CompositeExplicitAutograd: `lengths` of crate 07_boxed_calls
// words::repeat(str word, int times=2) -> str
//   CompositeExplicitAutograd: `repeat` of crate 07_boxed_calls
// lengths: 2 to 8
// join: call-me-anything
// repeat: mama
// words::repeat: there is no argument `tims`
//   schema: words::repeat(str word, int times=2) -> str
