//! Enums of other crates as responses show them: their text, which the OpenAPI document lists.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

/// The schema of one of some texts.
pub fn text_schema(about: &str, texts: impl IntoIterator<Item = &'static str>) -> RefOr<Schema> {
    let texts: Vec<Value> = texts.into_iter().map(Value::from).collect();
    let about = Some(about.trim().to_owned());
    ObjectBuilder::new().schema_type(Type::String).description(about).enum_values(Some(texts)).into()
}

/// Wraps an enum that has `as_str`, under the name that its schema is published by.
macro_rules! text_view {
    ($(#[doc = $about:literal])+ $name:ident($inner:ty) as $schema:literal, $all:expr) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub $inner);

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.0.as_str())
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                $crate::http::text_view::text_schema(concat!($($about),+), $all.map(<$inner>::as_str))
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                std::borrow::Cow::Borrowed($schema)
            }
        }
    };
}

pub(crate) use text_view;
