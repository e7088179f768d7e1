-- How far each account is trusted, worked out once a day; why, as JSON.
CREATE TABLE owners (
    owner {text} NOT NULL PRIMARY KEY,
    level {int} NOT NULL,
    weight {real} NOT NULL,
    settled {int} NOT NULL,
    agreed {int} NOT NULL,
    conditions {text} NOT NULL,
    assessed_at {int} NOT NULL
){strict};

-- What an arbiter decided of an asset: the hub's runner, an administrator, or somebody whom an operator appointed.
CREATE TABLE arbitrated_outcomes (
    asset_id {blob} NOT NULL PRIMARY KEY,
    passed {int} NOT NULL,
    arbiter {text} NOT NULL,
    at {int} NOT NULL
){strict};

-- On how many days the hub heard of a node.
ALTER TABLE nodes ADD COLUMN days_seen {int} NOT NULL DEFAULT 1;

-- Assets from before reports were graded; they are evaluated again within a week, and stay what they are until then.
ALTER TABLE assets ADD COLUMN unproven {int} NOT NULL DEFAULT 0;
UPDATE assets SET unproven = 1;
-- What scoring found, for rows: how far declared values are borne out, by how many owners, and why it can be trusted.
ALTER TABLE assets ADD COLUMN belief {real};
ALTER TABLE assets ADD COLUMN successes {int} NOT NULL DEFAULT 0;
ALTER TABLE assets ADD COLUMN trust {text};
CREATE INDEX assets_unproven ON assets (seq) WHERE unproven = 1;
