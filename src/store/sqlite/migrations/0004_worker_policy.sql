-- 0004_worker_policy: the policy of a worker, settled when its session was opened. It judges what ends
-- there of the jobs that have only inherited the server's. NULL: that worker has none of its own.
-- The encoding is docs/formats/schema.md.

ALTER TABLE session ADD COLUMN policy BLOB;
