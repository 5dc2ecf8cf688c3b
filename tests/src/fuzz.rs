//! The fuzz targets: functions that take bytes, and panic if something is wrong.

use std::sync::OnceLock;

use torch_library::guard::IncludeDispatchKeyGuard;
use torch_library::prelude::*;
use torch_library::tracer::Graph;
use torch_library::{DispatchKeySet, Dispatcher, Library, LibraryKind, RuntimeKernel};
use torch_library_kernels::data::{npy, safetensors};
use torch_library_schema::token::lex;
use torch_library_schema::{Mode, Schema, SchemaArgument};

use crate::hostile::Hostile;

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 4] =
    [("schema", schema), ("boxed_call", boxed_call), ("graph", graph), ("file", file)];

/// Parses a text as a schema in both modes: what is accepted must parse again after printing, and answer every query.
pub fn schema(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let [strict, pytorch] = [Mode::Strict, Mode::PyTorch].map(|mode| check_schema(&text, mode));
    assert!(pytorch || !strict, "strict mode accepts more than PyTorch: {text:?}");
}

fn check_schema(text: &str, mode: Mode) -> bool {
    let schema = match Schema::parse(text, mode) {
        Ok(schema) => schema,
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{text:?}");
            assert!(error.render(text).contains('^'), "{text:?}");
            return false;
        }
    };
    assert!(Schema::parse_or_name(text, mode).is_ok_and(|either| either.is_ok()), "{text:?}");
    let printed = schema.to_string();
    assert_eq!(Schema::parse(&printed, mode).as_ref(), Ok(&schema), "{text:?} is printed as {printed:?}");
    assert!(!schema.pytorch().to_string().is_empty(), "{text:?}");
    // A trailing line break is the only token of a text that cannot be in a list of tokens.
    if !text.contains('\n') {
        assert_eq!(Schema::parse_tokens(&lex(text), mode).as_ref(), Ok(&schema), "{text:?}");
    }
    schema.check_backward_compatible_with(&schema).expect("a schema is compatible with itself");
    schema.check_forward_compatible_with(&schema).expect("a schema is compatible with itself");
    assert!(schema.is_subtype_of(&schema, false), "{text:?}");
    for index in 0..schema.arguments.len() {
        assert!(
            schema.may_alias(SchemaArgument::Input(index), SchemaArgument::Input(0)).is_some(),
            "{text:?}"
        );
    }
    true
}

/// Makes a few calls that the input chooses, of linked operators and of one that it declares itself: each returns a result or
/// an error, and keeps nothing alive. Some go through a boxed fallback.
pub fn boxed_call(input: &[u8]) {
    let mut bytes = input.iter();
    let mut byte = || bytes.next().map_or(0, |byte| usize::from(*byte));
    let mut choose = move |bound: usize| {
        let high = if bound > 256 { byte() << 8 } else { 0 };
        (high | byte()) % bound
    };
    let through_fallback = choose(2) == 1;
    let _guard = through_fallback.then(|| IncludeDispatchKeyGuard::new(LAYER));
    let mut hostile = Hostile::new(linked().to_vec(), &mut choose);
    for _ in 0..CALLS {
        hostile.call().unwrap_or_else(|failure| panic!("{failure}"));
    }
    hostile.declare_and_call().unwrap_or_else(|failure| panic!("{failure}"));
}

/// Parses a text as a graph: what is accepted must parse again after printing, with values numbered in order from then on, and
/// passes must find nothing to do a second time.
pub fn graph(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut graph = match text.parse::<Graph>() {
        Ok(graph) => graph,
        Err(error) => return assert!(error.to_string().contains("of the graph"), "{text:?}"),
    };
    let again = |text: &str| text.parse::<Graph>().map(|graph| graph.to_string()).ok();
    let printed = again(&graph.to_string());
    assert!(
        printed.is_some() && printed == printed.as_deref().and_then(again),
        "{text:?} is printed as {graph}"
    );
    assert!(!graph.to_dot().is_empty() && !graph.to_json().is_empty(), "{text:?}");
    graph.merge_common_subexpressions();
    graph.eliminate_dead_code();
    assert!(again(&graph.to_string()).is_some(), "{text:?}");
    assert_eq!((graph.merge_common_subexpressions(), graph.eliminate_dead_code()), (0, 0), "{text:?}");
}

/// Reads a file of tensors, in the format that the first byte chooses: what is accepted has no more elements than the file, and
/// is the same when it is written and read again.
pub fn file(input: &[u8]) {
    let Some((format, bytes)) = input.split_first() else { return };
    let check = |tensor: &Tensor, again: &Tensor| {
        assert!(tensor.numel() as u64 * tensor.dtype().size() as u64 <= bytes.len() as u64);
        assert_eq!((tensor.sizes(), tensor.dtype()), (again.sizes(), again.dtype()));
        assert_eq!(tensor.to_string(), again.to_string());
    };
    if format % 2 == 0 {
        let Ok(tensor) = npy::read(bytes) else { return };
        let mut written = Vec::new();
        npy::write(&tensor, &mut written).expect("it came from such a file");
        check(&tensor, &npy::read(&written[..]).expect("it was just written"));
    } else {
        let Ok(tensors) = safetensors::from_bytes(bytes) else { return };
        let written = safetensors::to_bytes(&tensors).expect("they came from such a file");
        let again = safetensors::from_bytes(&written).expect("it was just written");
        assert!(tensors.keys().eq(again.keys()));
        tensors.iter().for_each(|(name, tensor)| check(tensor, &again[name]));
    }
}

/// The number of calls per input.
const CALLS: usize = 4;

/// The key of a fallback that reads all arguments and redispatches.
const LAYER: DispatchKey = DispatchKey::TESTING_ONLY_GenericMode;

fn linked() -> &'static [OperatorHandle] {
    static LINKED: OnceLock<(Vec<OperatorHandle>, Library)> = OnceLock::new();
    let (operators, _) = LINKED.get_or_init(|| {
        let operators = Dispatcher::global().operators().into_iter().map(|info| info.operator);
        let mut library =
            Library::open(Dispatcher::global(), LibraryKind::Implementation, "_", None).expect("a library");
        let kernel = RuntimeKernel::boxed(|operator, keys, stack| {
            assert!(!format!("{:?}", operator.arguments(stack)?).is_empty());
            operator.redispatch_boxed(keys & DispatchKeySet::full_after(LAYER), stack)
        });
        library.fallback(LAYER, kernel).expect("nobody else uses the key");
        (operators.filter(|operator| operator.namespace() == "aten").collect(), library)
    });
    operators
}
