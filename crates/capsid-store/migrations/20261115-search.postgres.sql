-- Found by terms. The order comes from the assets themselves, so that a new score moves nothing here. New rows go
-- into the index at once: a list of pending ones would have to be read by every search.
CREATE TABLE found (
    seq BIGINT NOT NULL PRIMARY KEY,
    terms TSVECTOR NOT NULL
);
CREATE INDEX found_by_terms ON found USING gin (terms) WITH (fastupdate = off);
-- How many assets have a term, so that a search knows which way is the short one.
CREATE TABLE term_counts (
    term TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    assets BIGINT NOT NULL
);
-- How far the index reaches, and over how many assets. Whoever indexes holds this row.
CREATE TABLE indexed (
    one BIGINT NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL,
    assets BIGINT NOT NULL
);
INSERT INTO indexed (one, seq, assets) VALUES (1, 0, 0);
CREATE INDEX assets_featured ON assets (status, asset_type, gdi, seq) WHERE trust_tier = 'featured';
CREATE INDEX nodes_overridden ON nodes (reputation_override, node_id) WHERE reputation_override IS NOT NULL;
-- Nothing may change what was audited.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'this table is append-only'; END $$;
CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_are_kept BEFORE UPDATE OR DELETE ON entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
