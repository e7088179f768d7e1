-- The index beside the database holds the search now.
DROP TABLE found_genes;
DROP TABLE found_capsules;
DROP TABLE found_events;
DROP TABLE held_genes;
DROP TABLE held_capsules;
DROP TABLE held_events;
DROP TABLE ranks;
DROP TABLE indexed;
