-- What a report rests on: self, unverified, probe, fetched, used, applied, assigned, reproduced or hub.
ALTER TABLE reports ADD COLUMN grade {text} NOT NULL DEFAULT 'unverified';
UPDATE reports SET grade = label WHERE label IN ('self', 'assigned');
UPDATE reports SET grade = 'fetched' WHERE label = 'unsolicited' AND EXISTS (
    SELECT 1 FROM fetches f WHERE f.asset_id = reports.asset_id AND f.node_id = reports.node_id);

-- Whether the commands of a report passed without the change: in a bare folder, and with all but the tests emptied.
ALTER TABLE reports ADD COLUMN control_bare {int};
ALTER TABLE reports ADD COLUMN control_base {int};

-- How often an asset was demoted, and when last: older reports do not count for a promotion.
ALTER TABLE assets ADD COLUMN demotions {int} NOT NULL DEFAULT 0;
ALTER TABLE assets ADD COLUMN demoted_at {int};

-- How much a review weighs as a report of use. Those of old weigh nothing, because an upgrade demotes nothing.
ALTER TABLE reviews ADD COLUMN weight {real} NOT NULL DEFAULT 0;

-- Who took a candidate on trial. The nonce is for the proof that it was read.
CREATE TABLE trials (
    asset_id {blob} NOT NULL,
    node_id {text} NOT NULL,
    nonce {text} NOT NULL,
    first_at {int} NOT NULL,
    expires_at {int} NOT NULL,
    PRIMARY KEY (asset_id, node_id)
){keyed};
