-- Marks a changed response of an idempotency key as counted by count_added_answers.
CREATE OR REPLACE FUNCTION count_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_counted := true;
  RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER count_answer BEFORE UPDATE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION count_answer();
