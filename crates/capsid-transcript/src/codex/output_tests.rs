use super::*;
use capsid_model::fields;

fn read(output: impl Into<ExactJson>) -> (ExactJson, bool) {
    let output: ExactJson = output.into();
    let read = output_of(&fields! { "output": output }.into());
    (read.result, read.signals.outcome() == crate::OutcomeStatus::Failure)
}

#[test]
fn every_form_of_an_output_is_read() {
    let inner = |code: i64| fields! { "output": "text", "metadata": fields! { "exit_code": code } };
    assert_eq!(read(inner(0)), ("text".into(), false));
    assert_eq!(read(inner(2)), ("text".into(), true));
    assert_eq!(read("{\"output\":\"text\",\"metadata\":{\"exit_code\":1}}"), ("text".into(), true));
    assert_eq!(read("{\"a\":1}"), ("{\"a\":1}".into(), false));
    assert_eq!(read("plain"), ("plain".into(), false));
    assert_eq!(read(fields! { "content": "no", "success": false }), ("no".into(), true));
    let parts = |name: &str| ExactJson::from(fields! { "type": "input_text", "text": name });
    assert_eq!(read(vec![parts("a"), parts("b")]), ("a\nb".into(), false));
    let uri = format!("data:image/png;base64,{}", "A".repeat(100));
    let image: ExactJson = fields! { "type": "input_image", "image_url": uri }.into();
    let (mixed, _) = read(vec![parts("a"), image]);
    let shown = mixed.as_array().unwrap()[1].at(&["image_url", "base64_length"]).cloned();
    assert_eq!(shown, Some(100_i64.into()));
}

#[test]
fn the_head_of_a_shell_s_output_says_whether_it_failed() {
    assert!(read("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno").1);
    assert!(!read("Exit code: 0\nWall time: 0.2 seconds\nOutput:\nyes").1);
    assert!(read("Chunk ID: a\nWall time: 0.2 seconds\nProcess exited with code 7\nOutput:\n").1);
    assert!(!read("Exit code: 1 is what the text is about").1);
    assert!(!read("Wall time: 1 seconds\nOutput:\nExit code: 1").1);
}
