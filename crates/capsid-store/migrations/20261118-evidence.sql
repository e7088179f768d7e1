-- What a report rests on: self, unverified, probe, fetched, used, applied, assigned, reproduced or hub.
ALTER TABLE reports ADD COLUMN grade {text} NOT NULL DEFAULT 'unverified';
UPDATE reports SET grade = label WHERE label IN ('self', 'assigned');
UPDATE reports SET grade = 'fetched' WHERE label = 'unsolicited' AND EXISTS (
    SELECT 1 FROM fetches f WHERE f.asset_id = reports.asset_id AND f.node_id = reports.node_id);
