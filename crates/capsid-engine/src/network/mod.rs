//! What a node does with its hub beside its cycles: heartbeat, tasks, sync, validation for others.
