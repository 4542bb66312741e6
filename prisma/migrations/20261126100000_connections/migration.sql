-- How calls to some hosts prove who they are. Requests name a connection.
CREATE TABLE connections (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  settings text NOT NULL,
  hosts text[] NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX connections_workspace_id_name_key ON connections (workspace_id, name);

-- The access token of a connection, for all dispatchers, and which of them requests the next one.
CREATE TABLE connection_tokens (
  connection_id uuid PRIMARY KEY REFERENCES connections (id) ON UPDATE CASCADE ON DELETE CASCADE,
  workspace_id uuid NOT NULL,
  connection_version integer NOT NULL,
  token_id uuid,
  sealed_value bytea,
  key_version integer,
  refresh_at timestamptz(3),
  expires_at timestamptz(3),
  refused_at timestamptz(3),
  refresh_id uuid,
  refreshing_until timestamptz(3),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);

-- Tests of connections, which a dispatcher runs because no other process calls addresses of users.
CREATE TABLE connection_tests (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  connection_id uuid NOT NULL REFERENCES connections (id) ON UPDATE CASCADE ON DELETE CASCADE,
  url text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  started_at timestamptz(3),
  outcome text
);
CREATE INDEX connection_tests_connection_id_idx ON connection_tests (connection_id);
CREATE INDEX connection_tests_created_at_idx ON connection_tests (created_at);

-- The keys of identity tokens. Each private key has a data key of its own, as a message in the outbox.
CREATE TABLE identity_keys (
  id uuid PRIMARY KEY,
  public_key text NOT NULL,
  sealed_value bytea NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  retires_at timestamptz(3)
);

ALTER TABLE task_requests ADD COLUMN connection text;
ALTER TABLE cron_jobs ADD COLUMN connection text;
ALTER TABLE subscriptions ADD COLUMN connection text;

-- As in 20261124073900, with the connection.
CREATE OR REPLACE FUNCTION public_task(t tasks, r task_requests, u runs) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT row_to_json(shown) FROM (
    SELECT public_id('task', t.id) AS id, public_id('ws', t.workspace_id) AS workspace_id, r.name, t.source,
           public_id('cron', t.cron_job_id) AS cronjob_id, public_id('evt', t.event_id) AS event_id, r.topic,
           r.url, r.method, r.headers::json AS headers,
           CASE WHEN r.content_type IS NULL THEN r.payload::json END AS payload,
           CASE WHEN r.content_type IS NOT NULL THEN r.payload END AS payload_base64, r.content_type, r.queue, r.connection,
           public_time(t.execute_at) AS execute_at, t.state, t.state_reason, t.attempts, NULL AS blocked,
           public_time(t.expires_at) AS expires_at, t.key, coalesce(r.labels, '{}') AS labels,
           json_build_object('max_retries', r.max_retries, 'backoff', r.backoff, 'base_delay_ms', r.base_delay_ms,
                             'max_delay_ms', r.max_delay_ms) AS retry,
           r.timeout_ms, CASE WHEN t.state = 'retrying' THEN public_time(t.due_at) END AS next_retry_at,
           CASE WHEN u.id IS NOT NULL THEN json_build_object(
             'id', public_id('run', u.id), 'status', u.status, 'response_status', u.response_status,
             'error_code', u.error_code, 'finished_at', public_time(u.finished_at)) END AS last_run,
           r.callbacks::json -> 'on_success' AS on_success, r.callbacks::json -> 'on_failure' AS on_failure,
           r.callbacks::json -> 'on_attempt' AS on_attempt,
           public_id('task', t.callback_of) AS callback_of, public_id('task', t.replay_of) AS replay_of,
           r.created_by, r.updated_by,
           public_time(t.created_at) AS created_at, public_time(t.updated_at) AS updated_at,
           public_time(t.finished_at) AS finished_at
  ) shown
$$;
