-- 0007_share: the shares of a queue take turns (E7), so each has lines of its own: `share` is a part of
-- the shape. Jobs that were submitted before have none.

CREATE TABLE shape_with_share (
  id     INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  queue  TEXT NOT NULL,
  kind   TEXT NOT NULL,
  share  TEXT NOT NULL,
  UNIQUE (tenant, queue, kind, share)
) STRICT;
INSERT INTO shape_with_share SELECT id, tenant, queue, kind, '' FROM shape;
DROP TABLE shape;
ALTER TABLE shape_with_share RENAME TO shape;
