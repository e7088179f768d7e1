//! The samples of the protocol, in order, as printed: on both databases, and over a real socket.

mod walk;

use crate::common::{TestHub, both};
use walk::walk;

#[test]
fn the_samples_of_the_protocol_work_as_printed() {
    both(|hub| {
        walk(&mut |method, path, body| {
            let answer = hub.call(method, path, None, body.map(|text| text.as_bytes().to_vec()));
            (answer.status, answer.json())
        });
    });
}

#[test]
fn they_work_over_a_real_socket() {
    let hub = TestHub::sqlite();
    let listener = hub.runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let serving = hub.runtime.spawn(axum::serve(listener, hub.router()).into_future());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    walk(&mut |method, path, body| {
        let mut request = client.request(method.parse().unwrap(), format!("{base}{path}"));
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        hub.runtime.block_on(async {
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            assert_eq!(response.headers()["content-type"], "application/json", "{path}");
            (status, response.json().await.unwrap())
        })
    });
    serving.abort();
}
