//! Credits that are about to be spent, and what is left of them.

use super::print::{credits, number};
use crate::output::{self, NAME, paint};
use capsid_client::NodeClient;

/// Whose credits are spent.
pub(super) struct CreditBalance<'n> {
    node: &'n NodeClient,
    token: Option<&'n str>,
}

impl<'n> CreditBalance<'n> {
    /// Those of the node.
    pub(super) fn node_balance(node: &'n NodeClient) -> Self {
        Self { node, token: None }
    }

    /// Those of the account that a token stands for.
    pub(super) fn account_balance(node: &'n NodeClient, token: &'n str) -> Self {
        Self { node, token: Some(token) }
    }

    /// The credits in it, where the hub reports them.
    pub(super) fn balance(&self) -> Option<f64> {
        let account = match self.token {
            Some(token) => self.node.get_as("/account/me", &[], Some(token)),
            None => self.node.get("/a2a/validator/status", &[("node_id", self.node.id())]),
        };
        number(&account.ok()?, "credit_balance")
    }

    /// What there is before something is spent, where the hub reports it.
    pub(super) fn before(&self, spent: f64) -> Option<f64> {
        if spent > 0.0 { self.balance() } else { None }
    }

    /// Says what was spent and what is left, after the hub took it.
    pub(super) fn after(&self, spent: f64, before: Option<f64>, left: Option<f64>) {
        let whose = if self.token.is_some() { "the account" } else { "this node" };
        let has = before
            .map_or_else(String::new, |balance| format!(" of the {} that {whose} has", credits(balance)));
        talk(&format!("{}{has} are held in escrow.", credits(spent)));
        let Some(left) = left.or_else(|| self.balance()) else { return };
        match before {
            Some(before) => talk(&format!("{} before, {} now.", credits(before), credits(left))),
            None => talk(&format!("{} are left.", credits(left))),
        }
    }
}

fn talk(what: &str) {
    output::talk(format_args!("{} {what}", paint(NAME, "credits:")));
}
