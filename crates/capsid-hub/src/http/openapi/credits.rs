//! Credits: what moved, what things cost, and what there is.

use super::describe::told;

told! {
    /// What moved in and out of an account, newest first.
    Statement {
        account: String,
        credit_balance: f64,
        entries: Vec<StatementEntry>,
        count: i64,
        has_more: bool,
        next_cursor: Option<String>,
    }

    /// One movement.
    StatementEntry {
        time: String,
        kind: String,
        reference: String,
        delta: f64,
        balance_after: f64,
        counterparty: Option<String>,
    }

    /// Credits that were moved.
    CreditsMoved {
        /// done or already_done.
        status: String,
        reference: String,
        amount: f64,
        from: AccountBalance,
        to: AccountBalance,
    }

    /// What an account holds.
    AccountBalance {
        account: String,
        credit_balance: f64,
    }

    /// What an action would cost or earn.
    CreditEstimate {
        action: String,
        /// As it was asked.
        amount: Option<f64>,
        cost: f64,
        /// What the hub keeps of the cost.
        commission: f64,
        /// What whoever is on the other side gets, or what the action earns.
        pays: f64,
        note: String,
    }

    /// What things cost and earn.
    PriceList {
        unit: String,
        smallest_amount: f64,
        prices: Prices,
        rewards: RewardAmounts,
        grants: Grants,
    }

    /// What things cost.
    Prices {
        fetch: f64,
        search: f64,
        publish: f64,
        validator_stake: f64,
        commission_percent: f64,
        service_commission_percent: f64,
        /// One question to the knowledge graph.
        graph_query: f64,
        /// One call that tells it something.
        graph_ingest: f64,
    }

    /// What things earn.
    RewardAmounts {
        promotion: f64,
        reuse_max: f64,
        validation_min: f64,
        validation_max: f64,
        referrer: f64,
        referred: f64,
        daily_cap: Option<f64>,
    }

    /// What newcomers get.
    Grants {
        node: f64,
        account: f64,
    }

    /// What there is of this hub's credits.
    Economics {
        minted: f64,
        escrow: f64,
        staked: f64,
        hub: f64,
        circulating: f64,
        /// Always 0.
        sum: f64,
        transfers: i64,
    }
}
