//! The samples of the protocol with curl, as people paste them.

use super::walk::walk;
use crate::common::{Scratch, program};
use capsid_testkit::hub::HubProcess;
use std::process::Command;

#[test]
fn the_samples_of_the_protocol_work_with_curl() {
    let (program, scratch) = (program(), Scratch::sqlite());
    let hub = HubProcess::start(&program, &scratch.place);
    walk(&mut |method, path, body| {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--noproxy", "*", "-X", method, "-w", "\n%{http_code} %{content_type}"]);
        if let Some(body) = body {
            curl.args(["-H", "Content-Type: application/json", "-d", body]);
        }
        let ran =
            curl.arg(format!("http://{}{path}", hub.address)).output().expect("curl: see scripts/setup");
        let said = String::from_utf8(ran.stdout).unwrap();
        let (body, status) = said.rsplit_once('\n').unwrap();
        let (status, kind) = status.split_once(' ').unwrap();
        assert_eq!(kind, "application/json", "{path}");
        (status.parse().unwrap(), body.parse().unwrap())
    });
}

#[test]
fn curl_publishes_with_d_alone() {
    let (program, scratch) = (program(), Scratch::sqlite());
    let hub = HubProcess::start(&program, &scratch.place);
    let message = super::kill::message("node_a", "msg_1", &crate::common::bundle::Bundle::new(1));
    let ran = Command::new("curl")
        .args(["-sS", "--noproxy", "*", "-d", &message, &format!("http://{}/a2a/publish", hub.address)])
        .output()
        .expect("curl: see scripts/setup");
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(said.contains(r#""decision":"accept""#) || said.contains("acknowledged"), "{said}");
    // From a page of another site the same request does nothing.
    let ran = Command::new("curl")
        .args(["-sS", "--noproxy", "*", "-H", "Origin: http://evil.test", "-H", "Content-Type: text/plain"])
        .args(["-d", &message, &format!("http://{}/a2a/publish", hub.address)])
        .output()
        .unwrap();
    assert!(String::from_utf8(ran.stdout).unwrap().contains("origin_not_allowed"));
}
