//! Operators that violate their schemas: each fault is found and named.

use std::sync::atomic::{AtomicI64, Ordering};

use torch_library::guard::AutoDispatchBelowADInplaceOrView;
use torch_library::opcheck::{Check, Fault, OpCheck, opcheck};
use torch_library::prelude::*;

torch_library! {
    pub mod faulty {
        good(Tensor self, Scalar by=2) -> Tensor;
        good_(Tensor(a!) self, Scalar by=2) -> Tensor(a!);
        good.out(Tensor self, Scalar by=2, *, Tensor(a!) out) -> Tensor(a!);
        half(Tensor(a) self) -> Tensor(a);

        no_kernel(Tensor self) -> Tensor;
        #[tags(inplace_view)]
        view_by_tag(Tensor self) -> Tensor;
        refuses(Tensor self) -> Tensor;
        panics(Tensor self) -> Tensor;
        too_many(Tensor self) -> Tensor;
        of_another_type(Tensor self) -> int;
        counts_up(Tensor self) -> Tensor;
        writes(Tensor self) -> Tensor;
        moves(Tensor self) -> Tensor;
        writes_second(Tensor(a!) self, Tensor other) -> Tensor(a!);
        never_writes_(Tensor(a!) self) -> Tensor(a!);
        silent_(Tensor(a!) self) -> Tensor(a!);
        loud(Tensor self) -> Tensor;
        returns_view(Tensor self) -> Tensor;
        returns_itself(Tensor self) -> Tensor;
        views_the_other(Tensor(a) self, Tensor other) -> Tensor(a);
        another_(Tensor(a!) self) -> Tensor(a!);
        twins(Tensor self) -> (Tensor, Tensor);
        no_meta(Tensor self) -> Tensor;
        meta_sizes(Tensor self) -> Tensor;
        meta_strides(Tensor self) -> Tensor;
        meta_dtype(Tensor self) -> Tensor;
        meta_device(Tensor self) -> Tensor;
        meta_refuses(Tensor self) -> Tensor;
        meta_list(Tensor self) -> Tensor[];
        meta_number(Tensor self) -> int;
        meta_offset(Tensor(a) self) -> Tensor(a);
        meta_copies(Tensor(a) self) -> Tensor(a);
        meta_grows_(Tensor(a!) self) -> ();
        meta_of_ones(Tensor self) -> Tensor;
        ignores_strides(Tensor self) -> Tensor;
        ignores_offset(Tensor self) -> Tensor;
        needs_contiguous(Tensor self) -> Tensor;
        list_strides(Tensor[] tensors) -> Tensor;
        empty_refused(Tensor self) -> Tensor;
        empty_panics(Tensor self) -> Tensor;
        other_in_place(Tensor self) -> Tensor;
        other_in_place_(Tensor(a!) self) -> Tensor(a!);
        functional_(Tensor(a!) self) -> Tensor(a!);
        functional(Tensor self) -> Tensor;
        other_out(Tensor self) -> Tensor;
        other_out.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!);
        replaces_out(Tensor self) -> Tensor;
        replaces_out.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!);
    }
}

fn doubled(tensor: &Tensor) -> Result<Tensor> {
    let values = tensor.to_vec::<f64>()?.into_iter().map(|value| 2.0 * value).collect();
    Tensor::from_vec(values, tensor.sizes())
}

fn double_in_place(tensor: &mut Tensor) -> Result<()> {
    let values = tensor.to_vec::<f64>()?;
    tensor.bump_version();
    tensor.fill_from(values.into_iter().map(|value| 2.0 * value))
}

/// Resizes `out` to the result's sizes, as kernels do.
fn resize(out: &mut Tensor, sizes: &[i64]) -> Result<()> {
    if out.sizes() != sizes {
        let fresh = Tensor::empty(sizes, out.dtype(), Device::CPU)?;
        out.set_storage(fresh.storage().clone(), sizes, fresh.strides(), 0)?;
    }
    Ok(())
}

/// The elements in memory order, ignoring strides, as careless kernels read them.
fn raw(tensor: &Tensor, offset: i64) -> Result<Tensor> {
    let dense = Tensor::empty(tensor.sizes(), DType::Float64, Device::CPU)?;
    doubled(&tensor.strided_view(dense.sizes(), dense.strides(), offset)?)
}

static CALLS: AtomicI64 = AtomicI64::new(0);

#[torch_impl(faulty, CPU)]
mod cpu {
    use super::*;

    fn good(this: &Tensor, _: Scalar) -> Result<Tensor> {
        doubled(this)
    }

    fn good_(this: &mut Tensor, _: Scalar) -> Result<&mut Tensor> {
        double_in_place(this)?;
        Ok(this)
    }

    #[torch_impl("good.out")]
    fn good_out<'o>(this: &Tensor, _: Scalar, out: &'o mut Tensor) -> Result<&'o mut Tensor> {
        resize(out, this.sizes())?;
        out.bump_version();
        out.fill_from(doubled(this)?.to_vec::<f64>()?)?;
        Ok(out)
    }

    fn view_by_tag(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn refuses(this: &Tensor) -> Result<Tensor> {
        bail!(Shape, "sizes {:?} are not what I like", this.sizes())
    }

    fn panics(this: &Tensor) -> Result<Tensor> {
        panic!("{} dimensions", this.dim())
    }

    #[torch_impl(boxed)]
    fn too_many(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        stack.push(Tensor::from([1.0]));
        Ok(())
    }

    #[torch_impl(boxed)]
    fn of_another_type(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        stack.drop_last(1);
        stack.push(1.0);
        Ok(())
    }

    fn counts_up(this: &Tensor) -> Result<Tensor> {
        Tensor::full(this.sizes(), CALLS.fetch_add(1, Ordering::Relaxed), DType::Int64, Device::CPU)
    }

    fn writes(this: &Tensor) -> Result<Tensor> {
        double_in_place(&mut this.clone())?;
        doubled(this)
    }

    fn moves(this: &Tensor) -> Result<Tensor> {
        let result = doubled(this)?;
        this.clone().set_geometry(&[this.numel()], &[1], 0)?;
        Ok(result)
    }

    fn writes_second<'a>(this: &'a mut Tensor, other: &Tensor) -> Result<&'a mut Tensor> {
        double_in_place(this)?;
        double_in_place(&mut other.clone())?;
        Ok(this)
    }

    fn never_writes_(this: &mut Tensor) -> Result<&mut Tensor> {
        Ok(this)
    }

    fn silent_(this: &mut Tensor) -> Result<&mut Tensor> {
        let values = this.to_vec::<f64>()?;
        let _uncounted = AutoDispatchBelowADInplaceOrView::new();
        this.fill_from(values.into_iter().map(|value| 2.0 * value))?;
        Ok(this)
    }

    fn loud(this: &Tensor) -> Result<Tensor> {
        this.bump_version();
        doubled(this)
    }

    fn returns_view(this: &Tensor) -> Result<Tensor> {
        this.strided_view(this.sizes(), this.strides(), this.storage_offset())
    }

    fn returns_itself(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn half(this: &Tensor) -> Result<Tensor> {
        let mut sizes = this.sizes().to_vec();
        sizes[0] /= 2;
        this.strided_view(&sizes, this.strides(), this.storage_offset())
    }

    fn views_the_other(_: &Tensor, other: &Tensor) -> Result<Tensor> {
        Ok(other.clone())
    }

    #[torch_impl(boxed)]
    fn another_(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        let mut this: Tensor = stack.pop_as()?;
        double_in_place(&mut this)?;
        stack.push(doubled(&this)?);
        Ok(())
    }

    fn twins(this: &Tensor) -> Result<(Tensor, Tensor)> {
        let result = doubled(this)?;
        Ok((result.clone(), result))
    }

    fn no_meta(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn meta_sizes(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn meta_strides(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn meta_dtype(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn meta_device(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn meta_refuses(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn meta_list(this: &Tensor) -> Result<Vec<Tensor>> {
        Ok(vec![doubled(this)?, doubled(this)?])
    }

    fn meta_number(this: &Tensor) -> Result<i64> {
        Ok(this.numel())
    }

    fn meta_offset(this: &Tensor) -> Result<Tensor> {
        this.strided_view(&this.sizes()[1..], &this.strides()[1..], this.storage_offset() + this.strides()[0])
    }

    fn meta_copies(this: &Tensor) -> Result<Tensor> {
        Ok(this.clone())
    }

    fn meta_grows_(this: &mut Tensor) -> Result<()> {
        double_in_place(this)?;
        resize(this, &[this.numel() + 1])
    }

    fn meta_of_ones(this: &Tensor) -> Result<Tensor> {
        Tensor::zeros(&[1, this.numel()], DType::Float64, Device::CPU)
    }

    fn ignores_strides(this: &Tensor) -> Result<Tensor> {
        raw(this, this.storage_offset()).or_else(|_| doubled(this))
    }

    fn ignores_offset(this: &Tensor) -> Result<Tensor> {
        if this.is_contiguous(MemoryFormat::Contiguous) { raw(this, 0) } else { doubled(this) }
    }

    fn needs_contiguous(this: &Tensor) -> Result<Tensor> {
        ensure!(this.is_contiguous(MemoryFormat::Contiguous), Shape, "not contiguous");
        doubled(this)
    }

    fn list_strides(tensors: &[Tensor]) -> Result<Tensor> {
        let first = tensors.first().ok_or_else(|| Error::new(ErrorKind::Argument, "no tensors"))?;
        raw(first, first.storage_offset()).or_else(|_| doubled(first))
    }

    fn empty_refused(this: &Tensor) -> Result<Tensor> {
        ensure!(this.numel() > 0, Shape, "nothing to double");
        doubled(this)
    }

    fn empty_panics(this: &Tensor) -> Result<Tensor> {
        let values = this.to_vec::<f64>()?;
        let largest = values.iter().copied().reduce(f64::max).unwrap();
        Tensor::full(this.sizes(), largest, DType::Float64, Device::CPU)
    }

    fn other_in_place(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    fn other_in_place_(this: &mut Tensor) -> Result<&mut Tensor> {
        double_in_place(this)?;
        double_in_place(this)?;
        Ok(this)
    }

    fn functional_(this: &mut Tensor) -> Result<&mut Tensor> {
        double_in_place(this)?;
        Ok(this)
    }

    fn functional(this: &Tensor) -> Result<Tensor> {
        doubled(&doubled(this)?)
    }

    fn other_out(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    #[torch_impl("other_out.out")]
    fn other_out_out<'o>(this: &Tensor, out: &'o mut Tensor) -> Result<&'o mut Tensor> {
        resize(out, this.sizes())?;
        out.fill(1.0)?;
        Ok(out)
    }

    fn replaces_out(this: &Tensor) -> Result<Tensor> {
        doubled(this)
    }

    #[torch_impl("replaces_out.out")]
    fn replaces_out_out<'o>(_: &Tensor, out: &'o mut Tensor) -> Result<&'o mut Tensor> {
        ensure!(out.numel() > 0, Shape, "`out` has no elements");
        Ok(out)
    }
}

/// The meta result of all of these operators: a tensor of the same sizes.
fn described(this: &Tensor) -> Result<Tensor> {
    Tensor::empty(this.sizes(), this.dtype(), Device::META)
}

#[torch_impl(faulty, Meta)]
mod meta {
    use super::*;

    fn good(this: &Tensor, _: Scalar) -> Result<Tensor> {
        described(this)
    }

    fn good_(this: &mut Tensor, _: Scalar) -> Result<&mut Tensor> {
        Ok(this)
    }

    #[torch_impl("good.out")]
    fn good_out<'o>(_: &Tensor, _: Scalar, out: &'o mut Tensor) -> Result<&'o mut Tensor> {
        Ok(out)
    }

    fn half(this: &Tensor) -> Result<Tensor> {
        let mut sizes = this.sizes().to_vec();
        sizes[0] /= 2;
        this.strided_view(&sizes, this.strides(), this.storage_offset())
    }

    fn writes(this: &Tensor) -> Result<Tensor> {
        described(this)
    }

    fn meta_sizes(_: &Tensor) -> Result<Tensor> {
        Tensor::empty(&[1, 1], DType::Float64, Device::META)
    }

    fn meta_strides(this: &Tensor) -> Result<Tensor> {
        Tensor::empty_strided(this.sizes(), &[1, 7], DType::Float64, Device::META)
    }

    fn meta_dtype(this: &Tensor) -> Result<Tensor> {
        Tensor::empty(this.sizes(), DType::Float32, Device::META)
    }

    fn meta_device(this: &Tensor) -> Result<Tensor> {
        Tensor::empty(this.sizes(), DType::Float64, Device::CPU)
    }

    fn meta_refuses(_: &Tensor) -> Result<Tensor> {
        bail!(Shape, "who knows")
    }

    fn meta_list(_: &Tensor) -> Result<Vec<Tensor>> {
        Ok(Vec::new())
    }

    fn meta_number(this: &Tensor) -> Result<i64> {
        Ok(this.numel() + 1)
    }

    fn meta_offset(this: &Tensor) -> Result<Tensor> {
        this.strided_view(&this.sizes()[1..], &this.strides()[1..], this.storage_offset())
    }

    fn meta_copies(this: &Tensor) -> Result<Tensor> {
        described(this)
    }

    fn meta_grows_(_: &mut Tensor) -> Result<()> {
        Ok(())
    }

    fn meta_of_ones(this: &Tensor) -> Result<Tensor> {
        Tensor::empty_strided(&[1, this.numel()], &[1, 1], DType::Float64, Device::META)
    }

    fn empty_refused(this: &Tensor) -> Result<Tensor> {
        described(this)
    }
}

/// Does not count the write: otherwise the default kernel would, by the schema alone.
#[torch_impl(faulty::silent_, ADInplaceOrView, fallthrough)]
fn uncounted();

fn x() -> Tensor {
    Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
}

fn handle(name: &str) -> OperatorHandle {
    torch_library::Dispatcher::global().find(&format!("faulty::{name}")).unwrap()
}

/// The message of the fault of one kind that is found with one or two tensors.
fn fault(name: &str, check: Check) -> String {
    let arguments = handle(name).schema().unwrap().arguments.iter();
    let sample = arguments.take_while(|argument| argument.default.is_none() && !argument.kwarg_only);
    let sample: Vec<Value<'static>> = sample
        .map(|argument| match &*argument.ty.to_string() {
            "Tensor" => Value::Tensor(x()),
            _ => Value::Tensors(vec![x(), x()].into()),
        })
        .collect();
    let report = OpCheck::new(handle(name)).run([sample]);
    let found = report.faults.iter().find(|fault| fault.check == check);
    found.unwrap_or_else(|| panic!("{check:?} is not among them: {report}")).message.clone()
}

#[test]
fn operators_that_keep_their_word_pass() {
    for name in ["good", "good_"] {
        opcheck(handle(name), [vec![Value::Tensor(x())], vec![Value::Tensor(x()), Value::Int(2)]]).unwrap();
    }
    opcheck(handle("half"), [vec![Value::Tensor(x())]]).unwrap();
    let out = Tensor::zeros(&[2, 3], DType::Float64, Device::CPU).unwrap();
    let sample = vec![Value::Tensor(x()), Value::Int(2), Value::Tensor(out)];
    opcheck(handle("good.out"), [sample]).unwrap();
}

#[test]
fn registrations_are_looked_at() {
    assert_eq!(fault("no_kernel", Check::Registration), "has no kernel for the CPU");
    let tag = "has the tag `inplace_view`, and a name that does not end with `_`";
    assert_eq!(fault("view_by_tag", Check::Registration), tag);
}

#[test]
fn samples_are_accepted() {
    let refused = "fails for a sample: faulty::refuses: sizes [2, 3] are not what I like";
    assert_eq!(fault("refuses", Check::Accepts), refused);
    assert_eq!(fault("panics", Check::Accepts), "faulty::panics panics: 2 dimensions");
    let report = OpCheck::new(handle("good")).run([vec![Value::from("1")]]);
    let unfit = "a sample does not fit the schema: argument 1 `self` is of type `Tensor`, received `str`";
    assert_eq!(report.faults[0].message, unfit);
}

#[test]
fn returns_fit_the_schema() {
    assert_eq!(fault("too_many", Check::Returns), "leaves 2 returns, the schema has 1");
    assert_eq!(fault("of_another_type", Check::Returns), "return 0 is of type float, the schema says int");
}

#[test]
fn results_are_the_same_again() {
    let again = fault("counts_up", Check::Deterministic);
    assert!(
        again.starts_with("a second call with the same arguments gives return 0: element 0 is"),
        "{again}"
    );
    let help = "an operator that draws random numbers has the tag `nondeterministic_seeded`";
    assert!(again.ends_with(help), "{again}");
}

#[test]
fn writes_are_declared() {
    assert_eq!(fault("writes", Check::Mutation), "writes to `self`, which the schema only reads");
    let moves = "changes the sizes or the memory of `self`, which the schema only reads";
    assert_eq!(fault("moves", Check::Mutation), moves);
    assert_eq!(fault("writes_second", Check::Mutation), "writes to `other`, which the schema only reads");
    let never = "no sample changes `self`, which the schema says is written to";
    assert_eq!(fault("never_writes_", Check::Mutation), never);
}

#[test]
fn writes_are_counted() {
    let silent = "writes to `self` without bumping its version: `bump_version` is missing, or a layer at \
                  ADInplaceOrView";
    assert_eq!(fault("silent_", Check::Version), silent);
    assert_eq!(fault("loud", Check::Version), "bumps the version of `self`, which it only reads");
}

#[test]
fn shared_memory_is_declared() {
    let shares = "return 0 shares memory with `self`, the schema says it does not";
    assert_eq!(fault("returns_view", Check::Aliasing), shares);
    assert_eq!(fault("returns_itself", Check::Aliasing), shares);
    let other = "return 0 shares memory with `other`, the schema says it does not";
    assert_eq!(fault("views_the_other", Check::Aliasing), other);
    let another = "return 0 is another tensor, the schema says it is `self` itself";
    assert_eq!(fault("another_", Check::Aliasing), another);
    let twins = "returns 0 and 1 share memory, the schema says they do not";
    assert_eq!(fault("twins", Check::Aliasing), twins);
}

#[test]
fn meta_knows_what_the_cpu_gives() {
    let check = |name: &str, expected: &str| assert_eq!(fault(name, Check::Meta), expected);
    check(
        "no_meta",
        "has no kernel for Meta, so the sizes and types of its results are unknown without running it: write one, or \
         let the CPU's kernel serve both, `#[torch_impl(faulty, CPU, Meta)]`",
    );
    let cpu = "and on the CPU float64 of sizes [2, 3], strides [3, 1]";
    check("meta_sizes", &format!("return 0 is float64 of sizes [1, 1], strides [1, 1] on meta, {cpu}"));
    check("meta_strides", &format!("return 0 is float64 of sizes [2, 3], strides [1, 7] on meta, {cpu}"));
    check("meta_dtype", &format!("return 0 is float32 of sizes [2, 3], strides [3, 1] on meta, {cpu}"));
    check("meta_device", &format!("return 0 is float64 of sizes [2, 3], strides [3, 1] on cpu, {cpu}"));
    let refuses = "fails on meta with a sample that the CPU accepts: faulty::meta_refuses: who knows";
    check("meta_refuses", refuses);
    check("meta_list", "return 0 is 0 tensors on meta, and on the CPU 2 tensors");
    check("meta_number", "return 0 is Int(7) on meta, and on the CPU Int(6)");
    let offset = "return 0 is float64 of sizes [3], strides [1] on meta, and on the CPU float64 of sizes [3], \
                  strides [1], offset 3";
    check("meta_offset", offset);
    check("meta_copies", "return 0 shares no memory with `self` on meta, and is it on the CPU");
    let grows = "`self` after the call is float64 of sizes [2, 3], strides [3, 1] on meta, and on the CPU float64 of \
                 sizes [7], strides [1]";
    check("meta_grows_", grows);
}

#[test]
fn strides_that_lead_nowhere_do_not_matter() {
    let report = OpCheck::new(handle("meta_of_ones")).run([vec![Value::Tensor(x())]]);
    assert_eq!(report.faults, []);
}

#[test]
fn layouts_do_not_matter() {
    let strides = "with `self` with gaps: return 0: element 1 is 0 instead of 4";
    assert_eq!(fault("ignores_strides", Check::Layouts), strides);
    let offset = "with `self` at an offset: return 0: element 0 is 0 instead of 2";
    assert_eq!(fault("ignores_offset", Check::Layouts), offset);
    let contiguous =
        "with `self` with gaps: fails, but succeeds without: faulty::needs_contiguous: not contiguous";
    assert_eq!(fault("needs_contiguous", Check::Layouts), contiguous);
    let list = "with `tensors` with gaps: return 0: element 1 is 0 instead of 4";
    assert_eq!(fault("list_strides", Check::Layouts), list);
}

#[test]
fn nothing_is_a_tensor_too() {
    let refused = "tensors without elements are accepted on meta, and not on the CPU: faulty::empty_refused: nothing to double";
    assert_eq!(fault("empty_refused", Check::Empty), refused);
    let panics = fault("empty_panics", Check::Accepts);
    assert!(panics.starts_with("faulty::empty_panics panics: called `Option::unwrap()`"), "{panics}");
}

#[test]
fn variants_agree() {
    let in_place = "faulty::other_in_place_ gives another result: element 0 is 4 instead of 2";
    assert_eq!(fault("other_in_place", Check::InPlace), in_place);
    let out = "faulty::other_out.out with an empty `out`: return 0: element 0 is 1 instead of 2";
    assert_eq!(fault("other_out", Check::Out), out);
    let replaces =
        "faulty::replaces_out.out with an empty `out` fails: faulty::replaces_out.out: `out` has no elements";
    assert_eq!(fault("replaces_out", Check::Out), replaces);
    let functional = "in a program without writes, where faulty::functional runs instead: return 0: element 0 is 4 \
                      instead of 2";
    assert_eq!(fault("functional_", Check::Functionalize), functional);
}

#[test]
fn samples_have_values() {
    let sample = Tensor::empty(&[2], DType::Float64, Device::META).unwrap();
    let report = OpCheck::new(handle("no_meta")).run([vec![Value::Tensor(sample)]]);
    let [Fault { check, message }] = &report.faults[..] else { panic!("{report}") };
    assert_eq!((*check, report.calls), (Check::Accepts, 0));
    assert!(message.starts_with("cannot copy a sample for a call: "), "{message}");
}

#[test]
fn a_check_can_be_left_out() {
    let report = OpCheck::new(handle("no_meta")).without(Check::Meta).run([vec![Value::Tensor(x())]]);
    assert_eq!(report.faults, []);
    assert!(report.calls > 5);
}
