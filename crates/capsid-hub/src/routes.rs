//! The endpoints, one file for each verb or noun.
