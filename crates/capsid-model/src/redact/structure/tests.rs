use super::*;

/// What is found in a text, in order.
fn secrets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    find(text, &mut found);
    found.sort_by_key(|found| found.secret.start);
    found.into_iter().map(|found| &text[found.secret]).collect()
}

#[test]
fn only_the_value_is_found() {
    for (text, expected) in [
        ("A=1 API_KEY=x7Kd02mQ1z B=2", &["x7Kd02mQ1z"][..]),
        ("redis-cli -h c -p 6379 -a sunny123 ping", &["sunny123"]),
        ("docker run --name mongo -p 27017:27017 mongo", &[]),
        ("docker exec db mysql -uroot -psunny123 shop", &["sunny123"]),
        ("mysql -u root -p shop2024", &[]),
        ("echo sunny123 | sudo -S ls", &["sunny123"]),
        ("sudo -S ls <<< 'sunny123'", &["sunny123"]),
        ("htpasswd -bc .htpasswd ada sunny123", &["sunny123"]),
        ("htpasswd -c .htpasswd ada", &[]),
        ("os.getenv(\"DB_PASSWORD\", \"sunny\")", &["sunny"]),
        ("t(\"password\", \"Passwort1\")", &[]),
        ("password: |\n  sunny123\nname: x", &["sunny123"]),
        ("machine a.test\n login ada\n password sunny", &["sunny"]),
        ("curl -b 'sid=a1b2c3d4; x=y' u", &["sid=a1b2c3d4; x=y"]),
        ("curl -b cookies1.txt u", &[]),
        ("password: str = Field(default=\"sunny12\")", &["sunny12"]),
        ("${DB_PASSWORD:-sunny}", &["sunny"]),
        ("[\"redis-cli\", \"-a\", \"sunny123\"]", &["sunny123"]),
        ("7z x -psunny123 b.7z", &["sunny123"]),
        ("mkdir -p sunny123; cp -a sunny123 b; grep -w sunny123 c", &[]),
    ] {
        assert_eq!(secrets(text), expected, "{text}");
    }
}

#[test]
fn a_cut_behind_the_value_knows_what_follows() {
    let text = "echo sunny123 | sudo -S ls";
    let mut found = Vec::new();
    find(text, &mut found);
    assert_eq!(found[0].until, text.find(" ls").unwrap());
}
