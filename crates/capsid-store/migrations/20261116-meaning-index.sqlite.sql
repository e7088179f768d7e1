-- The index learns what assets mean: it is emptied here and fills itself again, a few assets at a time.
INSERT INTO found_genes (found_genes) VALUES ('delete-all');
INSERT INTO found_capsules (found_capsules) VALUES ('delete-all');
INSERT INTO found_events (found_events) VALUES ('delete-all');
INSERT INTO held_genes (held_genes) VALUES ('delete-all');
INSERT INTO held_capsules (held_capsules) VALUES ('delete-all');
INSERT INTO held_events (held_events) VALUES ('delete-all');
DELETE FROM ranks;
UPDATE indexed SET seq = 0, assets = 0 WHERE one = 1;
