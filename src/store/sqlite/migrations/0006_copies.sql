-- 0006_copies: without the rows of `service` and `server` nothing can go on, so they are kept twice,
-- each with a checksum (C9). One that is damaged is restored from the other at the next start.
-- `copy` 0 is of service time, every other one of the server with that id. The encoding of `body` is
-- docs/formats/schema.md. NULL: written before there were checksums.

ALTER TABLE service ADD COLUMN checksum INTEGER;
ALTER TABLE server ADD COLUMN checksum INTEGER;

CREATE TABLE copy (
  id       INTEGER PRIMARY KEY,
  body     BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
