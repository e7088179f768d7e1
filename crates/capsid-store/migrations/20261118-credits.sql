-- Two kinds of credits in one account: what the hub gave to begin with (granted), and the rest (earned).
ALTER TABLE accounts ADD COLUMN granted {int} NOT NULL DEFAULT 0
    CONSTRAINT granted_is_a_part CHECK (account = 'mint' OR (granted >= 0 AND granted <= balance));
-- How much of what moved was granted.
ALTER TABLE transfers ADD COLUMN granted {int} NOT NULL DEFAULT 0 CHECK (granted >= 0 AND granted <= amount);
-- Null for entries from before the two were told apart; what was granted then is in granted_openings.
ALTER TABLE entries ADD COLUMN granted_after {int};

CREATE TABLE granted_openings (
    account {text} NOT NULL PRIMARY KEY,
    granted {int} NOT NULL
){keyed};
-- What an account holds is granted up to its grant; a stake is of the same credits as the node's account.
INSERT INTO granted_openings (account, granted)
    SELECT a.account, CASE WHEN a.balance < t.amount THEN a.balance ELSE t.amount END
    FROM accounts a JOIN transfers t ON t.reference = 'grant:' || a.account WHERE a.balance > 0;
INSERT INTO granted_openings (account, granted)
    SELECT account, CASE WHEN balance < rest THEN balance ELSE rest END FROM (
        SELECT a.account, a.balance, t.amount - COALESCE(o.granted, 0) AS rest FROM accounts a
            JOIN transfers t ON t.reference = 'grant:node:' || substr(a.account, 12)
            LEFT JOIN granted_openings o ON o.account = 'node:' || substr(a.account, 12)
        WHERE a.account LIKE 'hold:stake:%' AND a.balance > 0) x
    WHERE rest > 0;
INSERT INTO granted_openings (account, granted)
    SELECT 'mint', -total FROM (
        SELECT CAST(COALESCE(SUM(granted), 0) AS BIGINT) AS total FROM granted_openings) x
    WHERE total > 0;
UPDATE accounts SET granted = (SELECT o.granted FROM granted_openings o WHERE o.account = accounts.account)
    WHERE account IN (SELECT account FROM granted_openings);

-- Rewards that are paid once their asset has stayed valid for a while. They lie in hold:reward:….
CREATE TABLE held_rewards (
    reference {text} NOT NULL PRIMARY KEY,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    source {text} NOT NULL,
    -- The asset that it is for, where there is one.
    asset_id {blob},
    amount {int} NOT NULL,
    held_at {int} NOT NULL,
    due_at {int} NOT NULL,
    -- held, paid or returned.
    state {text} NOT NULL
){strict};
CREATE INDEX held_rewards_by_time ON held_rewards (due_at) WHERE state = 'held';
CREATE INDEX held_rewards_by_asset ON held_rewards (asset_id) WHERE state = 'held';
CREATE INDEX held_rewards_by_node ON held_rewards (node_id) WHERE state = 'held';

-- What an owner, or a node, published on one day.
CREATE TABLE publish_days (
    owner {text} NOT NULL,
    day {int} NOT NULL,
    bytes {int} NOT NULL,
    bundles {int} NOT NULL,
    PRIMARY KEY (owner, day)
){keyed};

-- When the creator read what was handed in, and what became of a rejection after that.
ALTER TABLE bounties ADD COLUMN opened_at {int};
ALTER TABLE bounties ADD COLUMN rejected_at {int};
ALTER TABLE bounties ADD COLUMN rejection {text};
-- Until when the node that did the task may open a dispute.
ALTER TABLE bounties ADD COLUMN dispute_by {int};
ALTER TABLE bounties ADD COLUMN disputed_at {int};
ALTER TABLE bounties ADD COLUMN dispute {text};
CREATE INDEX bounties_by_dispute ON bounties (dispute_by) WHERE status IN ('rejected', 'disputed');

-- By which rules the texts of an asset were scanned, when, and what followed. What is there was scanned by the first ones.
ALTER TABLE assets ADD COLUMN scan_version {int} NOT NULL DEFAULT 0;
ALTER TABLE assets ADD COLUMN scan_at {int};
ALTER TABLE assets ADD COLUMN scan_verdict {text};
UPDATE assets SET scan_version = 1, scan_at = created_at, scan_verdict =
    CASE WHEN safety = 'content_safety' THEN 'quarantine' WHEN safety = 'content_safety_warning' THEN 'warn'
        ELSE 'clean' END;
CREATE INDEX assets_by_scan ON assets (scan_version, status, seq);

-- Cases that somebody has to look at: an asset with warnings, a new publisher, a disputed bounty.
CREATE TABLE moderation_cases (
    seq {serial},
    -- warning, publisher or dispute.
    kind {text} NOT NULL,
    subject {text} NOT NULL,
    -- The node whose work it is about.
    node_id {text} NOT NULL,
    reason {text} NOT NULL,
    opened_at {int} NOT NULL,
    -- open or decided.
    state {text} NOT NULL,
    decision {text},
    decided_by {text},
    decided_at {int},
    decision_reason {text},
    appealed_at {int},
    appeal {text},
    UNIQUE (kind, subject)
){strict};
CREATE INDEX moderation_queue ON moderation_cases (state, seq);

-- Owners whom the operator appointed to moderate.
ALTER TABLE users ADD COLUMN appointed_at {int};
