//! Accounts, sessions, keys and claims, through the router.

mod claims;
mod hostile;
mod pages;
mod test_accounts;

use capsid_hub::auth::credentials::Credentials;
use capsid_hub::config::HubConfig;
use capsid_hub::error::HubCode;
use capsid_model::time::{Clock, Time};
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::{AdminAction, NodeStatus};
use capsid_store::accounts::{self, AccountRole, sessions};
use capsid_store::{audit, ledger};
use serde_json::{Value, json};
use test_accounts::{HOME, PASSWORD, TestAccounts, key, secret, session};

const DAY: i64 = 24 * 3_600_000;

#[tokio::test]
async fn the_whole_story_of_an_account() {
    for desk in TestAccounts::both() {
        let body = json!({"email": " Ann@Example.ORG ", "password": PASSWORD});
        let made = desk.post("/auth/register").json(&body).send().await.expect(201);
        assert_eq!(made["user"]["email"], "ann@example.org");
        assert_eq!(made["user"]["role"], "user");
        assert_eq!(made["user_id"], made["user"]["user_id"]);
        let expires = Time::parse(made["expires_at"].as_str().unwrap()).unwrap();
        assert_eq!(expires.0, desk.clock.now().0 + 30 * DAY);
        desk.post("/auth/register").json(&body).send().await.refused(409, "already_exists");

        let first = made["token"].as_str().unwrap();
        let again = desk.login("ANN@example.org", PASSWORD, HOME).await.expect(200);
        let token = again["token"].as_str().unwrap();
        assert_ne!(first, token);
        assert_eq!(token.len(), "sess_".len() + 64);

        let met = desk.hello("node_ann", None).await;
        assert_eq!(met["claimed"], false);
        let code = met["claim_code"].as_str().unwrap();
        assert!(met["claim_url"].as_str().unwrap().ends_with(&format!("/claim/{code}")));
        let seen = desk.get(format!("/claim/{code}")).send().await.expect(200);
        assert_eq!((&seen["node_id"], &seen["status"]), (&json!("node_ann"), &json!("pending")));
        let claimed = desk.post(format!("/claim/{code}")).token(token).send().await.expect(200);
        assert_eq!(claimed, json!({"status": "claimed", "node_id": "node_ann", "user_id": made["user_id"]}));
        let met = desk.hello("node_ann", None).await;
        assert_eq!(met["claimed"], true);
        assert!(met.get("claim_code").is_none());

        let me = desk.get("/account/me").token(token).send().await.expect(200);
        assert_eq!(me["credit_balance"], 200);
        assert_eq!(me["nodes"][0]["node_id"], "node_ann");
        assert_eq!(me["nodes"][0]["credit_balance"], 500);
        let agents = desk.get("/account/agents").token(token).send().await.expect(200);
        assert_eq!(agents["count"], 1);

        let named = desk.post("/account/api-keys").token(token).json(&json!({"name": "laptop"}));
        let made = named.send().await.expect(201);
        let text = made["api_key"].as_str().unwrap();
        assert_eq!(text.len(), "ek_".len() + 48);
        assert_eq!(made["hint"].as_str().unwrap(), format!("{}…{}", &text[..7], &text[47..]));
        let listed = desk.get("/account/api-keys").token(token).send().await.expect(200);
        assert!(!listed.to_string().contains(text), "a key is shown once");
        assert_eq!(listed["api_keys"][0]["name"], "laptop");
        desk.get("/account/me").token(text).send().await.expect(200);
        let path = format!("/account/api-keys/{}", made["key_id"].as_str().unwrap());
        desk.ask("DELETE", &path).token(token).send().await.expect(200);
        desk.ask("DELETE", &path).token(token).send().await.refused(404, "not_found");
        desk.get("/account/me").token(text).send().await.refused(401, "unauthorized");

        desk.post("/auth/logout").token(token).send().await.expect(200);
        desk.get("/account/me").token(token).send().await.refused(401, "unauthorized");
        desk.post("/auth/logout").token(token).send().await.refused(401, "unauthorized");
        desk.get("/account/me").token(first).send().await.expect(200);
        desk.wait(30 * DAY);
        desk.get("/account/me").token(first).send().await.refused(401, "unauthorized");
        assert_eq!(desk.hub.store.read(|tx| ledger::sum(tx)).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn an_account_has_at_most_five_keys() {
    let desk = TestAccounts::new();
    let token = desk.account("ann@example.org").await;
    let first = desk.new_key(&token).await.expect(201);
    for _ in 0..4 {
        desk.new_key(&token).await.expect(201);
    }
    assert_eq!(desk.new_key(&token).await.refused(409, "state_conflict")["limit"], 5);
    let path = format!("/account/api-keys/{}", first["key_id"].as_str().unwrap());
    desk.ask("DELETE", path).token(&token).send().await.expect(200);
    desk.new_key(&token).await.expect(201);
}

#[tokio::test]
async fn a_key_makes_no_keys_and_resets_nothing() {
    let desk = TestAccounts::new();
    let (token, _) = desk.owner_of("node_ann", "ann@example.org").await;
    let made = desk.new_key(&token).await.expect(201);
    let text = made["api_key"].as_str().unwrap();
    let change = json!({"current_password": PASSWORD, "new_password": "battery staple"});
    desk.new_key(text).await.refused(401, "unauthorized");
    desk.get("/account/api-keys").token(text).send().await.refused(401, "unauthorized");
    desk.ask("DELETE", "/account/api-keys/key_1").token(text).send().await.refused(401, "unauthorized");
    desk.post("/account/agents/node_ann/reset-secret").token(text).send().await.refused(401, "unauthorized");
    desk.post("/account/password").token(text).json(&change).send().await.refused(401, "unauthorized");
    desk.post("/auth/logout").token(text).send().await.refused(401, "unauthorized");
}

#[tokio::test]
async fn nobody_touches_the_keys_of_another() {
    let desk = TestAccounts::new();
    let (ann, bob) = (desk.account("ann@example.org").await, desk.account("bob@example.org").await);
    let made = desk.new_key(&ann).await.expect(201);
    let path = format!("/account/api-keys/{}", made["key_id"].as_str().unwrap());
    desk.ask("DELETE", path).token(&bob).send().await.refused(404, "not_found");
    let listed = desk.get("/account/api-keys").token(&bob).send().await.expect(200);
    assert_eq!(listed["api_keys"], json!([]));
    desk.get("/account/me").token(made["api_key"].as_str().unwrap()).send().await.expect(200);
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions() {
    let desk = TestAccounts::new();
    let other = desk.account("ann@example.org").await;
    let here = desk.login("ann@example.org", PASSWORD, HOME).await.expect(200);
    let here = here["token"].as_str().unwrap();
    let change = |current: &str| {
        let body = json!({"current_password": current, "new_password": "battery staple"});
        desk.post("/account/password").token(here).json(&body).send()
    };
    change("wrong horse").await.refused(401, "invalid_credentials");
    change(PASSWORD).await.expect(200);
    desk.get("/account/me").token(here).send().await.expect(200);
    desk.get("/account/me").token(&other).send().await.refused(401, "unauthorized");
    desk.login("ann@example.org", PASSWORD, HOME).await.refused(401, "invalid_credentials");
    desk.login("ann@example.org", "battery staple", HOME).await.expect(200);
}

#[tokio::test]
async fn an_owner_gives_a_bound_node_another_secret() {
    let desk = TestAccounts::new();
    let (token, old) = desk.owner_of("node_ann", "ann@example.org").await;
    let stranger = desk.account("eve@example.org").await;
    let path = "/account/agents/node_ann/reset-secret";
    desk.post(path).token(&stranger).send().await.refused(404, "node_not_found");
    desk.post(path).send().await.refused(401, "unauthorized");
    let nobody = desk.post("/account/agents/node_nobody/reset-secret").token(&token);
    nobody.send().await.refused(404, "node_not_found");

    let reset = desk.post(path).token(&token).send().await.expect(200);
    let fresh = reset["node_secret"].as_str().unwrap();
    assert_eq!((fresh.len(), &reset["node_secret_version"]), (64, &json!(2)));
    // A stranger's hello does not learn it, and nobody acts without it.
    assert!(desk.hello("node_ann", None).await.get("node_secret").is_none());
    assert_eq!(desk.act("node_ann", secret(&old)).await, Err(HubCode::NodeSecretInvalid));
    assert_eq!(desk.act("node_ann", Credentials::default()).await, Err(HubCode::NodeSecretRequired));
    assert_eq!(desk.act("node_ann", secret(fresh)).await, Ok(()));
    let trail = desk.hub.store.read(|tx| audit::list_for_subject(tx, "node", "node_ann", 10)).await.unwrap();
    let told: Vec<&str> = trail.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(told, ["claim", "reset_secret"]);
    assert!(trail.iter().all(|entry| entry.actor.starts_with("user:user_")));
}

#[tokio::test]
async fn an_owner_may_act_for_a_node_and_a_stranger_may_not() {
    let desk = TestAccounts::new();
    let (token, right) = desk.owner_of("node_ann", "ann@example.org").await;
    let made = desk.new_key(&token).await.expect(201);
    let stranger = desk.account("eve@example.org").await;
    assert_eq!(desk.act("node_ann", session(&token)).await, Ok(()));
    assert_eq!(desk.act("node_ann", key(made["api_key"].as_str().unwrap())).await, Ok(()));
    assert_eq!(desk.act("node_ann", secret(&right)).await, Ok(()));
    assert_eq!(desk.act("node_ann", session(&stranger)).await, Err(HubCode::NodeSecretRequired));
    assert_eq!(desk.act("node_ann", session("sess_0")).await, Err(HubCode::Unauthorized));
    assert_eq!(desk.act("node_ann", secret(&"0".repeat(64))).await, Err(HubCode::NodeSecretInvalid));
    let both = Credentials { secret: Some("0".repeat(64)), ..session(&token) };
    assert_eq!(desk.act("node_ann", both).await, Err(HubCode::NodeSecretInvalid));
    let listed = desk.get("/account/api-keys").token(&token).send().await.expect(200);
    assert!(listed["api_keys"][0]["last_used_at"].is_string());
    // A node that never showed its secret works without one, whatever token comes along.
    desk.hello("node_plain", None).await;
    assert_eq!(desk.act("node_plain", key("ek_0")).await, Ok(()));
}

#[tokio::test]
async fn an_admin_may_act_for_any_node_and_list_the_accounts() {
    let desk = TestAccounts::new();
    let (ann, _) = desk.owner_of("node_ann", "ann@example.org").await;
    let boss = desk.account("boss@example.org").await;
    desk.get("/admin/users").token(&boss).send().await.refused(403, "admin_required");
    desk.get("/admin/users").send().await.refused(401, "unauthorized");
    let (token, now) = (boss.clone(), desk.clock.now());
    let promote = desk.hub.store.write(move |tx| {
        let user = sessions::user(tx, &token, now)?.unwrap();
        admin::set_role(
            tx,
            &user.user_id,
            AccountRole::Admin,
            AdminAction { actor: "operator", reason: None, now },
        )
    });
    assert!(promote.await.unwrap().is_some());
    assert_eq!(desk.act("node_ann", session(&boss)).await, Ok(()));
    desk.post("/account/agents/node_ann/reset-secret").token(&boss).send().await.expect(200);
    desk.get("/admin/users").token(&ann).send().await.refused(403, "admin_required");
    let first = desk.get("/admin/users?limit=1").token(&boss).send().await.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = desk.get(format!("/admin/users?limit=1&cursor={cursor}")).token(&boss);
    let second = rest.send().await.expect(200);
    assert_eq!(second["next_cursor"], Value::Null);
    assert_ne!(first["users"][0]["user_id"], second["users"][0]["user_id"]);
    assert!(!first.to_string().contains("argon2"));
    for query in ["limit=0", "limit=201", "limit=x", "limit=1e3", "limit=1&limit=2", "limit=%ff"] {
        let got = desk.get(format!("/admin/users?{query}")).token(&boss).send().await;
        got.refused(400, "validation_error");
    }
    desk.get("/admin/users?cursor=nonsense").token(&boss).send().await.refused(400, "invalid_cursor");
}

#[tokio::test]
async fn a_banned_account_can_do_nothing_until_it_is_let_back() {
    let desk = TestAccounts::new();
    let (token, right) = desk.owner_of("node_ann", "ann@example.org").await;
    let ban = |banned: bool| {
        let now = desk.clock.now();
        desk.hub.store.write(move |tx| {
            let (user, _) = accounts::by_email(tx, "ann@example.org")?.unwrap();
            let by = AdminAction { actor: "operator", reason: Some("spam"), now };
            admin::set_user_banned(tx, &user.user_id, banned, by)
        })
    };
    ban(true).await.unwrap();
    desk.get("/account/me").token(&token).send().await.refused(403, "account_banned");
    desk.login("ann@example.org", PASSWORD, HOME).await.refused(403, "account_banned");
    desk.login("ann@example.org", "wrong horse", HOME).await.refused(401, "invalid_credentials");
    assert_eq!(desk.act("node_ann", secret(&right)).await, Err(HubCode::AccountBanned));
    ban(false).await.unwrap();
    desk.get("/account/me").token(&token).send().await.expect(200);
    assert_eq!(desk.act("node_ann", secret(&right)).await, Ok(()));
}

#[tokio::test]
async fn a_banned_node_stays_banned_for_its_owner() {
    let desk = TestAccounts::new();
    let (token, _) = desk.owner_of("node_ann", "ann@example.org").await;
    let by = AdminAction { actor: "operator", reason: None, now: desk.clock.now() };
    let banned =
        desk.hub.store.write(move |tx| admin::set_node_status(tx, "node_ann", NodeStatus::Banned, "ban", by));
    assert_eq!(banned.await.unwrap().unwrap().status, "active");
    assert_eq!(desk.act("node_ann", session(&token)).await, Err(HubCode::NodeBanned));
}

#[tokio::test]
async fn an_operator_sees_the_same_lists_on_both_databases() {
    for desk in TestAccounts::both() {
        desk.owner_of("node_ann", "ann@example.org").await;
        let lists = desk.hub.store.read(|tx| {
            let mut users = Vec::new();
            for banned in [None, Some(false), Some(true)] {
                users.push(admin::list_users(tx, banned, 10)?.len());
            }
            let mut nodes = Vec::new();
            for status in [None, Some("active"), Some("banned"), Some("flagged")] {
                nodes.push(admin::list_nodes(tx, status, 10)?.len());
            }
            let assets = admin::list_assets(tx, Some("candidate"), 10)?.len();
            Ok::<_, capsid_model::Problem>((users, nodes, assets))
        });
        assert_eq!(lists.await.unwrap(), (vec![1, 1, 0], vec![1, 1, 0, 0], 0));
    }
}

#[tokio::test]
async fn a_hub_may_keep_its_accounts_to_itself() {
    let desk = TestAccounts::with(HubConfig { open_registration: false, ..HubConfig::default() });
    let body = json!({"email": "ann@example.org", "password": PASSWORD});
    desk.post("/auth/register").json(&body).send().await.refused(403, "registration_closed");
}
