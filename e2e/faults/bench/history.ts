/**
 * Makes the database write down every move of every task, in a table of the bench's own. The product knows nothing of
 * it. Written by the transaction that moves the task, so that what was rolled back does not appear.
 */
export const installHistory = `
  CREATE SCHEMA bench;
  CREATE TABLE bench.transitions (
    id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), task_id uuid NOT NULL,
    from_state text, to_state text NOT NULL, attempts int NOT NULL, run_id uuid
  );
  CREATE FUNCTION bench.remember() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO bench.transitions (task_id, from_state, to_state, attempts, run_id)
    VALUES (NEW.id, CASE TG_OP WHEN 'UPDATE' THEN OLD.state::text END, NEW.state::text, NEW.attempts, NEW.run_id);
    RETURN NULL;
  END
  $$;
  CREATE TRIGGER remember_new AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION bench.remember();
  CREATE TRIGGER remember_move AFTER UPDATE ON tasks FOR EACH ROW
    WHEN (OLD.state IS DISTINCT FROM NEW.state OR OLD.attempts <> NEW.attempts) EXECUTE FUNCTION bench.remember();`
