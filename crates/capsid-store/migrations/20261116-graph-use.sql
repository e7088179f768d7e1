-- Who asked the knowledge graph how often and told it things, by days in UTC, and what was paid for it.
CREATE TABLE graph_use (
    asker {text} NOT NULL,
    day {int} NOT NULL,
    queries {int} NOT NULL,
    ingests {int} NOT NULL,
    credits {int} NOT NULL,
    PRIMARY KEY (asker, day)
){keyed};
