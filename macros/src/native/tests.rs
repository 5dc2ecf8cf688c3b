//! Which files are accepted and which are rejected, with their messages. PyTorch's generator accepts and rejects the
//! same files, except for those in [`STRICTER`].

use super::read;
use super::text::Text;

fn text(text: &str) -> Text {
    Text { name: "f.yaml".to_owned(), text: text.to_owned(), first_line: 1 }
}

/// The first line of each message.
fn messages(yaml: &str) -> Vec<String> {
    let text = text(yaml);
    let (_, mistakes) = read(&text);
    let rendered = mistakes.iter().map(|mistake| text.render(mistake));
    rendered.map(|message| message.lines().next().unwrap_or_default().to_owned()).collect()
}

fn check(cases: &[(&str, &str)]) {
    for (yaml, expected) in cases {
        let messages = messages(yaml);
        assert_eq!(messages.len(), 1, "{yaml}\n{messages:?}");
        assert!(messages[0].starts_with(expected), "{yaml}\n     got: {}\nexpected: {expected}", messages[0]);
    }
}

#[test]
fn a_message_shows_the_line_and_the_place() {
    let text = text("- func: f(Tensor self) -> Tensor\n  tags: pointwize\n");
    let (_, mistakes) = read(&text);
    let rendered = text.render(&mistakes[0]);
    let (first, rest) = rendered.split_once('\n').unwrap();
    assert!(first.starts_with("f.yaml:2:9: unknown tag `pointwize`, expected one of core, "));
    assert_eq!(rest, "  |\n2 |   tags: pointwize\n  |         ^^^^^^^^^");
}

#[test]
fn several_mistakes_are_said_together() {
    let yaml = "- func: f(Tenser self) -> Tensor\n- func: g_out(Tensor self) -> Tensor\n";
    assert_eq!(messages(yaml).len(), 2);
}

#[test]
fn what_no_yaml_is_is_refused() {
    assert_eq!(messages("- func: [").len(), 1);
    assert_eq!(messages("func: f() -> ()\n"), ["f.yaml:1:1: expected a list, found a mapping"]);
    assert_eq!(messages("- *a\n").len(), 1);
    assert!(messages("").is_empty());
}

const FIELDS: &[(&str, &str)] = &[
    ("- func: f(Tensor self) -> Tensor\n  varians: method\n", "f.yaml:2:3: unknown field `varians`, "),
    (
        "- func: f(Tensor self) -> Tensor\n  device_guard: 'no'\n",
        "f.yaml:2:17: expected True or False, found a string",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  python_module: 3\n",
        "f.yaml:2:18: expected a string, found a number",
    ),
    ("- variants: method\n", "f.yaml:1:3: expected `func`, the schema of the operator"),
    (
        "- func: f(Tensor self) -> Tensor\n  ? [a]\n  : b\n  ? [c]\n  : d\n",
        "f.yaml:2:5: unknown field `a list`, expected one of ",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  variants: function, methods\n",
        "f.yaml:2:13: unknown variant `methods`, expected `function`, `method` or both",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  device_check: Never\n",
        "f.yaml:2:17: unknown device check `Never`, expected `NoCheck` or `ExactSame`",
    ),
    ("- func: f(Tensor self) -> Tensor\n  tags: pointwize\n", "f.yaml:2:9: unknown tag `pointwize`, "),
    (
        "- func: f(Tensor self) -> Tensor\n  variants: method\n  python_module: nn\n",
        "f.yaml:1:9: an operator in a Python module is a function, not a method",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  variants: function, method\n",
        "f.yaml:2:9: an operator with `out` arguments is a function, not a method",
    ),
    (
        "- func: _foreach_f(Tensor[] self) -> Tensor[]\n",
        "f.yaml:1:9: `_foreach` operators accept several devices: add `device_check: NoCheck`",
    ),
    (
        "- func: my_rand(Tensor self) -> Tensor\n",
        "f.yaml:1:9: `my_rand` draws random numbers, as its name or arguments say: add `tags: \
         nondeterministic_seeded`",
    ),
    (
        "- func: f(Tensor self, float dropout) -> Tensor\n",
        "f.yaml:1:9: `f` draws random numbers, as its name or arguments say: add `tags: nondeterministic_seeded`",
    ),
    (
        "- func: f(Tensor self, *, Generator? generator=None) -> Tensor\n",
        "f.yaml:1:9: `f` draws random numbers, as its name or arguments say: add `tags: nondeterministic_seeded`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  manual_kernel_registration: True\n  dispatch:\n    CPU: f\n",
        "f.yaml:4:5: `manual_kernel_registration` registers no kernel of this table: leave out one of them",
    ),
    (
        "- func: f(Tensor self, int a=1) -> Tensor\n  cpp_no_default_args: [b]\n",
        "f.yaml:1:9: `cpp_no_default_args` names `b`, but no argument of that name has a default",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  use_const_ref_for_mutable_tensors: True\n",
        "f.yaml:2:9: `use_const_ref_for_mutable_tensors` is not for variants with `out`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch: [CPU]\n",
        "f.yaml:2:13: expected a mapping, found a list",
    ),
];

#[test]
fn fields_have_their_types_and_words() {
    check(FIELDS);
}

const TABLES: &[(&str, &str)] = &[
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    Cpu: f\n",
        "f.yaml:3:5: no dispatch table has the key `Cpu`, did you mean `CPU`?",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    AutogradCPU: f\n",
        "f.yaml:3:5: no dispatch table has the key `AutogradCPU`, ",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: f\n",
        "f.yaml:3:32: leave out the table: without one, the kernel is `f`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: g\n",
        "f.yaml:3:32: name the kernel `f`, and leave out the table",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: f\n    CompositeExplicitAutograd: g\n",
        "f.yaml:3:5: CompositeImplicitAutograd and CompositeExplicitAutograd all serve every backend, and one would hide the other: name one of them",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CompositeImplicitAutogradNestedTensor: f\n    CompositeExplicitAutogradNonFunctional: g\n",
        "f.yaml:3:5: CompositeImplicitAutogradNestedTensor and CompositeExplicitAutogradNonFunctional all serve every backend, and one would hide the other: name one of them",
    ),
    (
        "- func: f(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor\n",
        "f.yaml:1:9: `f` creates a tensor, so it is not composed of other operators: it needs a dispatch table, such \
         as `dispatch: {CompositeExplicitAutograd: f}`",
    ),
    (
        "- func: foo_like(Tensor self) -> Tensor\n",
        "f.yaml:1:9: `foo_like` creates a tensor, so it is not composed of other operators: it needs a dispatch \
         table, such as `dispatch: {CompositeExplicitAutograd: foo_like}`",
    ),
    (
        "- func: new_foo(Tensor self) -> Tensor\n",
        "f.yaml:1:9: `new_foo` creates a tensor, so it is not composed of other operators: it needs a dispatch \
         table, such as `dispatch: {CompositeExplicitAutograd: new_foo}`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: a::b::c::d::f\n",
        "f.yaml:3:10: a kernel is at most three modules deep: `a::b::c::d::f`",
    ),
    ("- func: a::b::f(Tensor self) -> Tensor\n", "f.yaml:1:13: expected `(` and the arguments, found `:`"),
];

#[test]
fn tables_name_keys_and_kernels_that_go_together() {
    check(TABLES);
}

const STRUCTURED: &[(&str, &str)] = &[
    (
        "- func: f(Tensor self) -> Tensor\n  structured: True\n  dispatch:\n    CPU: f\n",
        "f.yaml:1:9: `structured` belongs to the variant with `out`; here, `structured_delegate` names that variant",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured_delegate: f.out\n",
        "f.yaml:3:9: `structured_delegate` belongs to the variants without `out`; here, write `structured: True`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n",
        "f.yaml:2:24: there is no operator `f.out` to delegate to",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
        "f.yaml:2:24: `f.out` is not structured: it needs `structured: True`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n  dispatch:\n    CPU: f\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:4:5: the kernel for CPU is that of the operator it delegates to: leave it out",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: aten::f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:2:24: the namespace is that of the operator: leave out `aten::`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:1:9: `f.out` is structured and `f` is not: either all variants are, or none",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CompositeImplicitAutograd: foo\n    CPU: f_out\n",
        "f.yaml:3:9: a structured kernel is written for a backend, not composed of other operators",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  device_guard: False\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:3:9: structured kernels always run under a device guard: leave out `device_guard`",
    ),
    (
        "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  precomputed:\n  - dim -> int dim\n",
        "f.yaml:3:5: `precomputed` is for structured kernels: add `structured: True`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  precomputed:\n  - dim -> int DIM\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:6:5: expected a type and a name that is not all capitals: `int DIM`",
    ),
    (
        "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured_inherits: TensorIteratorBase\n",
        "f.yaml:1:9: `structured_inherits` is for structured kernels: add `structured: True`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  structured_inherits: a::Base\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:5:24: expected a name, without a namespace: `a::Base`",
    ),
    (
        "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  ufunc_inner_loop:\n    Generic: f (All)\n",
        "f.yaml:1:9: `ufunc_inner_loop` is for structured kernels: add `structured: True`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  ufunc_inner_loop:\n    Generic: f (All)\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:8:5: the kernel for CPU is generated from `ufunc_inner_loop`: leave it out",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  ufunc_inner_loop:\n    Generic: f (Every)\n",
        "f.yaml:6:14: unknown dtype `Every`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  ufunc_inner_loop:\n    Generik: f (All)\n",
        "f.yaml:6:5: unknown loop `Generik`, ",
    ),
];

#[test]
fn structured_operators_are_whole() {
    check(STRUCTURED);
}

const SCHEMAS: &[(&str, &str)] = &[
    (
        "- func: f(Tensor self, int lambda) -> Tensor\n",
        "f.yaml:1:28: `lambda` is a keyword of Python, so no argument can have that name",
    ),
    (
        "- func: f_out(Tensor self) -> Tensor\n",
        "f.yaml:1:9: names that end with `_out` are reserved: write an overload, such as `f.out`",
    ),
    (
        "- func: __inot__(Tensor self) -> Tensor\n",
        "f.yaml:1:9: `__i…__` names an in-place operator of Python, and `__inot__` is not one",
    ),
    (
        "- func: f_functional_(Tensor(a!) self) -> Tensor(a!)\n",
        "f.yaml:1:9: names that end with `_functional` are reserved for operators that write to nothing",
    ),
    (
        "- func: f.functional(Tensor self, Tensor(a!) other) -> ()\n",
        "f.yaml:1:9: overloads with `functional` in them are reserved for operators that write to nothing",
    ),
    ("- func: f_(Tensor(a!) self) -> ()\n", "f.yaml:1:9: `f_` is in place: it must return `self`, once"),
    ("- func: f_(Tensor(a!) self) -> Tensor\n", "f.yaml:1:9: `f_` is in place: it must return `self`, once"),
    (
        "- func: f_(Tensor self) -> Tensor\n",
        "f.yaml:1:9: `f_` is in place by its name: it must take `Tensor(a!) self`",
    ),
    (
        "- func: f_(Tensor(a!)[] self) -> Tensor(a!)[]\n",
        "f.yaml:1:9: `f_` is in place on a list: it must return nothing",
    ),
    (
        "- func: f_(Tensor(a!) self, *, Tensor(b!) out) -> Tensor(a!)\n",
        "f.yaml:1:43: `f_` is in place by its name, but has the `out` argument `out`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n- func: f.out(Tensor self, *, Tensor(a!) out) -> ()\n",
        "f.yaml:2:42: each `out` argument must be returned, in order: expected 1 returns, found 0",
    ),
    (
        "- func: f(Tensor self) -> (Tensor, Tensor)\n- func: f.out(Tensor self, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(b!), Tensor(a!))\n",
        "f.yaml:2:42: `a` and the return at its position must have the same alias set",
    ),
    (
        "- func: f(Tensor self) -> Tensor[]\n- func: f.out(Tensor self, *, Tensor(a!)[] out) -> Tensor(a!)[]\n",
        "f.yaml:2:44: `out` arguments that are lists are not returned: write `-> ()`",
    ),
    (
        "- func: f.out(Tensor self, Tensor(a!) out) -> Tensor(a!)\n",
        "f.yaml:1:39: `out` is written to and returned: only `self` of an in-place operator and `out` arguments, \
         after `*`, can be both",
    ),
    (
        "- func: f(Tensor(a!) self) -> (Tensor(a!), Tensor)\n",
        "f.yaml:1:9: either all returns are arguments that were written to, or none is: leave out the arguments",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n- func: f.out(Tensor self, *, Tensor(a!) out, int b=1) -> Tensor(a!)\n",
        "f.yaml:2:51: `b` is not written to, so it must come before the `out` arguments",
    ),
    (
        "- func: f(Tensor(a!) other, Tensor self) -> Tensor\n",
        "f.yaml:1:22: `other` is written to, so it must come after `self`",
    ),
    (
        "- func: f(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor(a!)\n",
        "f.yaml:1:113: no argument is in the alias set `a`",
    ),
    (
        "- func: f.out(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, Tensor(a!) out) -> Tensor(a!)\n",
        "f.yaml:1:30: `dtype`, `layout`, `device` and `pin_memory` together are for operators that make a tensor, and this one writes to an argument",
    ),
    (
        "- func: f(Tensor(ab) self) -> Tensor(ab)\n",
        "f.yaml:1:22: the name of an alias set is one lower-case letter, not `ab`",
    ),
    (
        "- func: f(int(a) self) -> int(a)\n",
        "f.yaml:1:18: an alias annotation belongs on `Tensor`, `Tensor?` or `Tensor[]`, not on `int`",
    ),
    (
        "- func: f(Tensor self,int[2] a=[0, 1])->(Tensor)\n",
        "f.yaml:1:9: PyTorch's code generator accepts one spelling: `f(Tensor self, int[2] a=[0,1]) -> Tensor`",
    ),
    ("- func: f\n", "f.yaml:1:10: expected a full schema, found an operator name alone"),
    ("- func: f(Tenser self) -> Tensor\n", "f.yaml:1:11: unknown type `Tenser`"),
];

#[test]
fn schemas_follow_the_conventions() {
    check(SCHEMAS);
}

const TOGETHER: &[(&str, &str)] = &[
    (
        "- func: f(Tensor self) -> Tensor\n- func: f(Tensor self) -> Tensor\n",
        "f.yaml:2:9: `f` is declared twice, first 1 line above",
    ),
    (
        "- func: f_at(Tensor self) -> Tensor\n- func: f.at(Tensor self) -> Tensor\n",
        "f.yaml:2:9: `f_at` in Rust would name both this operator, `f.at`, and `f_at` 1 line above",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n- func: f.again(Tensor self) -> Tensor\n",
        "f.yaml:2:9: `f.again` is the same operation as `f`: nothing but the overload tells them apart",
    ),
    (
        "- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:1:9: `f.out` writes to `out`, but no operator with the same arguments returns its result",
    ),
    (
        "- func: f(Tensor self) -> int\n  dispatch:\n    CPU: f\n  autogen: f.out\n",
        "f.yaml:4:12: `f.out` cannot be generated: `f` returns no tensor",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n  autogen: g.out\n",
        "f.yaml:4:12: `g.out` cannot be generated from this operator, only `f.out`",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n  autogen: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: f_out\n",
        "f.yaml:4:12: `f.out` is declared, so `autogen` must not name it",
    ),
    (
        "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n  autogen: f.out\n",
        "f.yaml:1:9: `f` is generated from this operator as well: `autogen` must name it",
    ),
    (
        "- func: f(Tensor self, Tensor(a!) other) -> Tensor\n  dispatch:\n    CPU: f\n- func: f.new(Tensor self, Tensor other) -> (Tensor, Tensor)\n  dispatch:\n    CPU: f\n- func: f.out(Tensor self, Tensor other, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))\n  dispatch:\n    CPU: f\n",
        "f.yaml:4:9: `f` writes to an argument, so the variant that does not must be called `f_functional`",
    ),
    (
        "- func: f(Tensor(a!) self) -> ()\n  tags: inplace_view\n",
        "f.yaml:1:9: `inplace_view` is for names that end with `_`, not for `f`",
    ),
    (
        "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view\n",
        "f.yaml:1:9: `f_` changes a view in place, but there is no `f` that returns a view",
    ),
    (
        "- func: f(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: f\n",
        "f.yaml:1:9: `f` returns a view, so there must also be `f_copy`, which takes the same arguments and returns \
         a copy",
    ),
    (
        "- func: f(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: f\n- func: f_copy(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: f_copy\n",
        "f.yaml:4:9: `f_copy` copies what `f` views: add `tags: view_copy`",
    ),
    (
        "- func: f(Tensor(a) self) -> Tensor(a)\n- func: f_(Tensor(a!) self) -> Tensor(a!)\n  tags: inplace_view\n  dispatch:\n    CPU: f_\n",
        "f.yaml:2:9: `f` has a kernel for CompositeImplicitAutograd: `f_` needs one as well",
    ),
];

#[test]
fn entries_fit_together() {
    check(TOGETHER);
}

/// Mistakes that PyTorch's generator accepts, although they have no useful meaning.
const STRICTER: [(&str, &str); 5] = [
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU, CPU: f\n",
        "f.yaml:3:5: the key CPU is given twice",
    ),
    (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n    CPU: g\n",
        "f.yaml:4:5: `CPU` is given twice, first 1 line above",
    ),
    ("- func: f(Tensor self, int self) -> Tensor\n", "f.yaml:1:28: two arguments are called `self`"),
    (
        "- func: f(Tensor a) -> Tensor\n  variants: method\n",
        "f.yaml:1:9: a method needs an argument `Tensor self`",
    ),
    (
        "- func: f(Tensor self, int a= 1) -> Tensor\n",
        "f.yaml:1:9: PyTorch's code generator accepts one spelling: `f(Tensor self, int a=1) -> Tensor`",
    ),
];

#[test]
fn some_rules_are_stricter() {
    check(&STRICTER);
}

#[test]
fn right_files_are_accepted() {
    let files = [
        "- func: f(Tensor self) -> Tensor\n",
        "- func: f(Tensor self) -> Tensor\n  dispatch: {}\n",
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU, CUDA: a::b::c::f\n",
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: f\n    CompositeImplicitAutogradNestedTensor: g\n",
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CompositeImplicitAutograd: f_symint\n",
        "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: f_\n  autogen: f, f.out\n",
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU: f_out\n- func: f_(Tensor(a!) self) -> Tensor(a!)\n  structured_delegate: f.out\n",
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  ufunc_inner_loop:\n    Generic: f (All, Half)\n    ScalarOnly: f (Bool)\n",
        "- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  structured_inherits: Base\n  precomputed:\n  - dim -> int dim, int n\n  dispatch:\n    CPU: f_out\n",
        "- func: f(Tensor self) -> Tensor\n  tags: [core, pointwise]\n",
        "- func: f.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_1) -> Tensor(a!)\n  dispatch:\n    CPU: f\n- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n",
        "- func: f(Tensor self, Tensor(a!) other) -> Tensor\n  dispatch:\n    CPU: f\n  autogen: f_functional, f.out\n",
        "- func: f(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: f\n- func: f_copy(Tensor self) -> Tensor\n  tags: view_copy\n  dispatch:\n    CompositeExplicitAutograd: f_copy\n  autogen: f_copy.out\n",
        "- func: custom::f(Tensor self) -> Tensor\n",
        "- func: __iand__(Tensor(a!) self, Tensor other) -> Tensor(a!)\n- func: __and__(Tensor self, Tensor other) -> Tensor\n",
        "- func: f(Tensor(a -> *) self, int n) -> Tensor(a)[]\n",
        "- func: f(Tensor self) -> int\n  manual_cpp_binding: True\n",
    ];
    for yaml in files {
        assert_eq!(messages(yaml), [""; 0], "{yaml}");
    }
}

/// The schemas that `autogen` generates.
fn generated(yaml: &str) -> Vec<String> {
    let (entries, _) = read(&text(yaml));
    let generated = entries.iter().filter(|entry| entry.generated_from.is_some());
    generated.map(|entry| entry.func.schema.to_string()).collect()
}

#[test]
fn variants_are_generated() {
    let in_place = "- func: f_.x(Tensor(a!) self, int n=1) -> Tensor(a!)\n  dispatch: {CPU: f_}\n  \
         autogen: f.x, f.x_out\n";
    assert_eq!(
        generated(in_place),
        [
            "f.x_out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)",
            "f.x(Tensor self, int n=1) -> Tensor"
        ]
    );
    let mutable = "- func: f(Tensor self, Tensor(a!) m) -> (Tensor, int)\n  dispatch: {CPU: f}\n  \
         autogen: f_functional, f.out\n";
    assert_eq!(
        generated(mutable),
        [
            "f.out(Tensor self, Tensor(a!) m, *, Tensor(b!) out0) -> int",
            "f_functional(Tensor self, Tensor m) -> (Tensor, int, Tensor m_out)"
        ]
    );
    let factory = "- func: f(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, \
                   bool? pin_memory=None) -> Tensor[]\n  dispatch: {CPU: f}\n  autogen: f.out\n";
    assert_eq!(generated(factory), ["f.out(int n, *, Tensor(a!)[] out) -> ()"]);
}

/// If `TORCH_NATIVE_FUNCTIONS` gives the path of PyTorch's own file, that file must be accepted.
#[test]
fn pytorchs_own_file_is_right() {
    let Some(path) = std::env::var_os("TORCH_NATIVE_FUNCTIONS") else { return };
    let yaml = std::fs::read_to_string(path).unwrap();
    assert_eq!(messages(&yaml), [""; 0]);
}
