//! Registration at run time: everything that the macros do, undone when the library is dropped.

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, RegistrationEvent, RuntimeKernel};

torch_library! {
    /// A shop.
    pub mod shop {
        /// The price of some goods.
        price(int goods) -> int;
    }
}

#[torch_impl(shop, CompositeExplicitAutograd)]
fn price(goods: i64) -> Result<i64> {
    Ok(10 * goods)
}

fn main() -> Result<()> {
    println!("usual price: {}", shop::price(3)?);

    // A kernel with state, with the operator's types. The newest kernel wins for as long as its library lives.
    let discount = 4;
    let mut sale = Library::implementation("shop", DispatchKey::CompositeExplicitAutograd)?;
    let kernel = shop::price::kernel(move |goods| Ok(10 * goods - discount));
    sale.implement("price", DispatchKey::CompositeExplicitAutograd, kernel)?;
    println!("during the sale: {}", shop::price(3)?);
    drop(sale);
    println!("after the sale: {}", shop::price(3)?);

    // A listener is told of the existing operators, then of each one that is added or removed.
    let _listener = Dispatcher::global().listen(|event| match event {
        RegistrationEvent::Registered(operator) => println!("  there is {operator}"),
        RegistrationEvent::Deregistered(operator) => println!("  gone is {operator}"),
    });

    // An operator that is not declared at compile time. Its kernel may be typed, or boxed by `RuntimeKernel::boxed`.
    let mut extras = Library::fragment("shop")?;
    let wrap = extras.define("wrap(str present, *, str paper='red') -> str")?;
    let kernel = |present: &str, paper: &str| Ok(format!("{present} in {paper} paper"));
    extras.implement("wrap", DispatchKey::CompositeExplicitAutograd, RuntimeKernel::function(kernel)?)?;
    let wrapped =
        wrap.call_with([Value::from("a book")], [("paper", Value::from("blue"))])?.pop_as::<String>()?;
    println!("{wrapped}");

    // An operator whose schema is inferred from its kernel.
    let change = RuntimeKernel::function(|paid: i64, price: i64| Ok(paid - price))?;
    let change = extras.define_with("change", DispatchKey::CompositeExplicitAutograd, change)?;
    println!("{}", change.schema()?);

    drop(extras);
    println!("known afterwards: {}", Dispatcher::global().find("shop::wrap").is_ok());
    match wrap.call_boxed(&mut Stack::from_iter([Value::from("a book"), Value::from("blue")])) {
        Ok(()) => println!("called"),
        Err(error) => println!("the old handle says: {error}"),
    }
    Ok(())
}

// Prints:
// usual price: 30
// during the sale: 26
// after the sale: 30
//   there is shop::price
//   there is shop::wrap
// a book in blue paper
//   there is shop::change
// shop::change(int arg0, int arg1) -> int
//   gone is shop::change
//   gone is shop::wrap
// known afterwards: false
// the old handle says: operator shop::wrap was removed, with the library that defined it, or never linked in
