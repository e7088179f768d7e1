-- The public key of the node that signed a report, if it did.
ALTER TABLE reports ADD COLUMN signed_by {blob};

-- What a node said of an asset before an arbiter decided, where it said something else afterwards.
CREATE TABLE settled_reports (
    asset_id {blob} NOT NULL,
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    overall_ok {int} NOT NULL,
    grade {text} NOT NULL,
    reported_at {int} NOT NULL,
    PRIMARY KEY (asset_id, node_id)
){keyed};
CREATE INDEX settled_reports_by_node ON settled_reports (node_id);
