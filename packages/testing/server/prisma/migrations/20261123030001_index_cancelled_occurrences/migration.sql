-- The occurrences that their users cancelled, which no later expansion may bring back. Not unique: earlier versions
-- could bring them back, and have.
CREATE INDEX CONCURRENTLY tasks_cancelled_occurrences_idx ON tasks (cron_job_id, occurrence_at)
  WHERE occurrence_at IS NOT NULL AND state = 'cancelled' AND state_reason = 'user';
