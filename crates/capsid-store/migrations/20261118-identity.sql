-- A node id is held by proof. The secret of `issued_at` was issued to `issued_network`; before there is one, that is the
-- network of the node's first message. `issued_sealed` can be opened while the issue window is open, and is erased then.
ALTER TABLE nodes ADD COLUMN issued_at {int};
ALTER TABLE nodes ADD COLUMN issued_network {text};
ALTER TABLE nodes ADD COLUMN issued_sealed {blob};
-- A secret that was issued before, valid until one of the two is shown.
ALTER TABLE nodes ADD COLUMN earlier_hash {blob};
-- Whether the client is known to store its secret.
ALTER TABLE nodes ADD COLUMN keeps_secret {int} NOT NULL DEFAULT 0;
-- When the secret was first shown, and when it was last shown.
ALTER TABLE nodes ADD COLUMN presented_at {int};
ALTER TABLE nodes ADD COLUMN last_secret_at {int};
-- Since when somebody asks for another secret in the place of a lost one.
ALTER TABLE nodes ADD COLUMN recovery_at {int};
ALTER TABLE nodes ADD COLUMN public_key {blob};
-- The machine, as a keyed hash.
ALTER TABLE nodes ADD COLUMN device_hash {blob};
-- Names with the same key look the same.
ALTER TABLE nodes ADD COLUMN name_key {text};

-- The public key that the publisher signed the bundle with.
ALTER TABLE bundles ADD COLUMN signed_by {blob};

-- The network that a claim code was returned to, and when it was made invalid before its time.
ALTER TABLE claims ADD COLUMN network {text};
ALTER TABLE claims ADD COLUMN invalidated_at {int};

-- The key that hubs which share a database seal issued secrets with. It is in no backup.
CREATE TABLE issue_keys (
    name {text} NOT NULL PRIMARY KEY,
    key {blob} NOT NULL
){strict};

CREATE INDEX nodes_by_issue ON nodes (issued_at) WHERE issued_sealed IS NOT NULL;
CREATE INDEX audit_by_actor ON audit (actor, seq);
CREATE INDEX nodes_by_name_key ON nodes (name_key) WHERE name_key IS NOT NULL;

UPDATE nodes SET presented_at = last_seen_at, last_secret_at = last_seen_at WHERE secret_state = 'bound';
UPDATE claims SET invalidated_at = created_at WHERE claimed_at IS NULL
    AND node_id IN (SELECT node_id FROM nodes WHERE secret_state = 'bound');
UPDATE nodes SET issued_secret = NULL WHERE issued_secret IS NOT NULL;
UPDATE nodes SET device_id = NULL WHERE device_id IS NOT NULL;
UPDATE nodes SET env_fingerprint = NULL WHERE env_fingerprint LIKE '%device_id%';
