-- 0010_body_hash: what was asked is identified by 128 bits; 64 of an older hash were too few (C5).
-- `body_hash` is the lower half. NULL: `body_hash` is the older hash, written by an earlier release.

ALTER TABLE job ADD COLUMN body_hash_high INTEGER;
ALTER TABLE idempotency ADD COLUMN body_hash_high INTEGER;
