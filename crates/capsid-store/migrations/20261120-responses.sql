-- What messages were answered, by the first 16 bytes of the hash of sender, endpoint and message id. Rows come in the
-- order of their age, so that old ones are found without an index.
CREATE TABLE responses (
    seq {serial},
    key {blob} NOT NULL UNIQUE,
    body_hash {blob} NOT NULL,
    status {int} NOT NULL,
    -- The whole body, from older versions.
    answer {text},
    -- The body, or what it follows from.
    response {blob},
    created_at {int} NOT NULL
){strict};
INSERT INTO responses (key, body_hash, status, answer, created_at)
SELECT substr(key, 1, 16), body_hash, status, answer, created_at FROM messages ORDER BY created_at, key;
DROP TABLE messages;
