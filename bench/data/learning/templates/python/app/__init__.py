"""A small service."""
