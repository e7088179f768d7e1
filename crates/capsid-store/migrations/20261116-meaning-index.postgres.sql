-- The index learns what assets mean: it is emptied here and fills itself again, a few assets at a time.
TRUNCATE found, term_counts;
UPDATE indexed SET seq = 0, assets = 0 WHERE one = 1;
