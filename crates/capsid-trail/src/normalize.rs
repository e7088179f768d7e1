//! Values that JSON can hold and a seal cannot: they become texts, so that one of them costs nothing but its form.

use capsid_model::exact::{ExactFields, ExactJson, canonical, float_text};
use capsid_transcript::Action;

/// Deeper values are sealed as their text: a record around them must stay within what every reader can read.
const MAX_DEPTH: usize = 100;

/// The member of the environment that counts the values that became texts.
const MEMBER: &str = "values_as_text";

/// Makes everything in an action fit to be sealed.
pub(crate) fn normalize_action(action: &mut Action) {
    let mut count = 0;
    let mut values = vec![&mut action.result];
    if let Some(call) = &mut action.call {
        values.extend([&mut call.arguments, &mut call.result]);
    }
    for value in values {
        normalize_unsealable(value, MAX_DEPTH, &mut count);
    }
    normalize_fields(&mut action.usage, MAX_DEPTH, &mut count);
    normalize_fields(&mut action.environment, MAX_DEPTH, &mut count);
    if count > 0 {
        action.environment.insert(MEMBER.to_owned(), ExactJson::from(count));
    }
}

fn normalize_unsealable(value: &mut ExactJson, depth: usize, count: &mut u64) {
    match value {
        ExactJson::Float(number) if !number.is_finite() => {
            *value = ExactJson::String(float_text(*number));
            *count += 1;
        }
        ExactJson::Array(items) if depth > 0 => {
            items.iter_mut().for_each(|item| normalize_unsealable(item, depth - 1, count));
        }
        ExactJson::Object(fields) if depth > 0 => normalize_fields(fields, depth - 1, count),
        ExactJson::Array(_) | ExactJson::Object(_) => {
            *value = ExactJson::String(canonical(value));
            *count += 1;
        }
        _ => {}
    }
}

fn normalize_fields(fields: &mut ExactFields, depth: usize, count: &mut u64) {
    fields.values_mut().for_each(|value| normalize_unsealable(value, depth, count));
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::exact::parse;
    use capsid_transcript::ToolInvocation;

    fn tamed(arguments: ExactJson) -> Action {
        let call = ToolInvocation { arguments, ..ToolInvocation::default() };
        let mut action = Action { call: Some(call), ..Action::default() };
        normalize_action(&mut action);
        action
    }

    #[test]
    fn numbers_without_an_end_become_texts_and_the_rest_stays() {
        let action = tamed(parse("{\"a\":[1e400,-1e400,NaN,1.5],\"b\":1}").unwrap());
        let arguments = action.call.map(|call| canonical(&call.arguments));
        assert_eq!(arguments.as_deref(), Some("{\"a\":[\"Infinity\",\"-Infinity\",\"NaN\",1.5],\"b\":1}"));
        assert_eq!(action.environment.get(MEMBER), Some(&ExactJson::from(3_i64)));
    }

    #[test]
    fn what_is_nested_too_deep_becomes_a_text() {
        let deep = format!("{}1{}", "[".repeat(900), "]".repeat(900));
        let action = tamed(parse(&deep).unwrap());
        let arguments = action.call.map(|call| canonical(&call.arguments)).unwrap();
        assert_eq!(arguments.matches('[').count(), 900, "nothing is lost");
        let nesting = arguments.find('\"').unwrap();
        assert_eq!(nesting, MAX_DEPTH);
        assert!(tamed(ExactJson::Null).environment.is_empty());
    }
}
