-- What a validation proves is kept as reports and the hub's runner show it: one that passes without the change proves nothing.
UPDATE assets SET proof = 'vacuous' WHERE asset_type = 'Capsule' AND proof IN ('weak', 'real') AND (
    EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = assets.asset_id AND r.weight > 0
        AND (r.control_bare = 1 OR r.control_base = 1))
    OR EXISTS (SELECT 1 FROM runner_jobs j WHERE j.asset_id = assets.asset_id
        AND j.outcome IN ('vacuous_empty', 'vacuous_base')));
