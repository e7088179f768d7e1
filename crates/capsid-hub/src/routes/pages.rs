//! Pages for browsers, their files, and what no path leads to.

use crate::error::ApiError;
use crate::http::negotiation::prefers_html;
use crate::ops::not_offered::not_offered;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use capsid_web::{PageHost, pages, response};

/// A browser gets a page, also at an address where programs have a call.
pub async fn serve_browser(request: Request, next: Next) -> Response {
    let is_page = pages::is_page(PageHost::Hub, request.uri().path());
    if is_page && is_read(request.method()) && prefers_html(request.headers()) {
        return response::shell(PageHost::Hub, StatusCode::OK);
    }
    next.run(request).await
}

/// What is no call may be a file of the pages. A browser that is lost is told so by a page.
pub async fn serve_file(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if let Some(refusal) = not_offered(uri.path()) {
        return refusal.into_response();
    }
    if !is_read(&method) {
        return no_route().await.into_response();
    }
    match response::file(uri.path(), &headers) {
        Some(file) => file,
        None if prefers_html(&headers) && !pages::is_for_files(uri.path()) => {
            response::shell(PageHost::Hub, StatusCode::NOT_FOUND)
        }
        None => no_route().await.into_response(),
    }
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// The refusal of a path that is not there, or not with this method.
pub async fn no_route() -> ApiError {
    ApiError::no_route()
}
