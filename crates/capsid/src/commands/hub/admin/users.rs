//! Accounts.

use super::{Done, OPERATOR, not_found, refused};
use crate::commands::hub::Place;
use capsid_hub::random::{Random, SystemRandom};
use capsid_hub::runtime::passwords;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_rules::identity::account;
use capsid_rules::identity::account::{EMAIL_EXPECTED, PASSWORD_EXPECTED};
use capsid_store::Store;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::By;
use capsid_store::accounts::{self, NewUser, Role, User};
use clap::Args;
use std::io::{BufRead, Read};

/// More than any password and its line break take.
const LINE_LIMIT: u64 = 4096;

/// Make an account. Prints a password for it once, unless you give one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin create-user ann@example.org --admin\n  \
                  capsid hub admin create-user ann@example.org --password-stdin < password.txt")]
pub struct Create {
    /// The e-mail address that names the account.
    email: String,

    /// Make it an admin.
    #[arg(long)]
    admin: bool,

    /// Take the password from the first line of stdin.
    #[arg(long)]
    password_stdin: bool,
}

/// Make an account an admin, who may decide about everybody's assets and nodes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin grant-admin ann@example.org")]
pub struct Grant {
    /// The account's e-mail address.
    email: String,
}

/// Make an admin an ordinary account again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin revoke-admin ann@example.org")]
pub struct Revoke {
    /// The account's e-mail address.
    email: String,
}

/// Give an account another password and end its sessions. Prints the password once, unless you give one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin reset-password ann@example.org")]
pub struct ResetPassword {
    /// The account's e-mail address.
    email: String,

    /// Take the password from the first line of stdin.
    #[arg(long)]
    password_stdin: bool,
}

/// Makes an account.
pub fn create(store: &Store, asked: &Create, place: &Place) -> Result<Done> {
    let email = email(&asked.email)?;
    let password = Password::choose(asked.password_stdin)?;
    let new = NewUser {
        user_id: format!("user_{}", random().hex(8)),
        email: email.clone(),
        password_hash: password.hash()?,
        role: if asked.admin { Role::Admin } else { Role::User },
        grant: place.load(Vec::new())?.config.account_grant,
    };
    let now = SystemClock.now();
    let user = store.write_now(move |tx| accounts::create(tx, &new, OPERATOR, now))?;
    let user = user.ok_or_else(|| refused(format!("There is an account `{email}` already.")))?;
    Ok(password.told(format!("{email} has an account ({}).", user.role.as_str()), &user))
}

/// Makes an account an admin.
pub fn grant(store: &Store, asked: &Grant) -> Result<Done> {
    set_role(store, &asked.email, Role::Admin)
}

/// Makes an account an ordinary one.
pub fn revoke(store: &Store, asked: &Revoke) -> Result<Done> {
    set_role(store, &asked.email, Role::User)
}

fn set_role(store: &Store, text: &str, role: Role) -> Result<Done> {
    let email = email(text)?;
    let (wanted, now) = (email.clone(), SystemClock.now());
    let user = store.write_now(move |tx| {
        let Some((user, _)) = accounts::by_email(tx, &wanted)? else { return Ok(None) };
        admin::set_role(tx, &user.user_id, role, By { actor: OPERATOR, reason: None, now })
    })?;
    let user = user.ok_or_else(|| not_found("account", &email))?;
    Ok(Done {
        line: format!("{email} is {} now; it was {}.", role.as_str(), user.role.as_str()),
        value: json!({"ok": true, "user": shown(&User { role, ..user })}),
    })
}

/// Gives an account another password.
pub fn reset_password(store: &Store, asked: &ResetPassword) -> Result<Done> {
    let email = email(&asked.email)?;
    let password = Password::choose(asked.password_stdin)?;
    let (wanted, hash, now) = (email.clone(), password.hash()?, SystemClock.now());
    let user = store.write_now(move |tx| {
        let Some((user, _)) = accounts::by_email(tx, &wanted)? else { return Ok(None) };
        admin::reset_password(tx, &user.user_id, &hash, By { actor: OPERATOR, reason: None, now })
    })?;
    let user = user.ok_or_else(|| not_found("account", &email))?;
    Ok(password.told(format!("{email} has another password, and its sessions are ended."), &user))
}

/// A password that was given, or made here and not shown yet.
struct Password {
    text: String,
    made_here: bool,
}

impl Password {
    fn choose(from_stdin: bool) -> Result<Self> {
        if !from_stdin {
            return Ok(Self { text: random().hex(12), made_here: true });
        }
        let mut line = String::new();
        let read = std::io::stdin().lock().take(LINE_LIMIT).read_line(&mut line);
        let text = line.trim_end_matches(['\r', '\n']).to_owned();
        if read.is_ok() && account::is_password(&text) {
            return Ok(Self { text, made_here: false });
        }
        Err(Problem::new(Code::InputInvalid, "The first line of stdin is no password that can be used.")
            .fix(format!("Give {PASSWORD_EXPECTED}.")))
    }

    fn hash(&self) -> Result<String> {
        let mut salt = [0; 16];
        SystemRandom.fill(&mut salt);
        passwords::hash(&self.text, &salt)
    }

    /// What was done, with the password where only this command knows it.
    fn told(&self, line: String, user: &User) -> Done {
        let mut value = json!({"ok": true, "user": shown(user)});
        if !self.made_here {
            return Done { line, value };
        }
        value["password"] = self.text.clone().into();
        Done { line: format!("{line} Its password, shown this once: {}", self.text), value }
    }
}

fn random() -> &'static dyn Random {
    &SystemRandom
}

/// An e-mail address from the command line.
pub fn email(text: &str) -> Result<String> {
    account::email(text).ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("`{text}` is not an e-mail address."))
            .fix(format!("Give {EMAIL_EXPECTED}."))
    })
}

/// An account for a program.
pub fn shown(user: &User) -> Value {
    capsid_hub::ops::accounts::auth::shown(user)
}
