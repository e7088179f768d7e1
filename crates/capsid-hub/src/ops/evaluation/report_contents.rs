//! What a report states of its commands, its control and its proof. Members that are there must fit; none is required.

use crate::error::{ApiError, ApiResult};
use crate::http::object_reader::{ObjectReader, kind_of};
use capsid_rules::evaluation::stated_report::{StatedCommand, StatedReport};
use capsid_rules::learning::proof::ProofRecord;
use serde_json::{Map, Value};

/// The longest command that is read.
const COMMAND_LIMIT: usize = 4000;
/// The most files that are listed.
const FILES_LIMIT: usize = 1000;
/// Hexadecimal digits of a hash.
const HASH_DIGITS: usize = 64;

/// Reads what the report at a path states, besides what the caller has read.
pub fn read_statements(
    object: &Map<String, Value>,
    path: &str,
    commands: Option<&[Value]>,
) -> ApiResult<StatedReport> {
    let fields = ObjectReader::new(object, path);
    let (control_bare, control_base) = read_control(object, path)?;
    let ran_on = fields.text("ran_on", 0, 40)?.unwrap_or_default();
    let isolation = fields.text("isolation", 0, 200)?.unwrap_or_default();
    Ok(StatedReport {
        commands: commands.map(|commands| commands.iter().map(read_command).collect()),
        control_bare,
        control_base,
        proof: read_proof(object, path)?,
        files: read_files(object, path)?,
        files_sha256: read_hash(object, path, "files_sha256")?,
        is_from_scratch: matches!(ran_on, "scratch" | "reproduction"),
        is_isolated: !matches!(isolation, "" | "none"),
        ..StatedReport::default()
    })
}

/// The proof that the sender read the asset: 64 hexadecimal digits.
pub fn read_read_proof(object: &Map<String, Value>, path: &str) -> ApiResult<Option<String>> {
    read_hash(object, path, "read_proof")
}

/// A hash of 64 hexadecimal digits, perhaps behind `sha256:`.
fn read_hash(object: &Map<String, Value>, path: &str, key: &str) -> ApiResult<Option<String>> {
    let Some(text) = ObjectReader::new(object, path).text(key, 1, 200)? else { return Ok(None) };
    match hash_digits(text) {
        Some(digits) => Ok(Some(digits.to_ascii_lowercase())),
        None => Err(ApiError::field(format!("{path}.{key}"), "64 hexadecimal digits", "another text")),
    }
}

fn hash_digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    (digits.len() == HASH_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

/// One command. Clients name it `cmd` or `command`.
fn read_command(value: &Value) -> StatedCommand {
    let text = value.get("cmd").or_else(|| value.get("command")).and_then(Value::as_str);
    StatedCommand {
        command: text.filter(|text| text.len() <= COMMAND_LIMIT).map(str::to_owned),
        ok: value.get("ok").and_then(Value::as_bool) == Some(true),
        exit_code: value.get("exit_code").and_then(Value::as_i64),
        timed_out: value.get("timed_out").and_then(Value::as_bool) == Some(true),
        has_measurements: value.get("duration_ms").is_some_and(Value::is_number)
            && value
                .get("output_sha256")
                .and_then(Value::as_str)
                .is_some_and(|text| hash_digits(text).is_some()),
    }
}

fn read_control(object: &Map<String, Value>, path: &str) -> ApiResult<(Option<bool>, Option<bool>)> {
    let control = match object.get("control").filter(|value| !value.is_null()) {
        None => return Ok((None, None)),
        Some(Value::Object(control)) => control,
        Some(other) => return Err(ApiError::field(format!("{path}.control"), "an object", kind_of(other))),
    };
    let flag = |key: &str| match control.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(passed)) => Ok(Some(*passed)),
        Some(other) => {
            Err(ApiError::field(format!("{path}.control.{key}"), "true, false or null", kind_of(other)))
        }
    };
    Ok((flag("bare")?, flag("base")?))
}

fn read_proof(object: &Map<String, Value>, path: &str) -> ApiResult<Option<ProofRecord>> {
    let Some(proof) = object.get("proof").filter(|value| !value.is_null()) else { return Ok(None) };
    match serde_json::from_value(proof.clone()) {
        Ok(record) => Ok(Some(record)),
        Err(error) => {
            Err(ApiError::field(format!("{path}.proof"), "a proof record", format!("no record: {error}")))
        }
    }
}

fn read_files(object: &Map<String, Value>, path: &str) -> ApiResult<Option<Vec<(String, String)>>> {
    let files = match object.get("files").filter(|value| !value.is_null()) {
        None => return Ok(None),
        Some(Value::Array(files)) if files.len() <= FILES_LIMIT => files,
        Some(Value::Array(_)) => {
            let expected = format!("at most {FILES_LIMIT} files");
            return Err(ApiError::field(format!("{path}.files"), expected, "more"));
        }
        Some(other) => return Err(ApiError::field(format!("{path}.files"), "an array", kind_of(other))),
    };
    let read = |(at, file): (usize, &Value)| {
        let text = |key: &str| file.get(key).and_then(Value::as_str).map(str::to_owned);
        text("path").zip(text("sha256")).ok_or_else(|| {
            ApiError::field(format!("{path}.files[{at}]"), "an object with `path` and `sha256`", "another")
        })
    };
    files.iter().enumerate().map(read).collect::<ApiResult<_>>().map(Some)
}
