-- Where the due work begins. Finished tasks leave dead entries at the head of the indexes of due work and of leases, which
-- no vacuum can remove while an old snapshot is open. Scans that start here never walk over them.
CREATE TABLE waiting_floor (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  due_at timestamptz(3) NOT NULL,
  lease_until timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

-- A minute back, for transactions that have not committed.
INSERT INTO waiting_floor (due_at, lease_until) SELECT
  least((SELECT min(due_at) FROM tasks WHERE state IN ('pending', 'retrying')), now() - interval '1 minute'),
  least((SELECT min(lease_until) FROM tasks WHERE state = 'processing'), now() - interval '1 minute');
