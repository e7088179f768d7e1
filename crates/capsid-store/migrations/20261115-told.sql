-- How far a node was told its events, for each way of telling. A client that brings a cursor of its own needs no row.
CREATE TABLE told (
    node_id {text} NOT NULL,
    -- stream, poll or heartbeat.
    way {text} NOT NULL,
    seq {int} NOT NULL,
    PRIMARY KEY (node_id, way)
){strict};
