-- What an endpoint made of the assets' texts. One that is made again gets a new number, so that hubs see what is new.
CREATE TABLE embeddings (
    seq {serial},
    asset_id {blob} NOT NULL UNIQUE,
    model {text} NOT NULL,
    dims {int} NOT NULL,
    made_at {int} NOT NULL,
    -- The signs of the vector, eight bytes for 64 numbers. Null where the endpoint makes nothing of the text.
    signs {blob},
    -- The numbers, four bytes each, the lowest first; of length 1.
    vector {blob},
    -- How often the endpoint made nothing of the text, and when it is asked again; null where there is nothing to ask.
    tries {int} NOT NULL DEFAULT 0,
    again_at {int}
){strict};
