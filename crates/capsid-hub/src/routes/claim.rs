//! `/claim/{code}`: an account makes a node its own. Programs get JSON; a browser gets a plain page with a form.

mod page;

use crate::access::Credentials;
use crate::accounts;
use crate::envelope::Reply;
use crate::error::{ApiError, HubCode, Result};
use crate::query::PathId;
use crate::routes::auth::{Login, make_account, prove};
use crate::state::{Hub, Shared};
use axum::extract::{Form, FromRequest, Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use capsid_model::time::Time;
use capsid_rules::account::claim_code;
use capsid_store::accounts::User;
use capsid_store::claims::{self, Claim, Claimed};
use serde::Deserialize;
use serde_json::json;

/// Tells which node a code is for.
#[utoipa::path(get, path = "/claim/{code}", tag = "accounts",
    params(("code" = String, Path, description = "The code that the node shows, such as REEF-4X7K.")),
    responses(
        (status = 200, content((crate::openapi::Object = "application/json"), (String = "text/html"))),
        (status = "4XX", content((crate::openapi::Problem = "application/json"), (String = "text/html")))))]
pub async fn show(
    State(hub): State<Shared>,
    credentials: Credentials,
    headers: HeaderMap,
    PathId(code): PathId,
) -> Response {
    let found = look_up(&hub, &credentials.address, &code).await;
    match (found, prefers_html(&headers)) {
        (Ok(claim), true) => page::form(&claim, hub.config.open_registration, None),
        (Ok(claim), false) => {
            let status = if claim.claimed { "claimed" } else { "pending" };
            Reply::json(&json!({
                "claim_code": claim.code, "node_id": claim.node_id,
                "expires_at": Time(claim.expires_at).iso(), "status": status,
            }))
            .into_response()
        }
        (Err(error), true) => page::problem(&error),
        (Err(error), false) => error.into_response(),
    }
}

/// Makes the node of a code belong to the account that asks. Each code works once.
#[utoipa::path(post, path = "/claim/{code}", tag = "accounts",
    params(("code" = String, Path, description = "The code that the node shows, such as REEF-4X7K.")),
    responses(
        (status = 200, content((crate::openapi::Object = "application/json"), (String = "text/html"))),
        (status = "4XX", content((crate::openapi::Problem = "application/json"), (String = "text/html")))))]
pub async fn claim(
    State(hub): State<Shared>,
    credentials: Credentials,
    PathId(code): PathId,
    request: Request,
) -> Response {
    if is_form(request.headers()) {
        return claim_by_form(&hub, &credentials.address, &code, request).await;
    }
    match claim_by_token(&hub, credentials, &code).await {
        Ok(reply) => reply.into_response(),
        Err(error) => error.into_response(),
    }
}

async fn claim_by_token(hub: &Hub, credentials: Credentials, code: &str) -> Result<Reply> {
    let (now, address) = (hub.now(), credentials.address.clone());
    let user = hub.store.read(move |tx| accounts::require_user(tx, &credentials, now)).await?;
    let claim = look_up(hub, &address, code).await?;
    let node_id = make_own(hub, &claim, &user).await?;
    Ok(Reply::json(&json!({ "status": "claimed", "node_id": node_id, "user_id": user.user_id })))
}

/// What the page's form sends.
#[derive(Deserialize)]
struct Filled {
    email: String,
    password: String,
    action: String,
}

async fn claim_by_form(hub: &Hub, address: &str, code: &str, request: Request) -> Response {
    let claim = match look_up(hub, address, code).await {
        Ok(claim) => claim,
        Err(error) => return page::problem(&error),
    };
    let claimed = match Form::<Filled>::from_request(request, &()).await {
        Ok(Form(filled)) => fill_in(hub, address, &claim, filled).await,
        Err(_) => Err(ApiError::field("form", "the fields email, password and action", "something else")),
    };
    match claimed {
        Ok(user) => page::done(&claim, &user),
        Err(error) => page::form(&claim, hub.config.open_registration, Some(&error)),
    }
}

async fn fill_in(hub: &Hub, address: &str, claim: &Claim, filled: Filled) -> Result<User> {
    if claim.claimed {
        return Err(refused(&Claimed::Before));
    }
    let login = Login { email: filled.email, password: filled.password };
    let user = match filled.action.as_str() {
        "login" => prove(hub, address, login).await?,
        "register" => make_account(hub, address, login).await?,
        _ => return Err(ApiError::field("action", "`login` or `register`", "something else")),
    };
    make_own(hub, claim, &user).await?;
    Ok(user)
}

/// Finds a code. Codes are short enough to be typed, so wrong ones are counted against the address they come from.
async fn look_up(hub: &Hub, address: &str, code: &str) -> Result<Claim> {
    let (limit, now) = (hub.config.limits.wrong_credentials, hub.now());
    hub.limiter.take(&hub.store, HubCode::TooManyAttempts, "claim", address, limit, now).await?;
    let code = claim_code(code).ok_or_else(|| refused(&Claimed::Unknown))?;
    let found = hub.store.read::<_, ApiError, _>(move |tx| Ok(claims::find(tx, &code)?)).await?;
    let claim = found.ok_or_else(|| refused(&Claimed::Unknown))?;
    hub.limiter.give_back(&hub.store, "claim", address, limit).await?;
    if claim.is_expired(now) { Err(refused(&Claimed::Expired)) } else { Ok(claim) }
}

async fn make_own(hub: &Hub, claim: &Claim, user: &User) -> Result<String> {
    let (code, user, now) = (claim.code.clone(), user.clone(), hub.now());
    let claimed =
        hub.store.write::<_, ApiError, _>(move |tx| Ok(claims::claim(tx, &code, &user, now)?)).await?;
    match claimed {
        Claimed::Done { node_id } => Ok(node_id),
        other => Err(refused(&other)),
    }
}

fn refused(claimed: &Claimed) -> ApiError {
    match claimed {
        Claimed::Expired => ApiError::new(
            HubCode::ClaimCodeExpired,
            "The claim code is older than a day.",
            "Let the node say hello again; it then shows a new code.",
        ),
        Claimed::Before => ApiError::new(
            HubCode::AlreadyClaimed,
            "The node already belongs to an account.",
            "See GET /account/agents for the nodes of an account.",
        ),
        Claimed::Unknown | Claimed::Done { .. } => ApiError::new(
            HubCode::NotFound,
            "There is no such claim code.",
            "Type the code as the node shows it: eight letters and digits such as REEF-4X7K.",
        ),
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/x-www-form-urlencoded"))
}

/// Whether somebody would rather have HTML than JSON. Who has no wish gets JSON.
fn prefers_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    quality(accept, "text/html") > quality(accept, "application/json")
}

/// How welcome a type is, from 0 to 1: what is said of it by name counts before what is said of all.
fn quality(accept: &str, kind: &str) -> f64 {
    let family = kind.split('/').next().unwrap_or_default();
    let said_of = |name: &str| {
        accept.split(',').find_map(|part| {
            let mut words = part.split(';').map(str::trim);
            let named = words.next().is_some_and(|word| word.eq_ignore_ascii_case(name));
            let weight = words.find_map(|word| word.strip_prefix("q=")).and_then(|q| q.parse().ok());
            named.then_some(weight.unwrap_or(1.0))
        })
    };
    said_of(kind).or_else(|| said_of(&format!("{family}/*"))).or_else(|| said_of("*/*")).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::quality;

    #[test]
    fn a_browser_wants_html_and_a_program_json() {
        let html = |accept: &str| quality(accept, "text/html") > quality(accept, "application/json");
        assert!(html("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
        assert!(html("text/*, */*;q=0.1"));
        assert!(!html("*/*"));
        assert!(!html(""));
        assert!(!html("application/json"));
        assert!(!html("application/json, text/html;q=0.5"));
        assert!(!html("text/html;q=0, */*"));
        assert!(!html("text/html;q=nonsense,application/json"));
    }
}
