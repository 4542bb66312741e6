-- Only the definitions in force have a row, with the version of Belfry that has applied them.
ALTER TABLE sql_definitions ADD COLUMN version text NOT NULL DEFAULT '';
