//! No call ever reaches a network that is not public: not when an address is registered, and not when it is called, even
//! if the check at registration had let it through.

use super::receiver::{Answers, Receiver};
use super::{Hooked, allow_local, work};
use crate::common::{Names, On, TestHub, on_sqlite_with};
use capsid_hub::outbound::resolve::{CallAddress, Resolver, SystemResolver};
use capsid_hub::outbound::url;
use capsid_hub::webhooks::call::WebhookCaller;
use capsid_model::time::Clock;
use capsid_store::notifications::deliveries::calls::{DeliveryCall, DeliverySettlement};
use serde_json::json;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

const TABLE: &str = include_str!("addresses.txt");
/// A name that looks harmless.
const NAME: &str = "agent.example.com";
const PATIENCE: Duration = Duration::from_secs(5);

/// The lines of one kind.
fn lines_of_kind(kind: &str) -> Vec<&'static str> {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(' '))
        .filter(|(word, _)| *word == kind)
        .map(|(_, rest)| rest)
        .collect()
}

fn url(host: &str) -> String {
    if host.contains(':') { format!("https://[{host}]/hook") } else { format!("https://{host}/hook") }
}

/// Every address of the table as a URL.
fn urls() -> Vec<String> {
    let hosts = ["address", "form", "name"].into_iter().flat_map(lines_of_kind).map(url);
    hosts.chain(lines_of_kind("url").into_iter().map(str::to_owned)).collect()
}

/// Receivers on this machine at one port, by IPv4 and, where there is one, by IPv6.
fn receivers(hub: &TestHub) -> Vec<Receiver> {
    let by_v4 = Receiver::start_at(&hub.runtime, "0.0.0.0:0", &[Answers::Status(200)]).unwrap();
    let by_v6 = format!("[::1]:{}", by_v4.port);
    let by_v6 = Receiver::start_at(&hub.runtime, &by_v6, &[Answers::Status(200)]);
    [Some(by_v4), by_v6.ok()].into_iter().flatten().collect()
}

fn assert_untouched(receivers: &[Receiver]) {
    for receiver in receivers {
        assert_eq!(receiver.connections_before(), 0, "something was sent");
    }
}

fn call(url: &str) -> DeliveryCall {
    DeliveryCall {
        delivery_id: "evt_1".to_owned(),
        node_id: "node_a".to_owned(),
        kind: "ping".to_owned(),
        payload: "{}".to_owned(),
        attempt: 1,
        url: url.to_owned(),
        secrets: vec!["whsec_AAAA".to_owned()],
        probes: false,
    }
}

#[test]
fn the_table_is_long_enough() {
    let counts = ["address", "form", "name", "url"].map(|kind| lines_of_kind(kind).len());
    println!("{counts:?}");
    assert!(counts.iter().sum::<usize>() >= 120 && counts[0] >= 90, "{counts:?}");
    for address in lines_of_kind("address") {
        address.parse::<IpAddr>().unwrap_or_else(|error| panic!("{address}: {error}"));
    }
}

#[test]
fn every_address_of_the_table_is_refused_when_it_is_registered() {
    let generous = |config: &mut capsid_hub::config::HubConfig| {
        allow_local(config);
        config.allow_local_webhooks = false;
    };
    on_sqlite_with(generous, |hub| {
        let secret = hub.register("node_a");
        let hello = |url: &str| {
            let told = hub.message_as("node_a", &secret, "hello", json!({"webhook_url": url})).expect(200);
            assert!(told.get("webhook_secret").is_none(), "{url}");
            told["webhook_status"].as_str().unwrap().to_owned()
        };
        for url in urls() {
            let status = hello(&url);
            assert!(status.starts_with("rejected:"), "{url}: {status}");
        }
        for address in lines_of_kind("address") {
            hub.names.set(NAME, &[&[address]]);
            assert_eq!(hello(&url(NAME)), "rejected:private_address", "{address}");
            hub.names.set(NAME, &[&["93.184.215.14", address, "2606:2800:220:1::1"]]);
            assert_eq!(hello(&url(NAME)), "rejected:private_address", "{address} among others");
        }
        let told = hub.get_as(&secret, "/a2a/webhook?node_id=node_a").expect(200);
        assert_eq!(told["registered"], false);
        hub.names.set(NAME, &[&["93.184.215.14"]]);
        let told = hub.message_as("node_a", &secret, "hello", json!({"webhook_url": url(NAME)})).expect(200);
        assert_eq!(told["webhook_status"], "registered", "the table would be worth nothing otherwise");
    });
}

#[test]
fn every_address_of_the_table_is_refused_when_it_is_called() {
    let hub = TestHub::sqlite();
    let receivers = receivers(&hub);
    let port = receivers[0].port;
    let names = Arc::new(Names::default());
    let caller = WebhookCaller::new(Arc::clone(&names) as Arc<dyn Resolver>, false, PATIENCE);
    let asks_system = WebhookCaller::new(Arc::new(SystemResolver), false, PATIENCE);
    let place = |host: &str| CallAddress { host: host.to_owned(), port, local: false };
    hub.runtime.block_on(async {
        for address in lines_of_kind("address") {
            // As the text of the address itself, with the check of the text skipped.
            let refused = caller.connect(&place(address)).await.unwrap_err();
            assert_eq!(refused, "private_address", "{address}");
            // As what a name stands for, alone and among others.
            for answer in [&[address][..], &["93.184.215.14", address], &[address, "93.184.215.14"]] {
                names.set(NAME, &[answer]);
                let refused = caller.connect(&place(NAME)).await.unwrap_err();
                assert_eq!(refused, "private_address", "{answer:?}");
            }
        }
        for form in lines_of_kind("form") {
            // The system reads these as addresses.
            let refused = asks_system.connect(&place(form)).await.unwrap_err();
            assert_eq!(refused, "private_address", "{form}");
        }
        for name in lines_of_kind("name") {
            names.set(name, &[&["127.0.0.1"]]);
            assert_eq!(caller.connect(&place(name)).await.unwrap_err(), "private_address", "{name}");
        }
        for url in urls() {
            names.asked();
            let outcome = caller.call(&call(&url), hub.clock.now()).await;
            assert!(outcome.error.is_some() && outcome.status.is_none(), "{url}: {outcome:?}");
            assert!(names.asked().is_empty(), "{url} was looked up");
        }
    });
    assert_untouched(&receivers);
    // The same way leads there where it is allowed, so it is the check that kept the calls from it.
    let local = CallAddress { local: true, ..place("127.0.0.1") };
    hub.runtime.block_on(caller.connect(&local)).unwrap();
    assert_eq!(receivers[0].connections_before(), 1);
}

#[test]
fn only_this_machine_may_be_called_where_the_operator_allows_it() {
    let hub = TestHub::sqlite();
    let receivers = receivers(&hub);
    let names = Arc::new(Names::default());
    let caller = WebhookCaller::new(Arc::clone(&names) as Arc<dyn Resolver>, true, PATIENCE);
    let others: Vec<_> = lines_of_kind("address")
        .into_iter()
        .filter(|text| !text.parse::<IpAddr>().unwrap().is_loopback())
        .collect();
    hub.runtime.block_on(async {
        for address in &others {
            for scheme in ["http", "https"] {
                let url = url(address).replace("https", scheme);
                assert!(url::check(&url, true).is_err(), "{url}");
            }
            // Whatever `localhost` stands for, it is nothing else than this machine.
            names.set("localhost", &[&["127.0.0.1", address]]);
            let place = CallAddress { host: "localhost".to_owned(), port: receivers[0].port, local: true };
            assert_eq!(caller.connect(&place).await.unwrap_err(), "private_address", "{address}");
        }
        // And what leads to this machine is called by its name only.
        names.set(NAME, &[&["127.0.0.1"]]);
        let outcome = caller.call(&call(&url(NAME)), hub.clock.now()).await;
        assert_eq!(outcome.error.as_deref(), Some("private_address"));
    });
    assert_untouched(&receivers);
}

#[test]
fn a_name_that_changes_its_answer_leads_nowhere() {
    let hub = TestHub::start(On::Sqlite, allow_local);
    let receivers = receivers(&hub);
    hub.names.set(NAME, &[&["93.184.215.14"], &["127.0.0.1"]]);
    let node = Hooked::new(&hub, "node_a", &url(NAME));
    assert_eq!(hub.names.asked(), [NAME]);
    node.ping(&hub);
    assert_eq!(work(&hub), [DeliverySettlement::Retrying]);
    assert_eq!(node.newest(&hub)["last_error"], "private_address");
    // It is asked for once, and what was checked is what is called: there is no second answer to be fooled by.
    assert_eq!(hub.names.asked(), [NAME]);
    let place = CallAddress { host: NAME.to_owned(), port: receivers[0].port, local: false };
    hub.names.set(NAME, &[&["192.168.1.1"], &["93.184.215.14"]]);
    let caller = WebhookCaller::new(Arc::clone(&hub.hub.resolver), true, PATIENCE);
    assert_eq!(hub.runtime.block_on(caller.connect(&place)).unwrap_err(), "private_address");
    assert_eq!(hub.names.asked(), [NAME]);
    // A name that is gone is no address at all.
    hub.names.set(NAME, &[]);
    assert_eq!(hub.runtime.block_on(caller.connect(&place)).unwrap_err(), "name_not_resolved");
    assert_untouched(&receivers);
}

#[test]
fn a_redirect_into_a_network_is_not_followed() {
    let hub = TestHub::start(On::Sqlite, allow_local);
    let inside = receivers(&hub);
    let port = inside[0].port;
    let targets = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://localhost:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ];
    let script: Vec<_> = [301, 302, 303, 307, 308, 300]
        .into_iter()
        .zip(targets)
        .map(|(status, to)| Answers::Redirect(status, to))
        .collect();
    let count = script.len();
    let outside = Receiver::start(&hub.runtime, &script);
    let node = Hooked::new(&hub, "node_a", &outside.url());
    node.ping(&hub);
    for _ in 0..count {
        assert_eq!(work(&hub), [DeliverySettlement::Retrying]);
        assert_eq!(node.newest(&hub)["last_error"], "redirect_not_followed");
        hub.clock.advance(6 * 3_600_000);
    }
    assert_eq!(outside.connections(), count);
    assert_untouched(&inside);
}

/// Where the process below finds the receivers.
const PORTS: &str = "CAPSID_TEST_PROXIED";

/// Variables cannot be set for the process of a test, so the test starts itself with them.
#[test]
#[allow(clippy::disallowed_methods)]
fn proxies_of_the_environment_are_not_used() {
    if std::env::var_os(PORTS).is_some() {
        return with_proxies();
    }
    let hub = TestHub::sqlite();
    let proxy = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
    let receiver = Receiver::start(&hub.runtime, &[Answers::Status(200)]);
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "webhooks::addresses::proxies_of_the_environment_are_not_used", "--nocapture"]);
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        again.env(name, format!("http://127.0.0.1:{}", proxy.port));
    }
    let ran = again.env("no_proxy", "").env("NO_PROXY", "").env(PORTS, receiver.url()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(receiver.received()[0].path, "/hook?x=1", "it was called directly");
    assert_eq!(proxy.connections(), 0);
}

fn with_proxies() {
    let hub = TestHub::start(On::Sqlite, allow_local);
    let node = Hooked::new(&hub, "node_a", &std::env::var(PORTS).unwrap());
    node.ping(&hub);
    assert_eq!(work(&hub), [DeliverySettlement::Delivered]);
}
