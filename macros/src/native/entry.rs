//! One entry of the file: its fields with their types, and what one entry alone can say wrong.

use torch_library_schema::{Mode, Schema, Type};

use super::fields::{Dispatch, Fields, Kept};
use super::func::{Func, Kind};
use super::keys;
use super::name::Name;
use super::schema_rules::{self, Broken};
use super::spelling;
use super::text::{Mistake, Spot, Text};
use super::yaml::Node;

/// An operator, as an entry or `autogen` declares it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where `func` stands.
    pub(crate) spot: Spot,
    pub(crate) namespace: String,
    pub(crate) func: Func,
    pub(crate) is_function: bool,
    pub(crate) is_method: bool,
    /// Empty where nothing is registered. Without a table, the one that stands for it.
    pub(crate) dispatch: Vec<Dispatch>,
    pub(crate) tags: Vec<String>,
    pub(crate) autogen: Vec<(Name, Spot)>,
    pub(crate) structured: bool,
    pub(crate) structured_delegate: Option<(Name, Spot)>,
    pub(crate) manual_cpp_binding: bool,
    pub(crate) device_check: bool,
    pub(crate) device_guard: bool,
    pub(crate) kept: Kept,
    /// `autogen` made it, of the operator of this name.
    pub(crate) generated_from: Option<Name>,
}

impl Entry {
    /// Reads an entry.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub(crate) fn read(node: &Node, text: &Text) -> Result<Self, Mistake> {
        let mut fields = Fields::new(node)?;
        let Some(func_node) = fields.take("func") else {
            return Err(node.spot.mistake("expected `func`, the schema of the operator"));
        };
        let (namespace, func) = read_func(func_node, text)?;
        let (is_function, is_method) = fields.variants()?;
        let tags = fields.tags(&namespace, &func)?;
        let structured = fields.flag("structured", false)?;
        let table = fields.dispatch()?;
        let mut entry = Entry {
            spot: func_node.spot,
            is_function,
            is_method,
            tags,
            autogen: fields.autogen()?,
            structured,
            structured_delegate: fields.delegate()?,
            manual_cpp_binding: fields.flag("manual_cpp_binding", false)?,
            device_check: fields.device_check()?,
            device_guard: fields.flag("device_guard", true)?,
            kept: fields.kept(structured)?,
            dispatch: Vec::new(),
            generated_from: None,
            namespace,
            func,
        };
        fields.finish()?;
        entry.dispatch = entry.table(table)?;
        entry.check()?;
        Ok(entry)
    }

    /// The dispatch table, or what stands for it.
    fn table(&self, table: Option<(Vec<Dispatch>, Spot)>) -> Result<Vec<Dispatch>, Mistake> {
        if let Some((table, spot)) = table {
            self.check_table(&table, spot)?;
            return Ok(table);
        }
        if self.kept.manual_kernel_registration || self.structured || self.structured_delegate.is_some() {
            return Ok(Vec::new());
        }
        let name = self.func.name.operator();
        let is_factory = self.func.tensor_options().is_some() && !self.func.has_tensor();
        if name.starts_with("new_") || name.ends_with("_like") || is_factory {
            let message = format!(
                "`{name}` makes a tensor, so it is not composed of other operators: it needs a dispatch table, \
                 as `dispatch: {{CompositeExplicitAutograd: {name}}}`"
            );
            return Err(self.spot.mistake(message));
        }
        let kernel = self.default_kernel();
        Ok(vec![Dispatch { keys: vec![keys::IMPLICIT], kernel, spot: self.spot }])
    }

    /// The kernel where no table names one: the operator's name in Rust.
    pub(crate) fn default_kernel(&self) -> String {
        self.func.name.to_string().replace('.', "_")
    }

    fn check_table(&self, table: &[Dispatch], spot: Spot) -> Result<(), Mistake> {
        if self.kept.manual_kernel_registration {
            let message =
                "nothing of this is registered with `manual_kernel_registration`: leave out one of them";
            return Err(spot.mistake(message));
        }
        let keys = || table.iter().flat_map(|line| line.keys.iter().copied());
        if let Some(message) = keys::clash(keys()) {
            return Err(spot.mistake(message));
        }
        if self.structured_delegate.is_some()
            && let Some(key) = keys().find(|key| keys::STRUCTURED.contains(key))
        {
            return Err(spot.mistake(format!("the kernel for {key} is that of the operator it delegates to")));
        }
        if !self.kept.ufunc_inner_loop.is_empty()
            && let Some(key) = keys().find(|key| matches!(*key, "CPU" | "CUDA"))
        {
            return Err(spot.mistake(format!("the kernel for {key} is made of `ufunc_inner_loop`")));
        }
        let [Dispatch { keys, kernel, spot }] = table else { return Ok(()) };
        if keys[..] != [keys::IMPLICIT] || self.structured_delegate.is_some() || kernel.contains("_symint") {
            return Ok(());
        }
        let default = self.default_kernel();
        if *kernel == default || *kernel == self.func.cpp_name() {
            return Err(spot.mistake(format!("leave out the table: without one, the kernel is `{default}`")));
        }
        Err(spot.mistake(format!("name the kernel `{default}`, and leave out the table")))
    }

    /// What the fields of an entry may not say together.
    fn check(&self) -> Result<(), Mistake> {
        let kind = self.func.kind();
        let writes_out = matches!(kind, Kind::Out | Kind::Scratch);
        let wrong = |message: &str| Err(self.spot.mistake(message));
        if writes_out && self.is_method {
            return wrong("an operator with `out` arguments is a function, not a method");
        }
        let this = self.func.this().map(|this| &self.func.positional()[this]);
        if self.is_method && !self.manual_cpp_binding && this.is_none_or(|this| this.ty != Type::Tensor) {
            return wrong("a method needs an argument `Tensor self`");
        }
        if self.is_method && self.kept.python_module.is_some() {
            return wrong("what is in a Python module is a function, not a method");
        }
        if self.structured && kind != Kind::Out {
            return wrong(
                "`structured` stands at the variant with `out`; here, `structured_delegate` names that one",
            );
        }
        if self.structured_delegate.is_some() && writes_out {
            return wrong(
                "`structured_delegate` stands at the variants without `out`; here, `structured: True`",
            );
        }
        if (self.structured || self.structured_delegate.is_some()) && !self.device_guard {
            return wrong("structured kernels always run under a device guard: leave out `device_guard`");
        }
        if self.structured
            && self.dispatch.iter().any(|line| line.keys.iter().any(|key| keys::is_implicit(key)))
        {
            return wrong("a structured kernel is written for a backend, not composed of other operators");
        }
        if !self.kept.precomputed.is_empty() && !self.structured {
            return wrong("`precomputed` is for structured kernels: `structured: True`");
        }
        if self.kept.structured_inherits.is_some() && !self.structured {
            return wrong("`structured_inherits` is for structured kernels: `structured: True`");
        }
        if !self.kept.ufunc_inner_loop.is_empty() && !self.structured {
            return wrong("`ufunc_inner_loop` is for structured kernels: `structured: True`");
        }
        if self.kept.use_const_ref_for_mutable_tensors && writes_out {
            return wrong("`use_const_ref_for_mutable_tensors` is not for variants with `out`");
        }
        let has_default = |name: &String| {
            self.func
                .schema
                .arguments
                .iter()
                .any(|argument| argument.name == *name && argument.default.is_some())
        };
        if let Some(name) = self.kept.cpp_no_default_args.iter().find(|name| !has_default(name)) {
            return wrong(&format!(
                "`cpp_no_default_args` names `{name}`, no argument of that name has a default"
            ));
        }
        if self.func.name.to_string().starts_with("_foreach") && self.device_check {
            return wrong("`_foreach` operators take tensors of several devices: `device_check: NoCheck`");
        }
        self.check_random()
    }

    /// What draws random numbers says so.
    fn check_random(&self) -> Result<(), Mistake> {
        let name = self.func.name.to_string();
        let is_dropout = name.contains("dropout")
            || self.func.schema.arguments.iter().any(|argument| argument.name.contains("dropout"));
        let is_random = (name.contains("rand") && !name.contains("_philox_"))
            || (is_dropout
                && !name.contains("backward")
                && self.func.name.operator() != "_cudnn_init_dropout_state")
            || self.func.has_generator();
        if is_random && !self.has_tag("nondeterministic_seeded") {
            return Err(self.spot.mistake(format!(
                "`{name}` draws random numbers by its name or arguments: `tags: nondeterministic_seeded`"
            )));
        }
        Ok(())
    }

    pub(crate) fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    /// Whether it has a kernel for this key.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.dispatch.iter().any(|line| line.keys.contains(&key))
    }

    /// Whether a return is a view of an argument, or `self` becomes another view.
    pub(crate) fn is_view(&self) -> bool {
        let is_view = |ret: &torch_library_schema::Return| {
            Func::annotation(ret.alias.as_deref()).is_some_and(|alias| !alias.is_write)
        };
        let name = self.func.name.to_string();
        self.func.schema.returns.iter().any(is_view)
            || (self.has_tag("inplace_view") && name != "resize_" && name != "resize_as_")
            || self.func.schema.arguments.iter().any(|argument| {
                Func::annotation(argument.alias.as_deref()).is_some_and(|alias| alias.after.is_wildcard())
            })
    }
}

/// The namespace and the schema of `func`.
fn read_func(node: &Node, text: &Text) -> Result<(String, Func), Mistake> {
    let words = node.as_text()?;
    let part = |start: usize, length: usize| match text.reads(node.spot, words) {
        true => Spot { column: node.spot.column + start, length, ..node.spot },
        false => node.spot,
    };
    let before = |end: usize| words[..end].chars().count();
    let mut schema = Schema::parse(words, Mode::Strict).map_err(|error| {
        let (start, end) = (before(error.span.start), before(error.span.end));
        let help = error.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        part(start, end - start).mistake(format!("{}{help}", error.message))
    })?;
    let name_end = words.find('(').unwrap_or(words.len());
    let name = Name::new(&schema.name.name, &schema.name.overload)
        .map_err(|message| part(0, before(name_end)).mistake(message))?;
    let right = spelling::spelled(words);
    if right != words {
        return Err(node.spot.mistake(format!("the generator of PyTorch knows one spelling: `{right}`")));
    }
    let namespace = schema.name.namespace.take().unwrap_or_else(|| "aten".to_owned());
    if schema.is_vararg || schema.is_varret {
        return Err(node.spot.mistake("`...` has no place in a declaration with kernels"));
    }
    let func = Func { name, schema };
    match schema_rules::check(&func) {
        Ok(()) => Ok((namespace, func)),
        Err(Broken { message, argument }) => {
            let place = argument.and_then(|argument| find_word(words, name_end, &argument));
            let (start, end) = place.unwrap_or((0, words.len()));
            Err(part(before(start), before(end) - before(start)).mistake(message))
        }
    }
}

/// Where an argument's name stands in a schema: before `,`, `)` or `=`.
fn find_word(words: &str, from: usize, word: &str) -> Option<(usize, usize)> {
    let mut ends = words[from..].match_indices(word).map(|(at, _)| (from + at, from + at + word.len()));
    ends.find(|(start, end)| words[..*start].ends_with(' ') && words[*end..].starts_with([',', ')', '=']))
}
