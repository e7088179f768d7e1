-- What an asset means, as a line of terms, and where it was made. Both follow from the body; of assets that were
-- published before, the index works them out when it reaches them.
ALTER TABLE assets ADD COLUMN meaning {text};
ALTER TABLE assets ADD COLUMN environment {text};
