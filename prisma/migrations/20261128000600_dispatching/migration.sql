-- When dispatchers took tasks. One row. Unlike dispatchers it outlives its processes and a crash of PostgreSQL.
CREATE TABLE dispatching (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  -- The latest heartbeat of any dispatcher, up to some seconds behind.
  seen_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The latest heartbeat of the dispatchers that have ended.
  ended_at timestamptz(3) NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
INSERT INTO dispatching DEFAULT VALUES;
