//! The types of the schema language.

mod subtype;
mod union;

pub(crate) use union::{optional, union};

use std::fmt;

/// A schema type.
///
/// Some types are *real* types with another *fake* type: for the interpreter, the boxed stack and the checks of a
/// kernel, `ScalarType`, `Layout`, `MemoryFormat` and `SymInt` are all `int`; [`fake`](Self::fake) converts them.
///
/// PyTorch: `c10::Type` and its subclasses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the language")]
pub enum Type {
    Tensor,
    /// An `int`, `float`, `complex` or `bool`, which is determined by the call.
    Scalar,
    Int,
    SymInt,
    Float,
    Complex,
    Bool,
    SymBool,
    Str,
    ScalarType,
    Layout,
    MemoryFormat,
    Device,
    Stream,
    Generator,
    Storage,
    QScheme,
    Quantizer,
    None,
    Capsule,
    Any,
    AnyClass,
    AnyEnum,
    /// `T?`
    Optional(Box<Type>),
    /// `T[]`; the length of `T[N]` is part of the argument, not of the type.
    List(Box<Type>),
    /// `(A, B)`
    Tuple(Vec<Type>),
    /// `Dict(K, V)`
    Dict(Box<Type>, Box<Type>),
    /// `Union(A, B)`: at least two types, flat, sorted, none a subtype of another.
    Union(Vec<Type>),
    /// `Future(T)`
    Future(Box<Type>),
    /// `Await(T)`
    Await(Box<Type>),
    /// `RRef(T)`
    RRef(Box<Type>),
    /// A custom class by its full name, `__torch__.torch.classes.ns.Name`.
    Class(String),
    /// A type variable: a lower-case name that is not a type.
    Var(String),
}

/// The outermost kind of a [`Type`], with PyTorch's names and in PyTorch's order.
///
/// PyTorch: `c10::TypeKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are PyTorch's")]
pub enum TypeKind {
    AnyType,
    AnyEnumType,
    TensorType,
    StorageType,
    TupleType,
    ListType,
    DictType,
    NumberType,
    FloatType,
    ComplexType,
    FutureType,
    AwaitType,
    RRefType,
    IntType,
    NoneType,
    StringType,
    GeneratorType,
    QuantizerType,
    BoolType,
    OptionalType,
    VarType,
    DeviceObjType,
    StreamObjType,
    ClassType,
    CapsuleType,
    QSchemeType,
    ScalarTypeType,
    LayoutType,
    MemoryFormatType,
    AnyClassType,
    SymIntType,
    SymBoolType,
    UnionType,
}

impl fmt::Display for TypeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Type {
    /// The type with this name, if it is a single word.
    pub(crate) fn named(name: &str) -> Option<Type> {
        Some(match name {
            "Tensor" => Type::Tensor,
            "int" | "DeviceIndex" | "ConstQuantizerPtr" => Type::Int,
            "SymInt" => Type::SymInt,
            "bool" => Type::Bool,
            "float" => Type::Float,
            "Scalar" => Type::Scalar,
            "str" => Type::Str,
            "ScalarType" => Type::ScalarType,
            "Layout" => Type::Layout,
            "Device" => Type::Device,
            "MemoryFormat" => Type::MemoryFormat,
            "Generator" => Type::Generator,
            "complex" => Type::Complex,
            "SymBool" => Type::SymBool,
            "Stream" => Type::Stream,
            "Storage" => Type::Storage,
            "QScheme" => Type::QScheme,
            "Quantizer" => Type::Quantizer,
            "None" | "NoneType" => Type::None,
            "Capsule" => Type::Capsule,
            "Any" => Type::Any,
            "AnyClassType" => Type::AnyClass,
            "AnyEnumType" => Type::AnyEnum,
            _ => return None,
        })
    }

    /// The type that the interpreter sees: `int` for `SymInt`, `ScalarType`, `Layout` and `MemoryFormat`, also inside
    /// lists and optionals.
    ///
    /// ```
    /// use torch_library_schema::{Mode, Schema};
    ///
    /// let schema = Schema::parse("f(SymInt[]? size) -> ()", Mode::Strict)?;
    /// assert_eq!(schema.arguments[0].ty.fake().to_string(), "int[]?");
    /// # Ok::<(), torch_library_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn fake(&self) -> Type {
        match self {
            Type::SymInt | Type::ScalarType | Type::Layout | Type::MemoryFormat => Type::Int,
            Type::Optional(inner) => Type::Optional(Box::new(inner.fake())),
            Type::List(element) => Type::List(Box::new(element.fake())),
            other => other.clone(),
        }
    }

    /// The outermost kind of this type; that of [`fake`](Self::fake) may differ.
    pub fn kind(&self) -> TypeKind {
        match self {
            Type::Tensor => TypeKind::TensorType,
            Type::Scalar => TypeKind::NumberType,
            Type::Int => TypeKind::IntType,
            Type::SymInt => TypeKind::SymIntType,
            Type::Float => TypeKind::FloatType,
            Type::Complex => TypeKind::ComplexType,
            Type::Bool => TypeKind::BoolType,
            Type::SymBool => TypeKind::SymBoolType,
            Type::Str => TypeKind::StringType,
            Type::ScalarType => TypeKind::ScalarTypeType,
            Type::Layout => TypeKind::LayoutType,
            Type::MemoryFormat => TypeKind::MemoryFormatType,
            Type::Device => TypeKind::DeviceObjType,
            Type::Stream => TypeKind::StreamObjType,
            Type::Generator => TypeKind::GeneratorType,
            Type::Storage => TypeKind::StorageType,
            Type::QScheme => TypeKind::QSchemeType,
            Type::Quantizer => TypeKind::QuantizerType,
            Type::None => TypeKind::NoneType,
            Type::Capsule => TypeKind::CapsuleType,
            Type::Any => TypeKind::AnyType,
            Type::AnyClass => TypeKind::AnyClassType,
            Type::AnyEnum => TypeKind::AnyEnumType,
            Type::Optional(_) => TypeKind::OptionalType,
            Type::List(_) => TypeKind::ListType,
            Type::Tuple(_) => TypeKind::TupleType,
            Type::Dict(..) => TypeKind::DictType,
            Type::Union(_) => TypeKind::UnionType,
            Type::Future(_) => TypeKind::FutureType,
            Type::Await(_) => TypeKind::AwaitType,
            Type::RRef(_) => TypeKind::RRefType,
            Type::Class(_) => TypeKind::ClassType,
            Type::Var(_) => TypeKind::VarType,
        }
    }

    /// The type inside an optional, or the type itself.
    pub fn without_optional(&self) -> &Type {
        match self {
            Type::Optional(inner) => inner,
            other => other,
        }
    }
}

/// The type as a schema spells it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Tensor => "Tensor",
            Type::Scalar => "Scalar",
            Type::Int => "int",
            Type::SymInt => "SymInt",
            Type::Float => "float",
            Type::Complex => "complex",
            Type::Bool => "bool",
            Type::SymBool => "SymBool",
            Type::Str => "str",
            Type::ScalarType => "ScalarType",
            Type::Layout => "Layout",
            Type::MemoryFormat => "MemoryFormat",
            Type::Device => "Device",
            Type::Stream => "Stream",
            Type::Generator => "Generator",
            Type::Storage => "Storage",
            Type::QScheme => "QScheme",
            Type::Quantizer => "Quantizer",
            Type::None => "NoneType",
            Type::Capsule => "Capsule",
            Type::Any => "Any",
            Type::AnyClass => "AnyClassType",
            Type::AnyEnum => "AnyEnumType",
            Type::Class(name) | Type::Var(name) => name,
            Type::Optional(inner) => return write!(f, "{inner}?"),
            Type::List(element) => return write!(f, "{element}[]"),
            Type::Dict(key, value) => return write!(f, "Dict({key}, {value})"),
            Type::Future(inner) => return write!(f, "Future({inner})"),
            Type::Await(inner) => return write!(f, "Await({inner})"),
            Type::RRef(inner) => return write!(f, "RRef({inner})"),
            Type::Tuple(members) => return write_members(f, "", members),
            Type::Union(members) => return union::write(f, members),
        })
    }
}

fn write_members(f: &mut fmt::Formatter<'_>, name: &str, members: &[Type]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (index, member) in members.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{member}")?;
    }
    f.write_str(")")
}
