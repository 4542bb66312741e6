-- The functions and triggers of prisma/sql that this database has ever had: see src/migrate/definitions.ts.
CREATE TABLE sql_definitions (
  file text NOT NULL,
  hash text NOT NULL,
  applied_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (file, hash)
);
