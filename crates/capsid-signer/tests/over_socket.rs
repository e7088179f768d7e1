//! The service over its socket.

use crate::support::{Scene, history, slices};
use capsid_model::{Code, SystemClock, Time};
use capsid_seal::hash::sha3_hex;
use capsid_signer::client::{SignerClient, load_heads};
use capsid_signer::rules::signer_chain::SignerChain;
use capsid_signer::service::SignerService;
use capsid_signer::state_files;
use capsid_signer::wire::{AdoptedHead, SignerReply, SignerRequest};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn name(session: &str) -> SignerChain {
    SignerChain::new("codex", session).unwrap()
}

#[test]
fn records_are_signed_once_and_a_second_history_is_refused() {
    let scene = Scene::new();
    scene.serve();
    let keys = scene.trust.keys().unwrap();
    let (ours, other) = (history("s", "a", 5), history("s", "b", 5));
    let mut client = scene.client();
    let first = client.sign(&slices(&ours[..3]), &keys).unwrap();
    for (text, signature) in ours.iter().zip(&first.signatures) {
        assert!(first.key.verifies(&sha3_hex(text.as_bytes()), signature));
    }
    assert_eq!(client.sign(&slices(&ours[..3]), &keys).unwrap(), first, "a repeated request gets the same");
    for refused in [&other[..1], &other[2..3], &other[..]] {
        assert_eq!(client.sign(&slices(refused), &keys).unwrap_err().code, Code::SignerFork);
    }
    client.sign(&slices(&ours[3..]), &keys).unwrap();
    let status = client.status().unwrap();
    assert_eq!((status.chains, status.records, status.is_adopt_open), (1, 5, false));
    let heads = load_heads(&scene.trust).unwrap();
    assert_eq!(heads.chains[0].head.count, 5);
    assert!(heads.origin.nonce.is_some());
}

#[test]
fn the_service_signs_nothing_that_it_has_not_parsed() {
    let scene = Scene::new();
    scene.serve();
    let keys = scene.trust.keys().unwrap();
    let record = history("s", "a", 1).remove(0);
    let hash = sha3_hex(record.as_bytes());
    let repeated = record.replace(r#""sequence":0"#, r#""sequence":0,"sequence":0"#);
    let two_domains = record.replace(r#""domain":"codex""#, r#""domain":"codex","domain":"x""#);
    let statement = format!("capsid-head/v1\nuser 1\nkey {hash}\n");
    for text in ["", &hash, &format!("\"{hash}\""), "{}", &repeated, &two_domains, &statement, &record[1..]] {
        assert_eq!(scene.client().sign(&[text], &keys).unwrap_err().code, Code::SignerMalformed, "{text}");
    }
    let service_file = std::fs::metadata(scene.user_folder().join("journal")).unwrap().len();
    scene.client().sign(&[&record], &keys).unwrap();
    assert!(std::fs::metadata(scene.user_folder().join("journal")).unwrap().len() > service_file);
}

#[test]
fn a_message_that_is_no_request_closes_the_connection_and_nothing_else() {
    let scene = Scene::new();
    scene.serve();
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 8], &[0; 8], b"\x02\0\0\0\0\0\0\0{}"] {
        let mut stream = UnixStream::connect(&scene.trust.socket).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        // A close with unread bytes may come as an error.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty());
    }
    scene.client().status().unwrap();
}

#[test]
fn a_ninth_connection_is_refused_until_one_closes() {
    let scene = Scene::new();
    scene.serve();
    let mut clients: Vec<SignerClient> = (0..8).map(|_| scene.client()).collect();
    clients.iter_mut().for_each(|client| drop(client.status().unwrap()));
    assert_eq!(scene.client().status().unwrap_err().code, Code::SignerBusy);
    clients.pop();
    let is_free = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        scene.client().status().is_ok()
    });
    assert!(is_free);
}

#[test]
fn only_root_restarts_a_chain_or_rotates_the_key_and_a_stranger_is_not_served() {
    let scene = Scene::new();
    let service = SignerService::new(&scene.state(), Box::new(SystemClock));
    let user = scene.trust.user;
    let refused = |(reply, _): (SignerReply, String)| match reply {
        SignerReply::Refused(refusal) => refusal.code,
        other => panic!("{other:?}"),
    };
    let chain = name("s");
    for request in [
        SignerRequest::RestartChain { user, chain },
        SignerRequest::Rotate { user },
        SignerRequest::Epochs { user },
        SignerRequest::Status,
        SignerRequest::Sign { lengths: vec![] },
    ] {
        assert_eq!(refused(service.answer(user + 4711, &request, b"")), "signer_refused");
    }
}

#[test]
fn a_rotated_key_is_named_by_the_old_one_and_signs_from_then_on() {
    let scene = Scene::new();
    let service = SignerService::new(&scene.state(), Box::new(SystemClock));
    let user = scene.trust.user;
    let (SignerReply::Epochs { epochs }, _) = service.answer(0, &SignerRequest::Rotate { user }, b"") else {
        panic!()
    };
    assert_eq!(epochs.len(), 2);
    let trust = capsid_signer::trust_root::SignerTrust { epochs: epochs.clone(), ..scene.trust.clone() };
    let [old, new] = trust.keys().unwrap()[..] else { panic!() };
    let text = capsid_signer::rules::statement::rotation_text(user, &old, &new);
    assert!(old.verifies(&text, &epochs[1].signature));
    drop(service);
    scene.serve();
    let texts = history("s", "a", 1);
    assert_eq!(scene.client().sign(&slices(&texts), &[old]).unwrap_err().code, Code::SignerRefused);
    assert_eq!(scene.client().sign(&slices(&texts), &[old, new]).unwrap().key, new);
    assert!(load_heads(&scene.trust).is_err(), "heads of a key that the trust root does not name");
    load_heads(&trust).unwrap();
}

#[test]
fn heads_are_read_from_the_file_when_the_service_is_down() {
    let scene = Scene::new();
    scene.serve();
    let keys = scene.trust.keys().unwrap();
    scene.client().sign(&slices(&history("s", "a", 2)), &keys).unwrap();
    let down = capsid_signer::trust_root::SignerTrust { socket: "/nowhere".into(), ..scene.trust };
    let read = || load_heads(&down).ok().filter(|heads| heads.chains.len() == 1);
    let heads = (0..500).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        read()
    });
    let heads = heads.unwrap();
    assert_eq!((heads.chains[0].head.count, heads.origin.nonce), (2, None));
    let changed = std::fs::read_to_string(&down.heads).unwrap().replace("codex", "cursor");
    std::fs::write(&down.heads, changed).unwrap();
    assert_eq!(load_heads(&down).unwrap_err().code, Code::SignerRefused);
    std::fs::remove_file(&down.heads).unwrap();
    assert_eq!(load_heads(&down).unwrap_err().code, Code::SignerUnreachable);
}

#[test]
fn an_adopted_chain_goes_on_where_it_was_and_adoption_closes() {
    let scene = Scene::new();
    scene.serve();
    let keys = scene.trust.keys().unwrap();
    let texts = history("s", "a", 3);
    let adopted = |session: &str, count: usize| AdoptedHead {
        chain: name(session),
        count: count as u64,
        head: sha3_hex(texts[count - 1].as_bytes()),
    };
    scene.client().adopt(&[adopted("s", 2)]).unwrap();
    assert_eq!(scene.client().sign(&slices(&texts[..1]), &keys).unwrap_err().code, Code::SignerFork);
    scene.client().sign(&slices(&texts[2..]), &keys).unwrap();
    assert_eq!(scene.client().adopt(&[adopted("t", 2)]).unwrap_err().code, Code::SignerRefused);
    let heads = load_heads(&scene.trust).unwrap();
    assert_eq!((heads.chains[0].head.count, heads.chains[0].adopted), (3, 2));
}

#[test]
fn a_restored_service_learns_its_own_records_again_and_no_others() {
    let scene = Scene::new();
    let keys = scene.trust.keys().unwrap();
    let texts = history("s", "a", 4);
    let clock = SystemClock;
    let open = || {
        capsid_signer::user_signer::UserSigner::open(&scene.user_folder(), scene.trust.user, &clock).unwrap()
    };
    let signed = |signer: &capsid_signer::user_signer::UserSigner, texts: &[String]| match signer
        .sign(&slices(texts), &clock)
    {
        Ok(SignerReply::Signed { signatures, .. }) => signatures,
        other => panic!("{other:?}"),
    };
    let signer = open();
    signed(&signer, &texts[..1]);
    let copy = scene.folder.path().join("copy");
    state_files::backup(&scene.state(), scene.trust.user, &copy).unwrap();
    let signatures = signed(&signer, &texts[1..3]);
    signer.write_heads(&clock).unwrap();
    let busy = state_files::restore(&scene.state(), scene.trust.user, &copy, None).unwrap_err();
    assert_eq!(busy.code, Code::StoreLocked, "a running service is not replaced");
    drop(signer);
    // The journal alone, set back by hand, is noticed.
    let journal = scene.user_folder().join("journal");
    let newest = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, std::fs::read(copy.join(scene.trust.user.to_string()).join("journal")).unwrap())
        .unwrap();
    let opened = capsid_signer::user_signer::UserSigner::open(&scene.user_folder(), scene.trust.user, &clock);
    assert_eq!(opened.err().unwrap().code, Code::SignerDamaged);
    std::fs::write(&journal, newest).unwrap();
    state_files::restore(&scene.state(), scene.trust.user, &copy, None).unwrap();
    scene.serve();
    let mut client = scene.client();
    assert_eq!(client.sign(&slices(&texts[3..]), &keys).unwrap_err().code, Code::SignerFork);
    let forged = vec!["00".repeat(64); 2];
    assert_eq!(client.catch_up(&slices(&texts[1..3]), forged).unwrap_err().code, Code::SignerRefused);
    client.catch_up(&slices(&texts[1..3]), signatures).unwrap();
    client.sign(&slices(&texts[3..]), &keys).unwrap();
}

#[test]
fn a_reset_begins_a_new_key_and_freezes_what_was_signed() {
    let scene = Scene::new();
    let clock = SystemClock;
    let user = scene.trust.user;
    let signer = capsid_signer::user_signer::UserSigner::open(&scene.user_folder(), user, &clock).unwrap();
    signer.sign(&slices(&history("s", "a", 2)), &clock).unwrap();
    drop(signer);
    std::fs::remove_file(scene.user_folder().join("key")).unwrap();
    let lost = capsid_signer::user_signer::UserSigner::open(&scene.user_folder(), user, &clock);
    assert_eq!(lost.err().unwrap().code, Code::SignerDamaged);
    let epochs = state_files::reset(&scene.state(), user, None, &[2; 32], Time(5)).unwrap();
    assert_eq!(epochs.len(), 2);
    let signer = capsid_signer::user_signer::UserSigner::open(&scene.user_folder(), user, &clock).unwrap();
    assert!(signer.status().unwrap().is_adopt_open);
    assert_eq!(signer.sign(&slices(&history("s", "b", 1)), &clock).unwrap_err().code, "signer_fork");
}
