-- The payload of a callback: the task and its latest run, without references to secrets. An escaped brace is
-- not part of a reference, and two braces in a row occur only within the strings of a JSON text.
CREATE OR REPLACE FUNCTION callback_payload(t tasks, r task_requests) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  u runs;
  task json;
  run json;
BEGIN
  SELECT * INTO u FROM runs
  WHERE runs.task_id = t.id AND runs.id >= uuid_v7_floor(t.created_at) ORDER BY runs.id DESC LIMIT 1;
  task := public_task(t, r, u);
  run := CASE WHEN u.id IS NOT NULL THEN public_run(u, r) END;
  RETURN replace(row_to_json(payload)::text, '{{', '{\u007b') FROM (SELECT task, run) payload;
END
$$;
