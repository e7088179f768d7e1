//! Accounts.

use super::{AdminOutcome, OPERATOR, ReasonArgs, not_found, refused};
use crate::commands::hub::HubLocation;
use capsid_hub::ops::accounts::view::AccountView;
use capsid_hub::random::{Random, SystemRandom};
use capsid_hub::runtime::password_hasher;
use capsid_model::{Clock, Code, Problem, Result, SystemClock, Value, json};
use capsid_rules::identity::accounts as account_rules;
use capsid_rules::identity::accounts::{EMAIL_EXPECTED, PASSWORD_EXPECTED};
use capsid_store::Store;
use capsid_store::accounts::admin;
use capsid_store::accounts::admin::AdminAction;
use capsid_store::accounts::{self, AccountRole, NewUser, UserRow};
use clap::Args;
use std::io::{BufRead, Read};

/// More than any password and its line break take.
const LINE_LIMIT: u64 = 4096;

/// Make an account. Prints a password for it once, unless you give one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin create-user ann@example.org --admin\n  \
                  capsid hub admin create-user ann@example.org --password-stdin < password.txt")]
pub struct CreateUserArgs {
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
pub struct GrantAdminArgs {
    /// The account's e-mail address.
    email: String,
}

/// Make an admin an ordinary account again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin revoke-admin ann@example.org")]
pub struct RevokeAdminArgs {
    /// The account's e-mail address.
    email: String,
}

/// Give an account another password and end its sessions. Prints the password once, unless you give one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  capsid hub admin reset-password ann@example.org")]
pub struct ResetPasswordArgs {
    /// The account's e-mail address.
    email: String,

    /// Take the password from the first line of stdin.
    #[arg(long)]
    password_stdin: bool,
}

/// Appoint an account to moderate assets and decide disputes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  capsid hub admin appoint mia@example.org --reason 'knows the field'
  capsid hub admin appoint mia@example.org --dismiss")]
pub struct AppointArgs {
    /// The account's e-mail address.
    #[arg(value_name = "EMAIL")]
    email: String,

    /// Take the appointment back.
    #[arg(long)]
    dismiss: bool,

    #[command(flatten)]
    why: ReasonArgs,
}

/// Appoints an account, or dismisses it.
pub fn appoint(store: &Store, asked: &AppointArgs) -> Result<AdminOutcome> {
    let email = email(&asked.email)?;
    let (wanted, why, is_appointed) = (email.clone(), asked.why.clone(), !asked.dismiss);
    let user = store.write_now(move |tx| {
        let Some((user, _)) = accounts::by_email(tx, &wanted)? else { return Ok(None) };
        admin::appoint(tx, &user.user_id, is_appointed, why.by())
    })?;
    let user = user.ok_or_else(|| not_found("account", &email))?;
    let line = match is_appointed {
        true => format!("{email} may moderate and decide disputes."),
        false => format!("{email} is not appointed."),
    };
    Ok(AdminOutcome { line, value: json!({"ok": true, "user": user_json(&user), "appointed": is_appointed}) })
}

/// Makes an account.
pub fn create(store: &Store, asked: &CreateUserArgs, place: &HubLocation) -> Result<AdminOutcome> {
    let email = email(&asked.email)?;
    let password = NewPassword::choose(asked.password_stdin)?;
    let new = NewUser {
        user_id: format!("user_{}", random().hex(8)),
        email: email.clone(),
        password_hash: password.hash()?,
        role: if asked.admin { AccountRole::Admin } else { AccountRole::User },
        grant: place.load(Vec::new())?.config.grants().at_registration(),
    };
    let now = SystemClock.now();
    let user = store.write_now(move |tx| accounts::create(tx, &new, OPERATOR, now))?;
    let user = user.ok_or_else(|| refused(format!("There is an account `{email}` already.")))?;
    Ok(password.to_outcome(format!("{email} has an account ({}).", user.role.as_str()), &user))
}

/// Makes an account an admin.
pub fn grant(store: &Store, asked: &GrantAdminArgs) -> Result<AdminOutcome> {
    set_role(store, &asked.email, AccountRole::Admin)
}

/// Makes an account an ordinary one.
pub fn revoke(store: &Store, asked: &RevokeAdminArgs) -> Result<AdminOutcome> {
    set_role(store, &asked.email, AccountRole::User)
}

fn set_role(store: &Store, text: &str, role: AccountRole) -> Result<AdminOutcome> {
    let email = email(text)?;
    let (wanted, now) = (email.clone(), SystemClock.now());
    let user = store.write_now(move |tx| {
        let Some((user, _)) = accounts::by_email(tx, &wanted)? else { return Ok(None) };
        admin::set_role(tx, &user.user_id, role, AdminAction { actor: OPERATOR, reason: None, now })
    })?;
    let user = user.ok_or_else(|| not_found("account", &email))?;
    Ok(AdminOutcome {
        line: format!("{email} is {} now; it was {}.", role.as_str(), user.role.as_str()),
        value: json!({"ok": true, "user": user_json(&UserRow { role, ..user })}),
    })
}

/// Gives an account another password.
pub fn reset_password(store: &Store, asked: &ResetPasswordArgs) -> Result<AdminOutcome> {
    let email = email(&asked.email)?;
    let password = NewPassword::choose(asked.password_stdin)?;
    let (wanted, hash, now) = (email.clone(), password.hash()?, SystemClock.now());
    let user = store.write_now(move |tx| {
        let Some((user, _)) = accounts::by_email(tx, &wanted)? else { return Ok(None) };
        admin::reset_password(tx, &user.user_id, &hash, AdminAction { actor: OPERATOR, reason: None, now })
    })?;
    let user = user.ok_or_else(|| not_found("account", &email))?;
    Ok(password.to_outcome(format!("{email} has another password, and its sessions are ended."), &user))
}

/// A password that was given, or made here and not shown yet.
struct NewPassword {
    text: String,
    made_here: bool,
}

impl NewPassword {
    fn choose(from_stdin: bool) -> Result<Self> {
        if !from_stdin {
            return Ok(Self { text: random().hex(12), made_here: true });
        }
        let mut line = String::new();
        let read = std::io::stdin().lock().take(LINE_LIMIT).read_line(&mut line);
        let text = line.trim_end_matches(['\r', '\n']).to_owned();
        if read.is_ok() && account_rules::is_password(&text) {
            return Ok(Self { text, made_here: false });
        }
        Err(Problem::new(Code::InputInvalid, "The first line of stdin is no password that can be used.")
            .fix(format!("Give {PASSWORD_EXPECTED}.")))
    }

    fn hash(&self) -> Result<String> {
        let mut salt = [0; 16];
        SystemRandom.fill(&mut salt);
        password_hasher::hash(&self.text, &salt)
    }

    /// What was done, with the password where only this command knows it.
    fn to_outcome(&self, line: String, user: &UserRow) -> AdminOutcome {
        let mut value = json!({"ok": true, "user": user_json(user)});
        if !self.made_here {
            return AdminOutcome { line, value };
        }
        value["password"] = self.text.clone().into();
        AdminOutcome { line: format!("{line} Its password, shown this once: {}", self.text), value }
    }
}

fn random() -> &'static dyn Random {
    &SystemRandom
}

/// An e-mail address from the command line.
pub fn email(text: &str) -> Result<String> {
    account_rules::email(text).ok_or_else(|| {
        Problem::new(Code::InputInvalid, format!("`{text}` is not an e-mail address."))
            .fix(format!("Give {EMAIL_EXPECTED}."))
    })
}

/// An account for a program.
pub fn user_json(user: &UserRow) -> Value {
    serde_json::to_value(AccountView::from(user)).unwrap_or_default()
}
