-- Lowers the floor of the searches to a task that waits in the past, or to a lease that ended in the past,
-- whichever statement makes it so. The floor stays a minute behind the clock, so tasks of the last 30 seconds
-- need no lock.
CREATE OR REPLACE FUNCTION lower_waiting_floor() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  floor waiting_floor;
BEGIN
  -- A rise cannot see this task yet, so it waits for the lock, also when the floor is low enough.
  SELECT * INTO floor FROM waiting_floor FOR KEY SHARE;
  IF NEW.due_at < floor.due_at OR NEW.lease_until < floor.lease_until THEN
    UPDATE waiting_floor f
    SET due_at = least(f.due_at, NEW.due_at), lease_until = least(f.lease_until, NEW.lease_until);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER lower_waiting_floor AFTER INSERT OR UPDATE OF state, due_at, waits_for ON tasks FOR EACH ROW
  WHEN (NEW.waits_for = 0 AND (
    NEW.state IN ('pending', 'retrying') AND NEW.due_at < now() - interval '30 seconds'
    OR NEW.lease_until < now() - interval '30 seconds'))
  EXECUTE FUNCTION lower_waiting_floor();
