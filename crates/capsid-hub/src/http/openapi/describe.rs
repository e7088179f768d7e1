//! A short way to write down what answers look like. What is written so is only ever described, never made.

/// Describes objects. Members before `;` are always there, and null where they are an `Option`; those after it may be
/// missing. `Name: Base { … }` has the members of the base as well.
macro_rules! told {
    ($($(#[$about:meta])* $name:ident $(: $base:ty)? {
        $($(#[$what:meta])* $member:ident: $kind:ty),* $(,)?
        $(; $($(#[$also:meta])* $maybe:ident: $of:ty),* $(,)?)?
    })*) => {$(
        $(#[$about])*
        #[derive(Debug, serde::Serialize, utoipa::ToSchema)]
        pub struct $name {
            $(#[serde(flatten)] base: $base,)?
            $($(#[$what])* #[schema(required)] $member: $kind,)*
            $($($(#[$also])* #[schema(required = false)] $maybe: $of,)*)?
        }
    )*};
}

/// Describes words.
macro_rules! words {
    ($($(#[$about:meta])* $name:ident { $($variant:ident = $word:tt),* $(,)? })*) => {$(
        #[derive(Debug, serde::Serialize, utoipa::ToSchema)]
        $(#[$about])*
        pub enum $name {
            $(#[doc = $word] #[serde(rename = $word)] $variant,)*
        }
    )*};
}

pub(crate) use {told, words};
