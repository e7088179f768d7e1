-- The index beside the database holds the search now.
DROP TABLE found, term_counts, indexed;
