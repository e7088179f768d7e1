use super::*;
use proptest::prelude::*;

/// A hub on one's own machine.
fn own() -> GuardPolicy {
    GuardPolicy { is_loopback: true, ..GuardPolicy::default() }
}

/// A hub of a team, under a name.
fn team() -> GuardPolicy {
    GuardPolicy { public_url: Some("https://hub.example.org".to_owned()), ..GuardPolicy::default() }
}

fn to(host: &str) -> RequestHead<'_> {
    RequestHead { host: Some(host), ..RequestHead::default() }
}

fn post<'a>(host: &'a str, content_type: Option<&'a str>) -> RequestHead<'a> {
    RequestHead { is_write: true, has_body: true, content_type, ..to(host) }
}

#[test]
fn a_hub_answers_to_its_own_names_alone() {
    let open = GuardPolicy::default();
    let listed = GuardPolicy { allowed_hosts: vec!["Hub.Lab:8080".to_owned()], ..GuardPolicy::default() };
    // The host, and whether it is let in: own machine, team, open, listed.
    for (host, admitted) in [
        ("127.0.0.1:4000", [true; 4]),
        ("192.168.1.7", [true; 4]),
        ("[::1]:4000", [true; 4]),
        ("localhost:4000", [true; 4]),
        ("LOCALHOST.:4000", [true; 4]),
        ("app.localhost", [true; 4]),
        ("hub.example.org", [false, true, true, false]),
        ("HUB.example.org.:443", [false, true, true, false]),
        ("hub.lab", [false, false, true, true]),
        ("hub", [false, true, true, true]),
        ("nas.local:4000", [false, true, true, true]),
        ("hub.home.arpa", [false, true, true, true]),
        ("evil.test:4000", [false, false, true, false]),
        ("hub.example.org.evil.test", [false, false, true, false]),
        ("notlocalhost.test", [false, false, true, false]),
        (".localhost", [false, false, true, false]),
        ("", [false; 4]),
        ("a b", [false; 4]),
        ("[::1", [false; 4]),
        ("[evil.test]", [false; 4]),
        ("host:port", [false; 4]),
        ("host:+80", [false; 4]),
    ] {
        for (policy, admitted) in [own(), team(), open.clone(), listed.clone()].iter().zip(admitted) {
            assert_eq!(admit(&to(host), policy).is_ok(), admitted, "{host} {policy:?}");
        }
        // A page that calls an invented name is kept out of every hub: that is how DNS rebinding reads responses.
        if host.contains("evil") {
            let origin = format!("http://{host}");
            let head = RequestHead { origin: Some(&origin), ..to(host) };
            assert_eq!(admit(&head, &open), Err(GuardRefusal::Host), "{host}");
        }
    }
    assert_eq!(admit(&RequestHead::default(), &own()), Ok(Admission::Plain));
}

#[test]
fn only_pages_of_the_hub_and_of_listed_sites_may_call_it() {
    let listed = GuardPolicy { allowed_origins: vec!["https://app.example.org".to_owned()], ..team() };
    for (host, origin, policy, admitted) in [
        ("127.0.0.1:4000", "http://127.0.0.1:4000", own(), true),
        ("localhost:4000", "http://localhost:4000", own(), true),
        ("localhost", "http://localhost:80", own(), true),
        ("localhost:4000", "http://127.0.0.1:4000", own(), false),
        ("127.0.0.1:4000", "http://127.0.0.1:3000", own(), false),
        ("127.0.0.1:4000", "http://evil.test", own(), false),
        ("127.0.0.1:4000", "null", own(), false),
        ("127.0.0.1:4000", "", own(), false),
        ("127.0.0.1:4000", "file://", own(), false),
        ("127.0.0.1:4000", "http://127.0.0.1:4000.evil.test", own(), false),
        ("hub.example.org", "https://hub.example.org", team(), true),
        ("127.0.0.1:4000", "https://hub.example.org:443", team(), true),
        ("127.0.0.1:4000", "http://hub.example.org", team(), false),
        ("hub.example.org", "https://app.example.org", team(), false),
        ("hub.example.org", "https://app.example.org", listed.clone(), true),
        ("hub.example.org", "https://app.example.org.evil.test", listed.clone(), false),
    ] {
        for is_write in [false, true] {
            let head = RequestHead { is_write, origin: Some(origin), ..to(host) };
            let due = if admitted { Ok(Admission::WebPage) } else { Err(GuardRefusal::Origin) };
            assert_eq!(admit(&head, &policy), due, "{host} {origin}");
        }
    }
    // A listed site is another site, which its browser says too.
    let head = RequestHead {
        origin: Some("https://app.example.org"),
        fetch_site: Some("cross-site"),
        ..post("hub.example.org", Some("application/json"))
    };
    assert_eq!(admit(&head, &listed), Ok(Admission::WebPage));
    assert_eq!(
        admit(&RequestHead { content_type: Some("text/plain"), ..head }, &listed),
        Err(GuardRefusal::ContentType)
    );
}

#[test]
fn a_browser_that_says_another_site_caused_it_changes_nothing() {
    for (site, is_write, admitted) in [
        ("cross-site", true, false),
        ("same-site", true, false),
        ("same-origin", true, true),
        ("none", true, true),
        ("cross-site", false, true),
        ("same-site", false, true),
    ] {
        let head = RequestHead { is_write, fetch_site: Some(site), ..to("127.0.0.1:4000") };
        assert_eq!(admit(&head, &own()).is_ok(), admitted, "{site} {is_write}");
    }
}

#[test]
fn a_body_is_json_or_comes_from_a_plain_program() {
    let host = "127.0.0.1:4000";
    let form = "application/x-www-form-urlencoded";
    for (kind, program, browser) in [
        (Some("application/json"), true, true),
        (Some("Application/JSON; charset=utf-8"), true, true),
        (Some("application/merge-patch+json"), true, true),
        (None, true, false),
        (Some(form), true, false),
        (Some("text/plain;charset=UTF-8"), false, false),
        (Some("multipart/form-data; boundary=x"), false, false),
        (Some("application/jsonp"), false, false),
        (Some(""), false, false),
    ] {
        let head = post(host, kind);
        assert_eq!(admit(&head, &own()).is_ok(), program, "{kind:?}");
        let origin = Some("http://127.0.0.1:4000");
        for from_browser in [
            RequestHead { origin, ..head },
            RequestHead { fetch_site: Some("same-origin"), ..head },
            RequestHead { is_from_browser: true, ..head },
        ] {
            assert_eq!(admit(&from_browser, &own()).is_ok(), browser, "{kind:?} {from_browser:?}");
        }
        assert!(admit(&RequestHead { has_body: false, ..head }, &own()).is_ok());
    }
}

proptest! {
    #[test]
    fn no_page_of_another_site_is_ever_admitted(host in ".{0,24}", origin in "[a-z]{1,9}://[a-z.:0-9]{1,20}") {
        let head = RequestHead { origin: Some(&origin), is_write: true, ..to(&host) };
        if admit(&head, &own()).is_ok() {
            let (_, name) = origin.split_once("://").unwrap();
            let same = |a: &str, b: &str| a.trim_end_matches(":80").trim_end_matches(":443")
                .eq_ignore_ascii_case(b.trim_end_matches(":80").trim_end_matches(":443"));
            prop_assert!(same(name, host.trim()), "{host} {origin}");
        }
    }
}
