-- The whole filter of an operation that selects by name, host or error. Null: the columns hold the filter. Schedulers of
-- the previous version read the columns only, so such an operation also has a label there that no task has.
ALTER TABLE dead_letter_operations ADD COLUMN filter jsonb;
