-- Holds the tasks of a restored backup that were due or in flight.
-- Sent by holdOverdueTasks.

UPDATE tasks SET
  due_at = CASE state WHEN 'processing' THEN due_at ELSE due_at + interval '10000 years' END,
  lease_until = lease_until + interval '10000 years',
  updated_at = now()
WHERE (state IN ('pending', 'retrying') AND due_at <= $1) OR (tasks.queue_id IS NOT NULL AND tasks.finished_at IS NULL AND queue_phase(tasks.state, tasks.due_at) = 1)
   OR (state = 'processing' AND NOT lease_until > now() + interval '5000 years')
