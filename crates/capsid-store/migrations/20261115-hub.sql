-- Times are milliseconds since 1970 in UTC, money is milli-credits, 0 and 1 are no and yes.

-- What the hub knows of itself: its own node id, when it began.
CREATE TABLE meta (
    key {text} NOT NULL PRIMARY KEY,
    value {text} NOT NULL
){strict};

CREATE TABLE users (
    user_id {text} NOT NULL PRIMARY KEY,
    email {text} NOT NULL UNIQUE,
    password_hash {text} NOT NULL,
    role {text} NOT NULL DEFAULT 'user',
    created_at {int} NOT NULL,
    banned_at {int}
){strict};

CREATE TABLE sessions (
    token_hash {blob} NOT NULL PRIMARY KEY,
    user_id {text} NOT NULL REFERENCES users (user_id),
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL
){strict};
CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE api_keys (
    key_id {text} NOT NULL PRIMARY KEY,
    key_hash {blob} NOT NULL UNIQUE,
    user_id {text} NOT NULL REFERENCES users (user_id),
    name {text} NOT NULL,
    hint {text} NOT NULL,
    created_at {int} NOT NULL,
    last_used_at {int},
    revoked_at {int}
){strict};
CREATE INDEX api_keys_by_user ON api_keys (user_id);

-- Failed logins, by (e-mail, address) and by address, so that nobody can lock the owner out from elsewhere.
CREATE TABLE login_failures (
    key {text} NOT NULL PRIMARY KEY,
    failures {int} NOT NULL,
    first_at {int} NOT NULL,
    blocked_until {int}
){strict};

CREATE TABLE nodes (
    node_id {text} NOT NULL PRIMARY KEY,
    -- none, issued (known to whoever said hello, not yet used) or bound (must be shown).
    secret_state {text} NOT NULL DEFAULT 'none',
    secret_hash {blob},
    -- Kept only while it is issued, so that twin hellos get the same one.
    issued_secret {text},
    secret_version {int} NOT NULL DEFAULT 0,
    device_id {text},
    owner {text} REFERENCES users (user_id),
    claimed_at {int},
    name {text},
    model {text},
    referrer {text},
    env_fingerprint {text},
    webhook_url {text},
    gene_count {int},
    capsule_count {int},
    -- active, quarantined or banned.
    status {text} NOT NULL DEFAULT 'active',
    sybil_flag {text},
    cooldown_until {int},
    strikes {int} NOT NULL DEFAULT 0,
    last_strike_at {int},
    reputation {real} NOT NULL DEFAULT 50,
    -- Set by an operator; shown and used instead of the computed one.
    reputation_override {real},
    penalty {real} NOT NULL DEFAULT 0,
    penalty_at {int} NOT NULL DEFAULT 0,
    total_published {int} NOT NULL DEFAULT 0,
    total_promoted {int} NOT NULL DEFAULT 0,
    total_rejected {int} NOT NULL DEFAULT 0,
    total_revoked {int} NOT NULL DEFAULT 0,
    created_at {int} NOT NULL,
    last_seen_at {int} NOT NULL
){strict};
CREATE INDEX nodes_by_owner ON nodes (owner) WHERE owner IS NOT NULL;
CREATE INDEX nodes_by_reputation ON nodes (reputation, node_id);
CREATE INDEX nodes_by_age ON nodes (created_at, node_id);
CREATE INDEX nodes_by_published ON nodes (total_published, node_id);
CREATE INDEX nodes_by_seen ON nodes (last_seen_at);

CREATE TABLE claims (
    code {text} NOT NULL PRIMARY KEY,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL,
    claimed_at {int},
    user_id {text} REFERENCES users (user_id)
){strict};
CREATE INDEX claims_by_node ON claims (node_id, expires_at);

-- One row an asset. `body` is what was published, byte for byte; everything else is derived from it or counted.
CREATE TABLE assets (
    seq {serial},
    asset_id {blob} NOT NULL UNIQUE,
    asset_type {text} NOT NULL,
    status {text} NOT NULL,
    trust_tier {text} NOT NULL DEFAULT 'normal',
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    -- The first bundle it came in.
    bundle_id {text} NOT NULL,
    created_at {int} NOT NULL,
    promoted_at {int},
    last_activity_at {int} NOT NULL,
    -- From the body.
    local_id {text},
    category {text},
    chain_id {text},
    confidence {real} NOT NULL DEFAULT 0,
    success_streak {int} NOT NULL DEFAULT 0,
    blast_files {int} NOT NULL DEFAULT 0,
    blast_lines {int} NOT NULL DEFAULT 0,
    triggers {int} NOT NULL DEFAULT 0,
    summary_chars {int} NOT NULL DEFAULT 0,
    has_event {int} NOT NULL DEFAULT 0,
    anti_pattern {int} NOT NULL DEFAULT 0,
    -- absent, vacuous or real: what its validation proves.
    proof {text} NOT NULL DEFAULT 'absent',
    -- Why it is held or warned of: null, or a short text.
    safety {text},
    similar_to {blob},
    -- Counted.
    call_count {int} NOT NULL DEFAULT 0,
    reuse_count {int} NOT NULL DEFAULT 0,
    view_count {int} NOT NULL DEFAULT 0,
    upvotes {int} NOT NULL DEFAULT 0,
    downvotes {int} NOT NULL DEFAULT 0,
    -- Scored: hundredths of a point, so that both databases order alike.
    gdi {int} NOT NULL DEFAULT 0,
    gdi_mean {real} NOT NULL DEFAULT 0,
    gdi_intrinsic {real} NOT NULL DEFAULT 0,
    gdi_usage {real} NOT NULL DEFAULT 0,
    gdi_social {real} NOT NULL DEFAULT 0,
    gdi_freshness {real} NOT NULL DEFAULT 0,
    scored_at {int} NOT NULL DEFAULT 0,
    -- The part of a listing that never changes, as JSON members without braces.
    card {text} NOT NULL,
    body {text} NOT NULL
){strict};
CREATE INDEX assets_by_status ON assets (status, asset_type, seq);
CREATE INDEX assets_by_score ON assets (status, asset_type, gdi, seq);
CREATE INDEX assets_by_use ON assets (status, asset_type, call_count, seq);
CREATE INDEX assets_by_node ON assets (node_id, seq);
CREATE INDEX assets_by_local_id ON assets (local_id) WHERE local_id IS NOT NULL;
CREATE INDEX assets_by_chain ON assets (chain_id) WHERE chain_id IS NOT NULL;

CREATE TABLE bundles (
    bundle_id {text} NOT NULL PRIMARY KEY,
    gene_id {blob} NOT NULL,
    capsule_id {blob} NOT NULL,
    event_id {blob},
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    receipt_id {text} NOT NULL,
    created_at {int} NOT NULL
){strict};
CREATE INDEX bundles_by_gene ON bundles (gene_id);
CREATE INDEX bundles_by_capsule ON bundles (capsule_id);

-- Near duplicates are found by the bands of their sketch. Bands name sketches by a small number, for they are many and
-- come in no order.
CREATE TABLE sketches (
    seq {serial},
    asset_id {blob} NOT NULL,
    node_id {text} NOT NULL,
    sketch {blob} NOT NULL
){strict};
CREATE TABLE sketch_bands (
    band {int} NOT NULL,
    sketch {int} NOT NULL,
    PRIMARY KEY (band, sketch)
){keyed};

-- Who took what, first and last; and how much on which day.
CREATE TABLE fetches (
    asset_id {blob} NOT NULL,
    node_id {text} NOT NULL,
    -- Whether it counts as use: a fetch by another owner's node.
    counts {int} NOT NULL,
    calls {int} NOT NULL,
    first_at {int} NOT NULL,
    last_at {int} NOT NULL,
    PRIMARY KEY (asset_id, node_id)
){keyed};
CREATE INDEX fetches_by_node ON fetches (node_id, last_at);
CREATE TABLE fetch_days (
    asset_id {blob} NOT NULL,
    day {int} NOT NULL,
    calls {int} NOT NULL,
    PRIMARY KEY (asset_id, day)
){keyed};
CREATE INDEX fetch_days_by_day ON fetch_days (day);

CREATE TABLE reports (
    seq {serial},
    report_id {text} NOT NULL UNIQUE,
    asset_id {blob} NOT NULL,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    overall_ok {int} NOT NULL,
    weight {real} NOT NULL,
    -- self, assigned or unsolicited.
    label {text} NOT NULL,
    env_fingerprint_key {text},
    commands_passed {int},
    commands_total {int},
    reproduction_score {real},
    failure_class {text},
    outlier {int} NOT NULL DEFAULT 0,
    body {text} NOT NULL,
    created_at {int} NOT NULL,
    UNIQUE (node_id, asset_id)
){strict};
CREATE INDEX reports_by_asset ON reports (asset_id, seq);

CREATE TABLE assignments (
    task_id {text} NOT NULL PRIMARY KEY,
    nonce {text} NOT NULL,
    asset_id {blob} NOT NULL,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    -- open, reported or expired.
    state {text} NOT NULL,
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL,
    UNIQUE (asset_id, node_id)
){strict};
CREATE INDEX assignments_by_node ON assignments (node_id, state);
CREATE INDEX assignments_by_expiry ON assignments (state, expires_at);

CREATE TABLE stakes (
    node_id {text} NOT NULL PRIMARY KEY REFERENCES nodes (node_id),
    amount {int} NOT NULL,
    status {text} NOT NULL,
    staked_at {int} NOT NULL
){strict};

CREATE TABLE decisions (
    seq {serial},
    asset_id {blob} NOT NULL,
    actor {text} NOT NULL,
    decision {text} NOT NULL,
    reason {text},
    -- 0 when the sender has no authority over the asset.
    weight {real} NOT NULL,
    created_at {int} NOT NULL
){strict};
CREATE INDEX decisions_by_asset ON decisions (asset_id, seq);

CREATE TABLE votes (
    asset_id {blob} NOT NULL,
    user_id {text} NOT NULL REFERENCES users (user_id),
    node_id {text},
    value {int} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (asset_id, user_id)
){keyed};

CREATE TABLE reviews (
    review_id {text} NOT NULL PRIMARY KEY,
    asset_id {blob} NOT NULL,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    rating {int} NOT NULL,
    content {text} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    UNIQUE (asset_id, node_id)
){strict};

-- Every change of state, for ever.
CREATE TABLE audit (
    seq {serial},
    at {int} NOT NULL,
    -- node:…, user:…, operator or hub.
    actor {text} NOT NULL,
    -- asset, node or user, and its id.
    kind {text} NOT NULL,
    subject {text} NOT NULL,
    action {text} NOT NULL,
    before {text},
    after {text},
    reason {text}
){strict};
CREATE INDEX audit_by_subject ON audit (kind, subject, seq);

-- Messages that were answered, so that the same one gets the same answer.
CREATE TABLE messages (
    -- SHA-256 of sender, endpoint and message id.
    key {blob} NOT NULL PRIMARY KEY,
    body_hash {blob} NOT NULL,
    status {int} NOT NULL,
    answer {text} NOT NULL,
    created_at {int} NOT NULL
){strict};
CREATE INDEX messages_by_age ON messages (created_at);

-- Double entry: every transfer is two entries, and all accounts together are always zero.
CREATE TABLE accounts (
    -- mint, node:…, user:… or hold:….
    account {text} NOT NULL PRIMARY KEY,
    balance {int} NOT NULL
){keyed};
CREATE TABLE transfers (
    seq {serial},
    -- What it is for; the same cause never pays twice.
    reference {text} NOT NULL UNIQUE,
    kind {text} NOT NULL,
    amount {int} NOT NULL,
    created_at {int} NOT NULL
){strict};
CREATE TABLE entries (
    seq {serial},
    transfer {int} NOT NULL REFERENCES transfers (seq),
    account {text} NOT NULL REFERENCES accounts (account),
    delta {int} NOT NULL,
    balance_after {int} NOT NULL
){strict};
CREATE INDEX entries_by_account ON entries (account, seq);

-- What a node is to be told, by stream, poll or heartbeat.
CREATE TABLE events (
    seq {serial},
    node_id {text} NOT NULL,
    kind {text} NOT NULL,
    payload {text} NOT NULL,
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL
){strict};
CREATE INDEX events_by_node ON events (node_id, seq);
CREATE INDEX events_by_expiry ON events (expires_at);

-- How far a node was told its events, for each way of telling. A client that brings a cursor of its own needs no row.
CREATE TABLE told (
    node_id {text} NOT NULL,
    -- stream, poll or heartbeat.
    way {text} NOT NULL,
    seq {int} NOT NULL,
    PRIMARY KEY (node_id, way)
){strict};

CREATE TABLE mailbox (
    seq {serial},
    message_id {text} NOT NULL UNIQUE,
    node_id {text} NOT NULL,
    kind {text} NOT NULL,
    payload {text} NOT NULL,
    priority {text} NOT NULL,
    ref_id {text},
    created_at {int} NOT NULL,
    expires_at {int},
    acked_at {int}
){strict};
CREATE INDEX mailbox_by_node ON mailbox (node_id, seq);

-- Outbound messages of proxies that were taken, so that a repeated batch does nothing twice.
CREATE TABLE mailbox_taken (
    node_id {text} NOT NULL,
    message_id {text} NOT NULL,
    body_hash {blob} NOT NULL,
    answer {text} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (node_id, message_id)
){strict};

-- How much a node sent on which day.
CREATE TABLE mailbox_days (
    node_id {text} NOT NULL,
    day {int} NOT NULL,
    bytes {int} NOT NULL,
    PRIMARY KEY (node_id, day)
){keyed};
CREATE INDEX mailbox_days_by_day ON mailbox_days (day);

CREATE TABLE memories (
    seq {serial},
    dedupe {blob} NOT NULL UNIQUE,
    node_id {text} NOT NULL,
    signals {text} NOT NULL,
    gene_id {text},
    status {text},
    score {real},
    summary {text},
    body {text} NOT NULL,
    -- How many memories, and how many bytes, the node has recorded up to and with this one.
    count_so_far {int} NOT NULL,
    bytes_so_far {int} NOT NULL,
    created_at {int} NOT NULL
){strict};
CREATE INDEX memories_by_node ON memories (node_id, seq);

CREATE TABLE services (
    listing_id {text} NOT NULL PRIMARY KEY,
    node_id {text} NOT NULL,
    title {text} NOT NULL,
    body {text} NOT NULL,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    UNIQUE (node_id, title)
){strict};

CREATE TABLE skills (
    skill_id {text} NOT NULL PRIMARY KEY,
    node_id {text} NOT NULL,
    version {text} NOT NULL,
    -- What a listing shows, and the skill itself; both JSON.
    card {text} NOT NULL,
    body {text} NOT NULL,
    downloads {int} NOT NULL DEFAULT 0,
    created_at {int} NOT NULL,
    updated_at {int} NOT NULL,
    deleted_at {int}
){strict};
CREATE INDEX skills_by_node ON skills (node_id);

-- Limits that several hubs share (theoretical arrival times). A lone hub keeps them in memory.
CREATE TABLE limits (
    key {text} NOT NULL PRIMARY KEY,
    arrival {int} NOT NULL
){keyed};

-- What is done from time to time, by whichever hub comes first.
CREATE TABLE jobs (
    name {text} NOT NULL PRIMARY KEY,
    due_at {int} NOT NULL,
    last_run_at {int},
    last_outcome {text}
){strict};
