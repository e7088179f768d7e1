-- How a node stood: its last reputation of each day on which that changed.
CREATE TABLE reputation_days (
    node_id {text} NOT NULL REFERENCES nodes (node_id),
    day {int} NOT NULL,
    at {int} NOT NULL,
    score {real} NOT NULL,
    PRIMARY KEY (node_id, day)
){keyed};
