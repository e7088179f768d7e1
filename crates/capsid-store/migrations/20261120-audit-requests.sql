-- Nodes without a stake that asked for something to validate. The hub asks them only what it knows already.
CREATE TABLE audit_requests (
    node_id {text} NOT NULL PRIMARY KEY REFERENCES nodes (node_id),
    asked_at {int} NOT NULL
){strict};
CREATE INDEX audit_requests_by_time ON audit_requests (asked_at);
