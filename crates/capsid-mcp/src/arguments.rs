//! The arguments of a tool, read one by one. What is wrong with one names it.

use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Object, Problem, Result, Value};

/// The largest arguments of one call, as JSON.
pub const MAX_BYTES: usize = 512 * 1024;
/// The longest short text, such as an id.
const NAME: usize = 500;
/// The longest list of texts.
const ITEMS: usize = 100;
/// The longest text in a list.
const ITEM: usize = 4000;

/// The arguments of one call.
#[derive(Debug, Clone, Default)]
pub struct ToolArguments(pub Object);

impl ToolArguments {
    /// Takes the arguments of a call; `known` are those that the tool has.
    pub fn read(arguments: Object, known: &[&str]) -> Result<Self> {
        let bytes = serde_json::to_vec(&arguments).map_or(usize::MAX, |text| text.len());
        if bytes > MAX_BYTES {
            return Err(wrong("arguments", &format!("at most {MAX_BYTES} bytes"), &format!("{bytes} bytes"))
                .fix("Give the end of the log instead of all of it, or name a file with `logs`."));
        }
        if let Some(name) = arguments.keys().find(|name| !known.contains(&name.as_str())) {
            let problem = Problem::new(
                Code::InputInvalid,
                format!("There is no argument `{}`.", inert_line(cut(name, 80))),
            );
            return Err(problem.fix(format!("The arguments are: {}.", known.join(", "))));
        }
        Ok(Self(arguments.into_iter().filter(|(_, value)| !value.is_null()).collect()))
    }

    /// A text of any length.
    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a text", kind(other))),
        }
    }

    /// A short text, such as an id.
    pub fn name(&self, name: &str) -> Result<Option<&str>> {
        match self.text(name)? {
            Some(text) if text.len() > NAME => {
                Err(wrong(name, &format!("at most {NAME} bytes"), &format!("{} bytes", text.len())))
            }
            text => Ok(text.filter(|text| !text.trim().is_empty())),
        }
    }

    /// One of a few words; the first of them where none is given.
    pub fn word<'a>(&'a self, name: &str, allowed: &[&'a str]) -> Result<&'a str> {
        match self.name(name)? {
            None => Ok(allowed.first().copied().unwrap_or_default()),
            Some(word) if allowed.contains(&word) => Ok(word),
            Some(word) => Err(wrong(
                name,
                &format!("one of {}", allowed.join(", ")),
                &format!("`{}`", inert_line(cut(word, 80))),
            )),
        }
    }

    /// A list of texts; none where it is not given.
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        let items = match self.0.get(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong(name, "a list of texts", kind(other))),
        };
        if items.len() > ITEMS {
            return Err(wrong(name, &format!("at most {ITEMS} texts"), &format!("{}", items.len())));
        }
        let text = |(at, item): (usize, &Value)| match item {
            Value::String(text) if text.len() <= ITEM => Ok(text.clone()),
            Value::String(_) => {
                Err(wrong(&format!("{name}[{at}]"), &format!("at most {ITEM} bytes"), "more"))
            }
            other => Err(wrong(&format!("{name}[{at}]"), "a text", kind(other))),
        };
        items.iter().enumerate().map(text).collect()
    }

    /// Yes or no; no where it is not given.
    pub fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.choice(name)?.unwrap_or_default())
    }

    /// Yes, no, or absent.
    pub fn choice(&self, name: &str) -> Result<Option<bool>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(wrong(name, "true or false", kind(other))),
        }
    }

    /// A number from 0 to 1.
    pub fn share(&self, name: &str) -> Result<Option<f64>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(value) => match value.as_f64().filter(|number| (0.0..=1.0).contains(number)) {
                Some(number) => Ok(Some(number)),
                None => Err(wrong(name, "a number from 0 to 1", &format_value(value))),
            },
        }
    }

    /// A count, at least 0 and at most `most`; `usual` where it is not given. A number with nothing after its point counts.
    pub fn count(&self, name: &str, usual: usize, most: usize) -> Result<usize> {
        match self.0.get(name) {
            None => Ok(usual),
            Some(value) => match value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0) {
                Some(number) => Ok((number as usize).min(most)),
                None => Err(wrong(name, "a whole number", &format_value(value))),
            },
        }
    }

    /// An object.
    pub fn object(&self, name: &str) -> Result<Option<&Object>> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(wrong(name, "an object", kind(other))),
        }
    }
}

/// What must be there.
pub fn required<T>(value: Option<T>, name: &str) -> Result<T> {
    value.ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("The argument `{name}` is missing."))
            .fix(format!("Give `{name}`; the tool `help` explains every tool."))
    })
}

/// An argument that is not what it should be.
pub fn wrong(name: &str, expected: &str, received: &str) -> Problem {
    Problem::new(
        Code::InputInvalid,
        format!("The argument `{name}` should be {expected}, and is {received}."),
    )
    .fix(format!("Correct `{name}`; the tool `help` explains every tool."))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{number}"),
        other => kind(other).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    fn given(value: &Value) -> ToolArguments {
        ToolArguments(value.as_object().cloned().unwrap())
    }

    #[test]
    fn what_is_wrong_with_an_argument_names_it() {
        let bad = given(&json!({"a": 1, "l": ["x", 2], "n": 2.5, "s": 1.5, "f": "yes", "o": [], "w": "z"}));
        let problems = [
            bad.text("a").unwrap_err(),
            bad.list("l").unwrap_err(),
            bad.count("n", 1, 9).unwrap_err(),
            bad.share("s").unwrap_err(),
            bad.flag("f").unwrap_err(),
            bad.object("o").unwrap_err(),
            bad.word("w", &["x", "y"]).unwrap_err(),
        ];
        for (problem, name) in problems.iter().zip(["`a`", "`l[1]`", "`n`", "`s`", "`f`", "`o`", "`w`"]) {
            assert!(problem.code == Code::InputInvalid && problem.message.contains(name), "{problem:?}");
        }
    }

    #[test]
    fn unknown_and_huge_arguments_are_refused_and_null_is_absent() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let unknown = ToolArguments::read(object(json!({"teh": 1})), &["the"]).unwrap_err();
        assert!(unknown.message.contains("`teh`") && unknown.fix.unwrap().contains("the"));
        let huge = ToolArguments::read(object(json!({"the": "x".repeat(MAX_BYTES)})), &["the"]).unwrap_err();
        assert!(huge.message.contains("bytes"), "{huge}");
        assert_eq!(
            ToolArguments::read(object(json!({"the": null})), &["the"]).unwrap().text("the").unwrap(),
            None
        );
        assert_eq!(given(&json!({"n": 3.0})).count("n", 1, 2).unwrap(), 2);
    }
}
