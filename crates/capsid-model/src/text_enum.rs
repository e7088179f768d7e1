//! Enums whose variants have a text that is stored and sent.

/// Gives an enum `ALL`, `as_str` and `parse` from one list of its variants and their texts. A variant that is missing
/// from the list does not compile. `parse` wants the exact text; with `ignoring case` it takes any case.
#[macro_export]
macro_rules! text_enum {
    ($name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        $crate::text_enum!(@list $name { $($variant = $text),+ });
        impl $name {
            /// The value that a text names.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }
        }
    };
    ($name:ident ignoring case { $($variant:ident = $text:literal),+ $(,)? }) => {
        $crate::text_enum!(@list $name { $($variant = $text),+ });
        impl $name {
            /// The value that a text names, in whatever case.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str().eq_ignore_ascii_case(text))
            }
        }
    };
    (@list $name:ident { $($variant:ident = $text:literal),+ }) => {
        impl $name {
            /// Every value.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// The text that is stored and sent.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }
    };
}
