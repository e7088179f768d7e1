-- What the hub's runner found of an asset before it ran it again. A report is settled by the first outcome after it.
CREATE TABLE earlier_outcomes (
    asset_id {blob} NOT NULL,
    passed {int} NOT NULL,
    at {int} NOT NULL,
    PRIMARY KEY (asset_id, at)
){keyed};
