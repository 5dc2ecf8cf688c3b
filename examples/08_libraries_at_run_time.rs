//! Registration at run time: everything the macros do, undone when the library is dropped.

use torch_library::prelude::*;
use torch_library::{Dispatcher, Library, RuntimeKernel};

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

    // A kernel with state, typed like the operator. The newest kernel counts for as long as its library lives.
    let discount = 4;
    let mut sale = Library::implementation("shop", DispatchKey::CompositeExplicitAutograd)?;
    let kernel = shop::price::kernel(move |goods| Ok(10 * goods - discount));
    sale.implement("price", DispatchKey::CompositeExplicitAutograd, kernel)?;
    println!("during the sale: {}", shop::price(3)?);
    drop(sale);
    println!("after the sale: {}", shop::price(3)?);

    // An operator nobody declared at compile time.
    let mut extras = Library::fragment("shop")?;
    let wrap = extras.define("wrap(str present, *, str paper='red') -> str")?;
    extras.implement(
        "wrap",
        DispatchKey::CompositeExplicitAutograd,
        RuntimeKernel::boxed(|_, _, stack| {
            let (paper, present): (String, String) = (stack.pop_as()?, stack.pop_as()?);
            stack.push(format!("{present} in {paper} paper"));
            Ok(())
        }),
    )?;
    let mut stack = Stack::from_iter([Value::from("a book"), Value::from("blue")]);
    wrap.call_boxed(&mut stack)?;
    println!("{}", stack.pop_as::<String>()?);

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
// a book in blue paper
// known afterwards: false
// the old handle says: operator shop::wrap was removed, with the library that defined it, or never linked in
