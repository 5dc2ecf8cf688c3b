//! The conditions of a program on its inputs: types, sizes, the ranges of sizes, and guards.

use std::collections::{BTreeMap, HashMap, VecDeque};

use torch_library::prelude::*;

use crate::expression::{Expression, Formula};
use crate::number::Number;
use crate::signature::{Kind, Size};
use crate::symbols::{Dim, Symbols};
use crate::wire::{RangeConstraint, SymInt, TensorMeta};
use crate::{kinds, number, refused};

/// The expected type and sizes of an input.
#[derive(Debug)]
enum Expected {
    Tensor { dtype: DType, sizes: Vec<Dim> },
    Number(Option<Dim>),
}

/// A minimum up to this one is not checked. The exporter writes 2 for every dynamic size, because it traces 0 and 1 as
/// constants, but PyTorch runs its programs with these sizes, too.
const FREE: i64 = 2;

/// What a guard refers to: an input by index, or a property of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Looked {
    At(usize),
    Size(usize, usize),
    Stride(usize, usize),
    Offset(usize),
}

/// The names that guards have for inputs.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The inputs by their paths.
    paths: HashMap<String, usize>,
    /// The inputs by their identifiers in the graph.
    identifiers: HashMap<String, usize>,
    /// For each leaf of the arguments, constants included, the input that it is.
    leaves: Vec<Option<usize>>,
}

impl Names {
    /// The names of inputs with these paths and identifiers. Of two with one name, it is that of the first.
    pub(crate) fn new<'n>(
        inputs: impl Iterator<Item = (&'n str, &'n str)>,
        leaves: Vec<Option<usize>>,
    ) -> Names {
        let mut names = Names { leaves, ..Names::default() };
        for (input, (path, identifier)) in inputs.enumerate() {
            names.paths.entry(path.to_owned()).or_insert(input);
            names.identifiers.entry(identifier.to_owned()).or_insert(input);
        }
        names
    }
}

/// All conditions of a program.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    symbols: Symbols,
    inputs: Vec<(String, Expected)>,
    guards: Vec<(String, Formula<Looked>)>,
}

impl Conditions {
    pub(crate) fn new(ranges: &BTreeMap<String, RangeConstraint>) -> Conditions {
        Conditions { symbols: Symbols::new(ranges), ..Conditions::default() }
    }

    /// A description of a tensor.
    ///
    /// # Errors
    /// The element type is unknown; the sizes cannot be parsed.
    pub(crate) fn kind(&mut self, meta: &TensorMeta) -> Result<Kind> {
        let sizes = meta.sizes.iter().map(|size| self.symbols.size(size));
        let sizes = sizes.collect::<Result<_, _>>().map_err(refused)?;
        Ok(Kind::Tensor { sizes, dtype: kinds::dtype(meta.dtype)? })
    }

    /// Adds an input that is a tensor.
    ///
    /// # Errors
    /// The element type is unknown; the sizes cannot be parsed.
    pub(crate) fn tensor(&mut self, name: &str, meta: &TensorMeta) -> Result<()> {
        let sizes = meta.sizes.iter().map(|size| self.symbols.dim(size));
        let sizes = sizes.collect::<Result<_, _>>();
        let sizes =
            sizes.map_err(|error| refused(error).context(format_args!("a size of input `{name}`")))?;
        self.inputs.push((name.to_owned(), Expected::Tensor { dtype: kinds::dtype(meta.dtype)?, sizes }));
        Ok(())
    }

    /// Adds an input that is a number.
    ///
    /// # Errors
    /// The size cannot be parsed.
    pub(crate) fn number(&mut self, name: &str, size: Option<&SymInt>) -> Result<()> {
        let size = size.map(|size| self.symbols.dim(size)).transpose();
        let size = size.map_err(|error| refused(error).context(format_args!("input `{name}`")))?;
        self.inputs.push((name.to_owned(), Expected::Number(size)));
        Ok(())
    }

    /// Adds a guard in Python syntax.
    ///
    /// # Errors
    /// The guard uses something that is not supported.
    pub(crate) fn guard(&mut self, text: &str, names: &Names) -> Result<()> {
        let guard = Expression::parse(text).and_then(|expression| {
            Formula::new(&expression, &mut |expression| Ok(looked(expression, names)))
        });
        let guard = guard.map_err(refused)?;
        self.guards.push((text.to_owned(), guard));
        Ok(())
    }

    /// Checks that a program with so many arguments, constants included, may be called with these values.
    ///
    /// # Errors
    /// The first condition that does not hold, with its name.
    pub(crate) fn check(&self, values: &[Value<'_>], arguments: usize) -> Result<()> {
        if values.len() != self.inputs.len() {
            let all = if arguments == self.inputs.len() {
                String::new()
            } else {
                format!(", or {arguments} arguments with constants")
            };
            bail!(Argument, "the program takes {}{all}; got {}", self.names(), values.len());
        }
        let mut symbols: Vec<Option<(i64, &str)>> = vec![None; self.symbols.names.len()];
        let mut computed = Vec::new();
        for (value, (name, expected)) in values.iter().zip(&self.inputs) {
            match (expected, value.as_tensor(), number::of(value)) {
                (Expected::Tensor { dtype, sizes }, Some(tensor), _) => {
                    check_tensor(tensor, name, *dtype, sizes.len())?;
                    for (dim, size) in sizes.iter().enumerate() {
                        let place = Where { name, dim: Some(dim), size: tensor.sizes()[dim] };
                        self.bind(size, place, &mut symbols, &mut computed)?;
                    }
                }
                (Expected::Number(size), _, Some(number)) => {
                    if let (Some(size), Some(number)) = (size, number.int()) {
                        self.bind(
                            size,
                            Where { name, dim: None, size: number },
                            &mut symbols,
                            &mut computed,
                        )?;
                    }
                }
                (Expected::Tensor { .. }, ..) => {
                    bail!(Type, "input `{name}` must be a tensor, got {}", value.type_name())
                }
                (Expected::Number(_), ..) => {
                    bail!(Type, "input `{name}` must be a number, got {}", value.type_name())
                }
            }
        }
        self.solve_all(&computed, &mut symbols)?;
        self.guards.iter().try_for_each(|(text, guard)| check_guard(text, guard, values))
    }

    /// The number of inputs, and their names.
    fn names(&self) -> String {
        let names: Vec<_> = self.inputs.iter().map(|(name, _)| format!("`{name}`")).collect();
        match names.len() {
            0 => "no inputs".to_owned(),
            1 => format!("1 input, {}", names[0]),
            count => format!("{count} inputs, {}", names.join(", ")),
        }
    }

    fn bind<'v, 's: 'v>(
        &'s self,
        dim: &'s Dim,
        place: Where<'v>,
        symbols: &mut [Option<(i64, &'v str)>],
        computed: &mut Vec<(&'s Formula<usize>, &'s str, Where<'v>)>,
    ) -> Result<()> {
        match dim {
            Dim::Fixed(size) => ensure!(
                *size == place.size,
                Shape,
                "{place} is {}, but the program was exported for {size} only",
                place.size
            ),
            Dim::Symbol(symbol) => self.take(*symbol, place, symbols)?,
            Dim::Formula(formula, text) => computed.push((formula, text, place)),
        }
        Ok(())
    }

    /// Gives a symbol the size at this place, or checks that both are equal.
    fn take<'v>(
        &self,
        symbol: usize,
        place: Where<'v>,
        symbols: &mut [Option<(i64, &'v str)>],
    ) -> Result<()> {
        let (name, (min, max)) = (&self.symbols.names[symbol], self.symbols.ranges[symbol]);
        if let Some((size, before)) = symbols[symbol] {
            ensure!(
                size == place.size,
                Shape,
                "{place} is {}, but the same size `{name}` of input `{before}` is {size}",
                place.size
            );
            return Ok(());
        }
        let is_inside =
            min.is_none_or(|min| min <= FREE || min <= place.size) && max.is_none_or(|max| place.size <= max);
        if !is_inside {
            let range = Size::Symbol { name: name.clone(), min, max };
            bail!(Shape, "{place} is {}, but the program takes {range}", place.size)
        }
        symbols[symbol] = Some((place.size, place.name));
        Ok(())
    }

    /// Checks sizes that are computed from symbols. One with several unknown symbols waits for the others, which may
    /// leave it with one.
    fn solve_all<'v>(
        &self,
        computed: &[(&Formula<usize>, &str, Where<'v>)],
        symbols: &mut [Option<(i64, &'v str)>],
    ) -> Result<()> {
        // Each size waits for the first two symbols that are unknown: with one of them, the other may be the only one
        // left.
        let mut waiting: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut waits_for = vec![[None; 2]; computed.len()];
        let mut ready: VecDeque<usize> = (0..computed.len()).collect();
        while let Some(number) = ready.pop_front() {
            let (formula, text, place) = computed[number];
            match unknown(formula, symbols) {
                unknown @ [Some(_), Some(_)] => {
                    let before = std::mem::replace(&mut waits_for[number], unknown);
                    for symbol in unknown.into_iter().filter(|symbol| !before.contains(symbol)).flatten() {
                        waiting.entry(symbol).or_default().push(number);
                    }
                }
                [Some(symbol), None] => {
                    self.solve(formula, text, place, symbol, symbols)?;
                    ready.extend(waiting.remove(&symbol).unwrap_or_default());
                }
                [None, _] => check_size(formula, text, place, symbols)?,
            }
        }
        Ok(()) // what the inputs do not decide is free
    }

    /// Solves a size for the only symbol that is unknown so far.
    fn solve<'v>(
        &self,
        formula: &Formula<usize>,
        text: &str,
        place: Where<'v>,
        symbol: usize,
        symbols: &mut [Option<(i64, &'v str)>],
    ) -> Result<()> {
        let Some(size) = formula.solve(place.size, &known(symbols), symbol) else {
            bail!(Shape, "{place} is {}, but the program takes {text}", place.size)
        };
        let of_symbol = Where { name: place.name, dim: place.dim, size };
        self.take(symbol, of_symbol, symbols)
            .map_err(|error| error.context(format_args!("{place} is {text} and {}", place.size)))
    }
}

/// The first two symbols of a size that are unknown so far.
fn unknown(formula: &Formula<usize>, symbols: &[Option<(i64, &str)>]) -> [Option<usize>; 2] {
    let mut unknown = [None; 2];
    formula.leaves(&mut |symbol| {
        if symbols[symbol].is_none() && !unknown.contains(&Some(symbol)) {
            unknown = [unknown[0].or(Some(symbol)), unknown[0].and(unknown[1].or(Some(symbol)))];
        }
    });
    unknown
}

/// The sizes of the symbols that are known.
fn known(symbols: &[Option<(i64, &str)>]) -> impl Fn(usize) -> torch_library_pt2::Result<Number> {
    |symbol| symbols[symbol].map(|(size, _)| Number::Int(size)).ok_or_else(nothing)
}

/// Checks a size that is computed from known symbols.
fn check_size(
    formula: &Formula<usize>,
    text: &str,
    place: Where<'_>,
    symbols: &[Option<(i64, &str)>],
) -> Result<()> {
    let size = formula.evaluate(&known(symbols)).map_err(refused)?;
    ensure!(
        size.int() == Some(place.size),
        Shape,
        "{place} is {}, but the program takes {text}, which is {}",
        place.size,
        size.float()
    );
    Ok(())
}

fn check_tensor(tensor: &Tensor, name: &str, dtype: DType, dims: usize) -> Result<()> {
    ensure!(
        tensor.dtype() == dtype,
        DType,
        "input `{name}` is of {}, but the program was exported for {dtype}",
        tensor.dtype()
    );
    ensure!(
        tensor.dim() == dims,
        Shape,
        "input `{name}` has {} dimensions, but the program takes {dims}",
        tensor.dim()
    );
    Ok(())
}

fn check_guard(text: &str, guard: &Formula<Looked>, values: &[Value<'_>]) -> Result<()> {
    let looked = |at: Looked| {
        let tensor = |input: usize| values.get(input).and_then(Value::as_tensor);
        let number = match at {
            Looked::At(input) => return values.get(input).and_then(number::of).ok_or_else(nothing),
            Looked::Size(input, dim) => tensor(input).and_then(|tensor| tensor.sizes().get(dim).copied()),
            Looked::Stride(input, dim) => tensor(input).and_then(|tensor| tensor.strides().get(dim).copied()),
            Looked::Offset(input) => tensor(input).map(Tensor::storage_offset),
        };
        number.map(Number::Int).ok_or_else(nothing)
    };
    let holds =
        guard.evaluate(&looked).map_err(|error| refused(error).context(format_args!("guard {text:?}")))?;
    ensure!(
        holds.is_true(),
        Argument,
        "the program was exported for inputs with {text}, which does not hold for these inputs"
    );
    Ok(())
}

fn nothing() -> torch_library_pt2::Error {
    torch_library_pt2::Error::new(
        torch_library_pt2::ErrorKind::Argument,
        "it refers to an input that does not exist",
    )
}

/// What an expression refers to, if that is an input.
fn looked(expression: &Expression, names: &Names) -> Option<Looked> {
    let input = |expression: &Expression| {
        let named = path(expression).and_then(|path| names.paths.get(&path).copied());
        let flat = || names.leaves.get(flat(expression)?).copied().flatten();
        // The archive has no names for the fields of a named tuple, and a guard has other ones for a cache.
        let identified = || names.identifiers.get(&identifier(expression)?).copied();
        named.or_else(flat).or_else(identified)
    };
    let method = |expression: &Expression, name: &str| match expression {
        Expression::Call(callee, arguments) if arguments.is_empty() => match &**callee {
            Expression::Attribute(of, method) if method == name => input(of),
            _ => None,
        },
        Expression::Attribute(of, attribute) if attribute == "shape" && name == "size" => input(of),
        _ => None,
    };
    if let Some(input) = input(expression) {
        return Some(Looked::At(input));
    }
    if let Some(input) = method(expression, "storage_offset") {
        return Some(Looked::Offset(input));
    }
    let Expression::Index(of, index) = expression else { return None };
    let Expression::Number(Number::Int(dim)) = **index else { return None };
    let dim = usize::try_from(dim).ok()?;
    let size = method(of, "size").map(|input| Looked::Size(input, dim));
    size.or_else(|| method(of, "stride").map(|input| Looked::Stride(input, dim)))
}

/// The path of `L['x']['a'][0].b`: `x['a'][0].b`.
fn path(expression: &Expression) -> Option<String> {
    if let Expression::Attribute(of, name) = expression {
        return Some(format!("{}.{name}", path(of)?));
    }
    let Expression::Index(of, index) = expression else { return None };
    Some(match (&**of, &**index) {
        (Expression::Name(all), Expression::Text(name)) if all == "L" => name.clone(),
        (of, Expression::Text(key)) => format!("{}['{key}']", path(of)?),
        (of, Expression::Number(Number::Int(place))) => format!("{}[{place}]", path(of)?),
        _ => return None,
    })
}

/// The identifier that the exporter makes of `L['pair'].first['A'][0]`: `pair_first_a_0`.
fn identifier(expression: &Expression) -> Option<String> {
    let (of, key) = match expression {
        Expression::Attribute(of, name) if name != "shape" => (of, name.clone()),
        Expression::Index(of, index) => match &**index {
            Expression::Text(key) => (of, key.clone()),
            Expression::Number(Number::Int(place)) => (of, place.to_string()),
            _ => return None,
        },
        _ => return None,
    };
    let key: String = key.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match &**of {
        Expression::Name(all) if all == "L" => Some(key.to_lowercase()),
        of => Some(format!("{}_{}", identifier(of)?, key.to_lowercase())),
    }
}

/// The leaf of `L['flat_args'][3]`, which is how a strict export names the arguments.
fn flat(expression: &Expression) -> Option<usize> {
    let Expression::Index(of, leaf) = expression else { return None };
    let Expression::Index(all, flat) = &**of else { return None };
    match (&**all, &**flat, &**leaf) {
        (Expression::Name(all), Expression::Text(flat), Expression::Number(Number::Int(leaf)))
            if all == "L" && flat == "flat_args" =>
        {
            usize::try_from(*leaf).ok()
        }
        _ => None,
    }
}

/// The place of a size, for messages.
#[derive(Clone, Copy)]
struct Where<'v> {
    name: &'v str,
    dim: Option<usize>,
    size: i64,
}

impl std::fmt::Display for Where<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.dim {
            Some(dim) => write!(f, "size {dim} of input `{}`", self.name),
            None => write!(f, "input `{}`", self.name),
        }
    }
}
