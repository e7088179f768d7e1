//! The value itself.

use indexmap::IndexMap;

/// The members of an object, in the order they came; a name that came twice keeps its first place and last value.
pub type ExactFields = IndexMap<String, ExactJson>;

/// A JSON value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ExactJson {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number written without `.`, `e` or `E`.
    Int(ExactInt),
    /// Any other number.
    Float(f64),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<ExactJson>),
    /// An object.
    Object(ExactFields),
}

/// An integer of any size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExactInt {
    /// One that fits.
    Small(i64),
    /// The decimal digits of one that does not, with a minus where there is one.
    Big(Box<str>),
}

impl ExactJson {
    /// The member of an object, if this is one and has it.
    pub fn get(&self, name: &str) -> Option<&ExactJson> {
        self.as_object()?.get(name)
    }

    /// What a chain of member names leads to.
    pub fn at(&self, names: &[&str]) -> Option<&ExactJson> {
        names.iter().try_fold(self, |value, name| value.get(name))
    }

    /// The text of a member, if it is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(ExactInt::Small(number)) => Some(*number),
            _ => None,
        }
    }

    /// The number, if it is one, as nearly as a double holds it.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(ExactInt::Small(number)) => Some(*number as f64),
            Self::Int(ExactInt::Big(digits)) => digits.parse().ok(),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_array(&self) -> Option<&[ExactJson]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&ExactFields> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether Python would take it for true: neither null, false, zero nor empty.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(yes) => *yes,
            Self::Int(ExactInt::Small(number)) => *number != 0,
            Self::Int(ExactInt::Big(_)) => true,
            Self::Float(number) => *number != 0.0,
            Self::String(text) => !text.is_empty(),
            Self::Array(items) => !items.is_empty(),
            Self::Object(fields) => !fields.is_empty(),
        }
    }
}

impl ExactJson {
    /// Whether it can be sealed: no float in it is infinite or not a number.
    pub fn is_sealable(&self) -> bool {
        self.unsealable().is_none()
    }

    /// Where the first float is that is infinite or not a number: names and places with `/` between, as in `a/0/b`.
    pub fn unsealable(&self) -> Option<String> {
        let inside = |name: &dyn std::fmt::Display, value: &ExactJson| {
            let rest = value.unsealable()?;
            Some(if rest.is_empty() { name.to_string() } else { format!("{name}/{rest}") })
        };
        match self {
            Self::Float(number) if !number.is_finite() => Some(String::new()),
            Self::Array(items) => items.iter().enumerate().find_map(|(at, item)| inside(&at, item)),
            Self::Object(fields) => fields.iter().find_map(|(name, value)| inside(name, value)),
            _ => None,
        }
    }
}

impl From<&str> for ExactJson {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for ExactJson {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for ExactJson {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<i64> for ExactJson {
    fn from(number: i64) -> Self {
        Self::Int(ExactInt::Small(number))
    }
}

impl From<u64> for ExactJson {
    fn from(number: u64) -> Self {
        Self::Int(match i64::try_from(number) {
            Ok(small) => ExactInt::Small(small),
            Err(_) => ExactInt::Big(number.to_string().into()),
        })
    }
}

impl From<usize> for ExactJson {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<f64> for ExactJson {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl<T: Into<ExactJson>> From<Vec<T>> for ExactJson {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<ExactJson>> From<Option<T>> for ExactJson {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<ExactFields> for ExactJson {
    fn from(fields: ExactFields) -> Self {
        Self::Object(fields)
    }
}

/// A member of an object that is written without being put together first.
#[derive(Debug, Clone, Copy)]
pub enum ExactMember<'a> {
    /// `null`
    Null,
    /// A text.
    Text(&'a str),
    /// A number.
    Number(u64),
    /// An object.
    Fields(&'a ExactFields),
}

impl From<ExactMember<'_>> for ExactJson {
    fn from(member: ExactMember<'_>) -> Self {
        match member {
            ExactMember::Null => Self::Null,
            ExactMember::Text(text) => text.into(),
            ExactMember::Number(number) => number.into(),
            ExactMember::Fields(fields) => Self::Object(fields.clone()),
        }
    }
}

/// Builds an object: `fields! { "tool": name, "success": true }`. The values are anything that becomes [`ExactJson`](crate::exact::ExactJson).
#[macro_export]
macro_rules! fields {
    () => { $crate::exact::ExactFields::new() };
    ($($name:literal : $value:expr),+ $(,)?) => {{
        let mut fields = $crate::exact::ExactFields::new();
        $(fields.insert($name.to_owned(), $crate::exact::ExactJson::from($value));)+
        fields
    }};
}
