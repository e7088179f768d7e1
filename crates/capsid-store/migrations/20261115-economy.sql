-- What agents are asked to do.
CREATE TABLE tasks (
    seq {serial},
    task_id {text} NOT NULL UNIQUE,
    -- Who asked: user:… or node:….
    asker {text} NOT NULL,
    title {text} NOT NULL,
    body {text} NOT NULL,
    -- With commas between them, as they are sent.
    signals {text} NOT NULL,
    -- open, claimed, completed, expired or cancelled.
    status {text} NOT NULL,
    bounty_id {text},
    -- What it may earn: of a part, its share of the whole.
    amount {int} NOT NULL,
    min_reputation {real} NOT NULL,
    min_model_tier {int},
    -- A JSON list of model names.
    allowed_models {text},
    -- The only node that may take it.
    reserved_for {text},
    claimed_by {text} REFERENCES nodes (node_id),
    claimed_at {int},
    submission_id {text},
    commitment_deadline {int},
    extensions {int} NOT NULL DEFAULT 0,
    -- The deadline that its node was reminded of.
    reminded_for {int},
    result_asset {blob},
    completed_at {int},
    -- solver or aggregator, for a part of another task.
    swarm_role {text},
    parent_task_id {text} REFERENCES tasks (task_id),
    -- Billionths of the whole.
    weight {int},
    -- When it was cut into parts.
    decomposed_at {int},
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL
){strict};
CREATE INDEX tasks_by_worth ON tasks (status, amount DESC, seq);
CREATE INDEX tasks_by_age ON tasks (status, seq);
CREATE INDEX tasks_by_expiry ON tasks (status, expires_at);
CREATE INDEX tasks_by_deadline ON tasks (status, commitment_deadline);
CREATE INDEX tasks_by_claimer ON tasks (claimed_by, seq);
CREATE INDEX tasks_by_swarmer ON tasks (claimed_by, seq) WHERE parent_task_id IS NOT NULL OR decomposed_at IS NOT NULL;
CREATE INDEX tasks_by_asker ON tasks (asker, parent_task_id) WHERE status NOT IN ('completed', 'expired', 'cancelled');
CREATE INDEX tasks_unpaid ON tasks (expires_at) WHERE amount = 0 AND parent_task_id IS NULL AND decomposed_at IS NULL;
CREATE INDEX tasks_by_parent ON tasks (parent_task_id, seq);
CREATE INDEX tasks_by_result ON tasks (result_asset) WHERE result_asset IS NOT NULL;
-- However many solvers finish at the same moment, their results are merged once.
CREATE UNIQUE INDEX tasks_one_aggregation ON tasks (parent_task_id) WHERE swarm_role = 'aggregator';

-- Who took a task and what came of it.
CREATE TABLE submissions (
    seq {serial},
    submission_id {text} NOT NULL UNIQUE,
    task_id {text} NOT NULL REFERENCES tasks (task_id),
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    -- working, pending (handed in), accepted, rejected, released, overdue or expired.
    status {text} NOT NULL,
    asset_id {blob},
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL
){strict};
CREATE INDEX submissions_by_task ON submissions (task_id, seq);
CREATE INDEX submissions_by_node ON submissions (node_id, seq);
CREATE INDEX submissions_by_asset ON submissions (asset_id) WHERE asset_id IS NOT NULL;
CREATE INDEX submissions_by_node_and_task ON submissions (node_id, task_id, seq);
CREATE INDEX submissions_working ON submissions (node_id, seq) WHERE status = 'working';
CREATE INDEX submissions_released ON submissions (updated_at) WHERE status = 'released';

-- What is paid for a task. The credits lie in hold:bounty:… until they are paid or given back.
CREATE TABLE bounties (
    seq {serial},
    bounty_id {text} NOT NULL UNIQUE,
    task_id {text} NOT NULL UNIQUE REFERENCES tasks (task_id),
    -- Who pays: user:… or node:….
    creator {text} NOT NULL,
    -- bounty, question or service.
    source {text} NOT NULL,
    listing_id {text},
    amount {int} NOT NULL,
    -- open, claimed, matched, accepted, expired or cancelled.
    status {text} NOT NULL,
    matched_asset {blob},
    matched_node {text},
    matched_at {int},
    -- Until when the creator decides on what was handed in.
    decide_by {int},
    settled_at {int},
    -- How it ended, in a sentence.
    outcome {text},
    -- The hash of what was asked, where the creator named it: the same again is this one.
    request {text},
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL
){strict};
CREATE INDEX bounties_by_status ON bounties (status, seq);
CREATE INDEX bounties_by_creator ON bounties (creator, seq);
CREATE INDEX bounties_by_decision ON bounties (status, decide_by);
CREATE INDEX bounties_by_worker ON bounties (matched_node, seq) WHERE status = 'matched';
CREATE INDEX bounties_by_listing ON bounties (listing_id, seq);
CREATE INDEX bounties_by_asset ON bounties (matched_asset) WHERE matched_asset IS NOT NULL;

-- Nodes that take work: what they are good at, and how much at a time.
CREATE TABLE workers (
    node_id {text} NOT NULL PRIMARY KEY REFERENCES nodes (node_id),
    enabled {int} NOT NULL,
    -- A JSON list of words.
    domains {text} NOT NULL,
    max_load {int} NOT NULL,
    -- Whether new tasks are also left in its mailbox.
    subscribed {int} NOT NULL DEFAULT 0,
    updated_at {int} NOT NULL
){strict};

-- What many nodes are to be told. It is written with the change it tells of, and spread to the nodes little by little.
CREATE TABLE announcements (
    seq {serial},
    kind {text} NOT NULL,
    -- What it is about. Once that is no longer open, nobody is told any more.
    task_id {text} NOT NULL REFERENCES tasks (task_id),
    -- Who asked: user:… or node:….
    asker {text} NOT NULL,
    payload {text} NOT NULL,
    -- The last node that was told.
    place {text} NOT NULL DEFAULT '',
    created_at {int} NOT NULL,
    done_at {int}
){strict};
CREATE INDEX announcements_by_end ON announcements (done_at, seq);
CREATE INDEX announcements_by_asker ON announcements (asker, created_at);
CREATE INDEX announcements_by_task ON announcements (task_id);

-- Where a node is called, and how it can tell that it is the hub that calls. The address itself is in nodes.
CREATE TABLE webhooks (
    node_id {text} NOT NULL PRIMARY KEY REFERENCES nodes (node_id),
    secret {text} NOT NULL,
    -- The one before, still used beside the new one for a while.
    old_secret {text},
    old_until {int},
    -- Deliveries in a row that were given up.
    deaths {int} NOT NULL DEFAULT 0,
    -- Set while it is not known that calls arrive, because none was made yet or the last one failed: when it may be
    -- tried with one call.
    probe_at {int},
    disabled_at {int},
    disabled_reason {text},
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL
){strict};

-- Calls to be made, written with the event they tell of.
CREATE TABLE deliveries (
    seq {serial},
    delivery_id {text} NOT NULL UNIQUE,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    kind {text} NOT NULL,
    payload {text} NOT NULL,
    -- queued, delivering, retrying, delivered or dead.
    state {text} NOT NULL,
    attempts {int} NOT NULL DEFAULT 0,
    -- When it is due: for one under way, when whoever makes it is taken for gone.
    next_at {int} NOT NULL,
    -- Who makes it.
    holder {text},
    last_status {int},
    last_error {text},
    created_at {int} NOT NULL,
    -- When it was put into the queue the last time; from then on it is tried for so long.
    queued_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    delivered_at {int}
){strict};
CREATE INDEX deliveries_by_due ON deliveries (state, next_at, node_id);
-- What waits, node by node. A list of the states that do not, because the databases then look here and nowhere else.
CREATE INDEX deliveries_waiting ON deliveries (node_id, state, next_at, seq) WHERE state NOT IN ('delivering', 'delivered', 'dead');
CREATE INDEX deliveries_by_state ON deliveries (state, seq);
CREATE INDEX deliveries_by_node ON deliveries (node_id, seq);
CREATE INDEX deliveries_by_age ON deliveries (state, updated_at);

-- What an account earned by what on which day, added up.
CREATE TABLE earnings (
    account {text} NOT NULL,
    -- promotion, reuse, validation, bounty, swarm, service, sale or referral.
    source {text} NOT NULL,
    day {int} NOT NULL,
    amount {int} NOT NULL,
    PRIMARY KEY (account, source, day)
){keyed};

-- What an owner was rewarded with on which day, for the bound on it.
CREATE TABLE reward_days (
    -- user:… for all nodes of an account together, node:… for a node that is nobody's.
    owner {text} NOT NULL,
    day {int} NOT NULL,
    amount {int} NOT NULL,
    PRIMARY KEY (owner, day)
){keyed};

-- Which node brought in which, where that was rewarded.
CREATE TABLE referrals (
    node_id {text} NOT NULL PRIMARY KEY REFERENCES nodes (node_id),
    referrer {text} NOT NULL REFERENCES nodes (node_id),
    created_at {int} NOT NULL
){strict};
CREATE INDEX referrals_by_referrer ON referrals (referrer, created_at);

-- What a report earned, once that is settled.
ALTER TABLE reports ADD COLUMN reward {int};
CREATE INDEX reports_unsettled ON reports (seq) WHERE label = 'assigned' AND reward IS NULL;

CREATE INDEX claims_by_expiry ON claims (expires_at) WHERE claimed_at IS NULL;
CREATE INDEX entries_by_transfer ON entries (transfer);
