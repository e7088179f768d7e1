//! Measures how fast the diagnosis reads a long log: `time_logs [MEGABYTES]`.

use capsid_rules::diagnosis::DiagnosisReader;
use std::time::Instant;

fn main() {
    let megabytes: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(64);
    let calm = |n: usize| {
        format!(
            "2026-11-02T10:{:02}:{:02}.{:03}Z INFO  shop.http request {n} GET /api/orders/{} served in {} ms\n",
            n / 60 % 60,
            n % 60,
            n % 1000,
            n % 977,
            n % 97
        )
    };
    let busy = |n: usize| {
        match n % 40 {
        7 => format!("2026-11-02T10:00:00Z ERROR shop.pay charge of order {n} was declined\n"),
        9 => "Traceback (most recent call last):\n  File \"/srv/shop/pay.py\", line 8, in charge\n    int(text)\nValueError: bad number\n".to_owned(),
        11 => format!("2026-11-02T10:00:00Z WARN  shop.http slow request {n}, error rate 0.1\n"),
        n => calm(n),
    }
    };
    let json = |n: usize| {
        format!(
            "{{\"level\":30,\"time\":1793700100123,\"pid\":{n},\"hostname\":\"web-1\",\"msg\":\"request done\",\"error\":null}}\n"
        )
    };
    let makers: [(&str, &dyn Fn(usize) -> String); 3] =
        [("info lines", &calm), ("one error in 20 lines", &busy), ("JSON lines that name errors", &json)];
    for (name, make) in makers {
        let mut text = String::new();
        let mut n = 0;
        while text.len() < megabytes * 1024 * 1024 {
            text.push_str(&make(n));
            n += 1;
        }
        text.push_str("error[E0308]: mismatched types\n --> src/lib.rs:1:2\n");
        let started = Instant::now();
        let mut reader = DiagnosisReader::new();
        for piece in text.as_bytes().chunks(1 << 20) {
            reader.push(piece);
        }
        let read = started.elapsed().as_secs_f64();
        let diagnosis = reader.finish();
        let seconds = started.elapsed().as_secs_f64();
        let found = diagnosis.problem.map(|problem| problem.errsig()).unwrap_or_default();
        println!(
            "{name}: {:.0} MB/s ({read:.2} s to read, {seconds:.2} s in all, {} lines) {found}",
            text.len() as f64 / 1e6 / seconds,
            diagnosis.lines
        );
    }
}
