CREATE TYPE task_state AS ENUM ('pending', 'processing', 'retrying', 'success', 'dead', 'cancelled');
CREATE TYPE task_source AS ENUM ('task', 'cron', 'event');
CREATE TYPE backoff AS ENUM ('exponential', 'linear', 'fixed');
CREATE TYPE run_status AS ENUM ('success', 'failed');
CREATE TYPE role AS ENUM ('owner', 'admin', 'member');

-- A UUIDv7 (RFC 9562) that carries the given instant. PostgreSQL has its own only from version 18 on.
-- A random UUID has version 4, whose version nibble 0100 becomes 0111 by setting two bits of byte 6.
CREATE FUNCTION uuid_v7(at timestamptz, random uuid DEFAULT gen_random_uuid()) RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(set_bit(set_bit(
    overlay(uuid_send(random) PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid
$$;

-- The smallest UUIDv7 of an instant: turns a time range into an id range.
CREATE FUNCTION uuid_v7_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- The instant that a UUIDv7 carries.
CREATE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_timestamp(('x0000' || left(replace(id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)
$$;

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE,
  name text NOT NULL,
  password_hash text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX sessions_user_id_idx ON sessions (user_id);

CREATE TABLE organizations (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  slug text NOT NULL UNIQUE,
  tier text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  members_can_invite boolean NOT NULL DEFAULT false,
  members_can_create_api_keys boolean NOT NULL DEFAULT false,
  members_can_create_secrets boolean NOT NULL DEFAULT false,
  members_can_create_workspaces boolean NOT NULL DEFAULT false,
  members_can_delete_tasks boolean NOT NULL DEFAULT false,
  members_can_manage_integrations boolean NOT NULL DEFAULT false
);

CREATE TABLE memberships (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  role role NOT NULL,
  joined_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX memberships_user_id_idx ON memberships (user_id);

CREATE TABLE workspaces (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE RESTRICT,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX workspaces_organization_id_idx ON workspaces (organization_id);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name text NOT NULL,
  prefix text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  created_by uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE INDEX api_keys_workspace_id_idx ON api_keys (workspace_id);

-- Each attempt rewrites its row twice: room on the page and an eager vacuum keep the table small.
CREATE TABLE tasks (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  source task_source NOT NULL,
  state task_state NOT NULL DEFAULT 'pending',
  state_reason text,
  attempts smallint NOT NULL DEFAULT 0,
  execute_at timestamptz(3) NOT NULL,
  due_at timestamptz(3) NOT NULL,
  run_id uuid,
  lease_until timestamptz(3),
  cron_job_id uuid,
  event_id uuid,
  replay_of uuid,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  CONSTRAINT tasks_lease_while_processing CHECK ((state = 'processing') = (lease_until IS NOT NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX tasks_workspace_id_id_idx ON tasks (workspace_id, id DESC);
CREATE INDEX tasks_workspace_id_state_id_idx ON tasks (workspace_id, state, id DESC);
CREATE INDEX tasks_due_idx ON tasks (due_at) WHERE state IN ('pending', 'retrying');
CREATE INDEX tasks_lease_idx ON tasks (lease_until) WHERE state = 'processing';

CREATE TABLE task_requests (
  task_id uuid PRIMARY KEY,
  name text NOT NULL,
  url text NOT NULL,
  method text NOT NULL,
  headers text NOT NULL DEFAULT '{}',
  payload text,
  max_retries smallint NOT NULL,
  backoff backoff NOT NULL,
  base_delay_ms integer NOT NULL,
  max_delay_ms integer NOT NULL,
  timeout_ms integer NOT NULL,
  topic text
);

CREATE TABLE runs (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  task_id uuid NOT NULL,
  attempt smallint NOT NULL,
  source task_source NOT NULL,
  status run_status NOT NULL,
  scheduled_at timestamptz(3) NOT NULL,
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3) NOT NULL,
  request_headers text,
  response_status smallint,
  response_headers text,
  response_body bytea,
  response_bytes integer,
  response_truncated boolean NOT NULL DEFAULT false,
  error_code text,
  error_message text,
  PRIMARY KEY (workspace_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX runs_workspace_id_status_id_idx ON runs (workspace_id, status, id);
CREATE INDEX runs_task_id_idx ON runs (task_id);

CREATE SCHEMA run_partitions;
CREATE TABLE run_partitions.runs_default PARTITION OF runs DEFAULT;

-- Makes the partitions of this month and of the months after it. Safe to call at any time by any number of callers.
-- A month whose runs have come before its partition stays in the default partition, which loses nothing.
CREATE FUNCTION create_run_partitions(months_ahead integer) RETURNS void LANGUAGE plpgsql SET timezone = 'UTC' AS $$
DECLARE
  month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('create_run_partitions'));
  FOR i IN 0..months_ahead LOOP
    month := date_trunc('month', now()) + make_interval(months => i);
    name := 'runs_' || to_char(month, 'YYYY_MM');
    CONTINUE WHEN to_regclass('run_partitions.' || name) IS NOT NULL;
    BEGIN
      EXECUTE format(
        'CREATE TABLE run_partitions.%I PARTITION OF runs FOR VALUES FROM (%L) TO (%L)',
        name, uuid_v7_floor(month), uuid_v7_floor(month + interval '1 month'));
    EXCEPTION WHEN check_violation THEN
      RAISE WARNING 'The runs of % stay in the default partition.', to_char(month, 'YYYY-MM');
    END;
  END LOOP;
END
$$;
SELECT create_run_partitions(3);

CREATE TABLE promotion (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  watermark timestamptz(3) NOT NULL,
  marker text NOT NULL
);
INSERT INTO promotion (watermark, marker) VALUES (now(), '');
