//! `capsid events --web` as a user starts it: the built program, real cycles, a real port.
#![cfg(unix)]

use capsid_model::Value;
use capsid_testkit::program_repo::ProgramRepo;
use capsid_testkit::served_program::ServedProgram;

/// Starts `capsid events --web`.
fn serve(desk: &ProgramRepo) -> ServedProgram {
    ServedProgram::start(
        desk.program.command(desk.repo.path(), &["events", "--web", "--port", "0"]),
        "/evolution",
    )
}

fn desk() -> ProgramRepo {
    ProgramRepo::named(env!("CARGO_BIN_EXE_capsid"), "shop")
}

fn texts<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|each| each[name].as_str().unwrap()).collect()
}

#[test]
fn the_history_is_what_the_store_and_the_other_commands_say() {
    let desk = desk();
    for body in ["echo good > state.txt", "echo bad > state.txt", "echo better > state.txt"] {
        desk.repo.write("app.log", format!("error: TypeError: {body} is not a function\n"));
        desk.evolve(&[], body);
    }
    let served = serve(&desk);
    let told = served.get("/local/evolution.json").json();
    let about = served.get("/local/about").json();
    let index = served.get("/local/trail/index.json").json();
    assert_eq!(served.stop().status, 0);

    let listed = desk.program.expect(0, &desk.repo, &["events", "--json"]).json();
    let recorded = listed["events"].as_array().unwrap();
    assert_eq!(recorded.len(), 3, "{listed}");
    assert_eq!(texts(&told["events"], "id"), texts(&listed["events"], "id"));
    assert_eq!(texts(&told["events"], "status"), ["success", "failed", "success"]);
    assert_eq!(texts(&told["events"], "seal"), ["sealed"; 3]);
    assert_eq!(told["seal"]["state"], "sealed");
    for (event, line) in told["events"].as_array().unwrap().iter().zip(recorded) {
        assert_eq!(event["parent"], line["parent"]);
        assert_eq!(event["intent"], line["intent"]);
        assert_eq!(event["genes"], line["genes_used"]);
        assert_eq!(event["signals"], line["signals"]);
        assert_eq!(event["files"], line["blast_radius"]["files"]);
        assert_eq!(event["lines"], line["blast_radius"]["lines"]);
        assert_eq!(event["source"], line["source_type"]);
        assert_eq!(event["validation"]["commands"][0]["ok"], line["meta"]["validation"][0]["ok"]);
        assert_eq!(event["why"]["reasons"], line["meta"]["selector"]["reason"]);
        assert_eq!(event["why"]["run"], line["meta"]["run_id"]);
        assert_eq!(event["why"]["follows"], true);
    }
    let stats = desk.program.expect(0, &desk.repo, &["events", "stats", "--json"]).json();
    assert_eq!(told["totals"]["cycles"], stats["all"]["cycles"]);
    assert_eq!(told["genes"][0]["runs"], stats["genes"][told["genes"][0]["id"].as_str().unwrap()]["cycles"]);

    let run = told["events"][2]["why"]["run"].as_str().unwrap();
    let explained = desk.program.expect(0, &desk.repo, &["explain", run, "--json"]).json();
    let scores = explained["selection"]["scores"].as_array().unwrap();
    let candidates = told["events"][2]["why"]["candidates"].as_array().unwrap();
    for scored in scores {
        let same = candidates.iter().find(|candidate| candidate["id"] == scored["gene"]).unwrap();
        assert_eq!(same["score"], scored["score"]);
    }
    assert_eq!((about["repository"].as_str(), about["has_trail"].as_bool()), (Some("shop"), Some(true)));
    assert_eq!(index["chain_count"], 1, "the chain of the log is on the same desk");
}

#[test]
fn nothing_is_told_without_the_key() {
    let desk = desk();
    let served = serve(&desk);
    for key in ["", "0000", &served.key[1..]] {
        let got = served.get_with("/local/evolution.json", key);
        assert_eq!(got.status, 401, "{got:?}");
        assert!(!got.text().contains("shop"), "{got:?}");
    }
    let page = served.get_with("/evolution", "");
    assert_eq!(page.status, 200, "the page itself holds nothing");
    assert!(!page.text().contains("shop") && !page.text().contains(&served.key));
    served.stop();
}

#[test]
fn a_repository_without_a_history_is_served_and_so_is_a_damaged_log() {
    let desk = desk();
    std::fs::remove_dir_all(desk.repo.file("assets")).unwrap();
    let served = serve(&desk);
    let told = served.get("/local/evolution.json").json();
    assert_eq!((told["has_store"].as_bool(), told["totals"]["cycles"].as_u64()), (Some(false), Some(0)));
    assert_eq!(served.get("/local/trail/index.json").status, 404);
    // What happens meanwhile shows when the page is loaded again.
    desk.program.expect(0, &desk.repo, &["init"]);
    desk.repo.write("assets/gep/events.jsonl", "{\"type\":\"EvolutionEvent\",\"id\":\"evt_1\"}\nno json\n");
    let told = served.get("/local/evolution.json").json();
    assert_eq!((told["has_store"].as_bool(), told["unreadable"].as_u64()), (Some(true), Some(1)));
    assert_eq!(told["events"][0]["why"], Value::Null);
    served.stop();
}

#[test]
fn options_that_do_not_belong_together_are_refused() {
    let desk = desk();
    for args in
        [&["events", "--web", "--tree"][..], &["events", "--web", "--gene", "g"], &["events", "--open"]]
    {
        let ran = desk.program.run(&desk.repo, args);
        assert_eq!(ran.status, 2, "{args:?}\n{ran}");
    }
}
