-- Found by terms, in the order of rank: class, score and sequence in one number.
CREATE TABLE found (
    seq BIGINT NOT NULL PRIMARY KEY,
    rank BIGINT NOT NULL,
    terms TEXT[] NOT NULL
);
CREATE UNIQUE INDEX found_by_rank ON found (rank);
CREATE INDEX found_by_terms ON found USING gin (terms);
-- How many assets have a term, so that a search knows which way is the short one.
CREATE TABLE term_counts (
    term TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    assets BIGINT NOT NULL
);
-- Nothing may change what was audited.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'this table is append-only'; END $$;
CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_are_kept BEFORE UPDATE OR DELETE ON entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
