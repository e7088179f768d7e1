//! What an account may be called, what its password may be, and how a claim code is read.

/// The longest e-mail address, in bytes.
pub const EMAIL_LIMIT: usize = 254;
/// The fewest characters of a password.
pub const PASSWORD_LEAST: usize = 8;
/// The most characters of a password.
pub const PASSWORD_MOST: usize = 200;

/// What an e-mail address should be, for whoever sent something else.
pub const EMAIL_EXPECTED: &str = "an e-mail address such as ann@example.org, of at most 254 bytes";
/// What a password should be, for whoever sent something else.
pub const PASSWORD_EXPECTED: &str = "a text of 8 to 200 characters";

/// An e-mail address in the one form that it is kept in: without spaces around it and in small letters.
pub fn email(text: &str) -> Option<String> {
    if text.len() > EMAIL_LIMIT {
        return None;
    }
    let email = text.trim().to_lowercase();
    let (name, host) = email.split_once('@')?;
    let sound = !name.is_empty()
        && !host.is_empty()
        && !host.contains('@')
        && !host.split('.').any(str::is_empty)
        && email.len() <= EMAIL_LIMIT
        && !email.chars().any(is_odd);
    sound.then_some(email)
}

/// Characters that cannot be seen, or that end or quote an address.
fn is_odd(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || capsid_model::text::is_invisible(c)
        || "<>()[]\\,;:\"'`/?#%&=".contains(c)
}

/// Whether a password is neither too short nor too long. Which characters it has is its owner's business.
pub fn is_password(text: &str) -> bool {
    (PASSWORD_LEAST..=PASSWORD_MOST).contains(&text.chars().count())
}

/// A claim code as it is kept, whether it was typed in small letters, with spaces or without the dash.
pub fn claim_code(text: &str) -> Option<String> {
    let letters: String = text.trim().chars().filter(|c| *c != '-' && *c != ' ').take(9).collect();
    let sound = letters.len() == 8 && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let letters = letters.to_ascii_uppercase();
    let (head, tail) = letters.split_at_checked(4)?;
    sound.then(|| format!("{head}-{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_kept_in_one_form() {
        for text in ["ann@example.org", "  Ann@Example.ORG ", "ANN@EXAMPLE.ORG"] {
            assert_eq!(email(text).as_deref(), Some("ann@example.org"), "{text}");
        }
        assert_eq!(email("root@localhost").as_deref(), Some("root@localhost"));
        assert_eq!(email("a.b+c@x-y.example").as_deref(), Some("a.b+c@x-y.example"));
        assert_eq!(email("Łucja@żółw.example").as_deref(), Some("łucja@żółw.example"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("{}@example.org", "a".repeat(243));
        for text in [
            "",
            "@",
            "ann",
            "ann@",
            "@example.org",
            "a@b@c",
            "a@.org",
            "a@org.",
            "a@b..c",
            "a b@c.d",
            "a\n@b.c",
            "a\u{0}@b.c",
            "a\u{202e}@b.c",
            "a\u{200b}@b.c",
            "<a@b.c>",
            "a@b.c,d@e.f",
            "\"a\"@b.c",
            &long,
        ] {
            assert_eq!(email(text), None, "{text:?}");
        }
        assert!(email(&long[1..]).is_some());
    }

    #[test]
    fn a_password_is_counted_in_characters() {
        assert!(!is_password("1234567"));
        assert!(is_password("12345678"));
        assert!(is_password(&"é".repeat(200)));
        assert!(!is_password(&"é".repeat(201)));
    }

    #[test]
    fn a_code_is_read_however_it_was_typed() {
        for text in ["REEF-4X7K", "reef-4x7k", "reef4x7k", " Reef 4X7K ", "RE-EF-4X-7K"] {
            assert_eq!(claim_code(text).as_deref(), Some("REEF-4X7K"), "{text}");
        }
        for text in
            ["", "REEF", "REEF-4X7", "REEF-4X7KK", "REEF-4X7é", "../../etc", "REEF_4X7K", "REEF-4X7\0"]
        {
            assert_eq!(claim_code(text), None, "{text}");
        }
    }
}
