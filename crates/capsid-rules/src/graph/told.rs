//! What an ingest tells.
