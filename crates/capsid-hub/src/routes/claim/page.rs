//! The claim page: one form, no script, nothing from elsewhere.

use crate::error::ApiError;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use capsid_model::text::inert_line;
use capsid_model::time::Time;
use capsid_store::accounts::User;
use capsid_store::claims::Claim;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem;\
    color:#1a1a1a;background:#fff}code{background:#f0f0f0;padding:.1rem .3rem;overflow-wrap:anywhere}\
    label{display:block;margin:1rem 0}input{display:block;width:100%;box-sizing:border-box;padding:.5rem;font:inherit}\
    button{font:inherit;padding:.5rem 1rem;margin-right:.5rem}.problem{border-left:4px solid #b00020;padding-left:1rem}\
    @media(prefers-color-scheme:dark){body{color:#eee;background:#161616}code{background:#333}}";

/// The page may load nothing, run nothing, be framed by nobody, and send its form only here.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// The form, or what became of the code; with what went wrong the last time.
pub fn form(claim: &Claim, may_register: bool, error: Option<&ApiError>) -> Response {
    let node = escaped(&claim.node_id);
    let told = error.map(told).unwrap_or_default();
    let status = error.map_or(200, |error| error.code.status());
    if claim.claimed {
        let body = format!("{told}<p>The node <code>{node}</code> already belongs to an account.</p>");
        return page(status, "This node is claimed", &body, error);
    }
    let register = if may_register {
        "<button name=\"action\" value=\"register\">Make an account and claim</button>"
    } else {
        ""
    };
    let body = format!(
        "{told}<p>The node <code>{node}</code> asks to belong to your account. Claim it only if it is yours.</p>\
         <p>The code <code>{code}</code> can be used until {until}.</p>\
         <form method=\"post\" action=\"/claim/{code}\">\
         <label>E-mail address<input name=\"email\" type=\"email\" required maxlength=\"254\" autocomplete=\"username\"></label>\
         <label>Password, at least 8 characters<input name=\"password\" type=\"password\" required minlength=\"8\" \
         maxlength=\"200\" autocomplete=\"current-password\"></label>\
         <button name=\"action\" value=\"login\">Log in and claim</button>{register}</form>",
        code = escaped(&claim.code),
        until = Time(claim.expires_at).iso(),
    );
    page(status, "Claim a node", &body, error)
}

/// What is said when it worked.
pub fn done(claim: &Claim, user: &User) -> Response {
    let body = format!(
        "<p>The node <code>{}</code> now belongs to <code>{}</code>. You can close this page.</p>",
        escaped(&claim.node_id),
        escaped(&user.email)
    );
    page(200, "Claimed", &body, None)
}

/// A page about a code that is of no use.
pub fn problem(error: &ApiError) -> Response {
    page(error.code.status(), "This code cannot be used", &told(error), Some(error))
}

fn told(error: &ApiError) -> String {
    format!(
        "<div class=\"problem\" role=\"alert\"><p>{}</p><p>{}</p></div>",
        escaped(&error.problem),
        escaped(&error.fix)
    )
}

/// A page with the headers that an error has as JSON too.
fn page(status: u16, title: &str, body: &str, error: Option<&ApiError>) -> Response {
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head>\
         <body><main><h1>{title}</h1>{body}</main></body></html>\n"
    );
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let mut response = (StatusCode::from_u16(status).unwrap_or_default(), headers, html).into_response();
    if let Some(error) = error {
        response.extensions_mut().insert(error.code);
        if let Some(seconds) = error.retry_after_header() {
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
    }
    response
}

/// A text that cannot act: no markup, no control or invisible characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in inert_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn markup_in_a_name_stays_text() {
        assert_eq!(escaped("<script>'&\""), "&lt;script&gt;&#39;&amp;&quot;");
        assert!(!escaped("a\u{202e}b\nc").contains(['\u{202e}', '\n']));
    }
}
