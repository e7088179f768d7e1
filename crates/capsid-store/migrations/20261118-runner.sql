-- What the hub's runner has to run and what it found, one row for each capsule.
CREATE TABLE runner_jobs (
    seq {serial},
    job_id {text} NOT NULL UNIQUE,
    asset_id {blob} NOT NULL UNIQUE,
    -- Whose budget it takes.
    owner {text} NOT NULL,
    -- queued, running or done.
    state {text} NOT NULL,
    attempts {int} NOT NULL DEFAULT 0,
    -- A runner that has not reported by then is taken to be gone.
    lease_until {int},
    outcome {text},
    reason {text},
    runtime {text},
    seconds {real} NOT NULL DEFAULT 0,
    created_at {int} NOT NULL,
    finished_at {int}
){strict};
CREATE INDEX runner_jobs_by_state ON runner_jobs (state, seq);
CREATE INDEX runner_jobs_by_owner ON runner_jobs (owner, finished_at);
