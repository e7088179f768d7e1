-- The search and what assets mean follow from the assets and are kept in the index beside the database. Environment and
-- category of assets that were published before there were meanings are still to be worked out.
CREATE TABLE unfilled_traits (
    seq {int} NOT NULL PRIMARY KEY
){strict};
INSERT INTO unfilled_traits (seq) SELECT seq FROM assets WHERE meaning IS NULL;
ALTER TABLE assets DROP COLUMN meaning;
