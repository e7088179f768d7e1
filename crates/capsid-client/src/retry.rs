//! How long a hub asks to wait, and how long we wait ourselves.

use capsid_model::backoff::BackoffPolicy;
use capsid_model::{Clock, SystemClock, Time, Value};
use std::time::Duration;

/// How long we wait where the hub does not say.
pub(crate) const BACKOFF: BackoffPolicy =
    BackoffPolicy { factor: 3, ..BackoffPolicy::doubling(300, i64::MAX) };
/// The longest that a hub's word is taken for.
const MAX_LEN: Duration = Duration::from_secs(24 * 3600);

/// The value of `Retry-After`: seconds, or a date, which is compared with the hub's own `Date` if present.
pub(crate) fn retry_after_header(retry_after: Option<&str>, date: Option<&str>) -> Option<Duration> {
    let text = retry_after?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds).min(MAX_LEN));
    }
    let until = http_date(text)?;
    let now = date.and_then(http_date).unwrap_or_else(|| SystemClock.now());
    let wait = u64::try_from(until.0.saturating_sub(now.0)).unwrap_or_default();
    Some(Duration::from_millis(wait).min(MAX_LEN))
}

/// The value of `retry_after_ms` in the body, which is more exact.
pub(crate) fn retry_after_body(body: &Value) -> Option<Duration> {
    let named = body.get("retry_after_ms").or_else(|| body.pointer("/payload/retry_after_ms"))?;
    let ms = named.as_f64().filter(|ms| *ms >= 0.0)?;
    Some(Duration::from_millis(ms.min(MAX_LEN.as_millis() as f64) as u64))
}

fn http_date(text: &str) -> Option<Time> {
    // The name of the day adds nothing, and may be wrong.
    let reader = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    Some(Time(reader.parse_timestamp(text.trim()).ok()?.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::json;

    #[test]
    fn seconds_dates_and_milliseconds_are_understood_and_bounded() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let cases = [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 2094 08:00:00 GMT", Some(86_400)),
            ("18446744073709551615", Some(86_400)),
            ("-1", None),
            ("soon", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(retry_after_header(Some(text), date), seconds.map(Duration::from_secs), "{text}");
        }
        assert_eq!(retry_after_body(&json!({"retry_after_ms": 1500})), Some(Duration::from_millis(1500)));
        assert_eq!(retry_after_body(&json!({"retry_after_ms": 1e300})), Some(MAX_LEN));
        assert_eq!(retry_after_body(&json!({"retry_after_ms": -5})), None);
        assert_eq!(retry_after_body(&json!({"retry_after_ms": "5"})), None);
    }
}
