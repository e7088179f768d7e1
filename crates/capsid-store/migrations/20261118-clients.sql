-- What a listing of skills shows, and is filtered by. Front matter is read when a skill is published or changed.
ALTER TABLE skills ADD COLUMN name {text};
ALTER TABLE skills ADD COLUMN description {text};
ALTER TABLE skills ADD COLUMN size_bytes {int};
-- Id, name, description and tags in lower case.
ALTER TABLE skills ADD COLUMN listed_text {text} NOT NULL DEFAULT '';
UPDATE skills SET listed_text = lower(skill_id || ' ' || card);
CREATE INDEX skills_by_name ON skills (name) WHERE name IS NOT NULL;

-- The terms of what was told of a thing beside its name.
CREATE TABLE graph_property_words (
    term {text} NOT NULL,
    entity {int} NOT NULL,
    -- node:… or user:….
    said_by {text} NOT NULL,
    PRIMARY KEY (term, entity, said_by)
){keyed};
CREATE INDEX graph_property_words_by_teller ON graph_property_words (said_by, entity);
