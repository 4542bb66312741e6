-- Every table of Belfry, by topic. The functions and triggers are in prisma/sql.

CREATE TYPE role AS ENUM ('owner', 'admin', 'member');
CREATE TYPE workspace_role AS ENUM ('viewer', 'editor');
CREATE TYPE task_state AS ENUM ('pending', 'processing', 'retrying', 'success', 'dead', 'cancelled');
CREATE TYPE task_source AS ENUM ('task', 'cron', 'event', 'callback');
CREATE TYPE backoff AS ENUM ('exponential', 'linear', 'fixed');
CREATE TYPE cron_overlap AS ENUM ('allow', 'skip');
CREATE TYPE cron_catch_up AS ENUM ('latest', 'all', 'none');
CREATE TYPE dead_letter_action AS ENUM ('replay', 'discard');
CREATE TYPE run_status AS ENUM ('success', 'failed');
CREATE TYPE quota_resource AS ENUM ('executions', 'storage');
CREATE TYPE outbox_kind AS ENUM ('mail', 'webhook');
CREATE TYPE alert_channel AS ENUM ('slack', 'discord', 'email', 'webhook');

-- Users, and how they sign in -----------------------------------------------------------------------------------

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE,
  name text NOT NULL,
  password_hash text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When the user proved to receive mail at the address.
  email_confirmed_at timestamptz(3),
  -- When an operator suspended the user.
  suspended_at timestamptz(3)
);
-- Partial, because few rows are suspended.
CREATE INDEX users_suspended ON users (id) WHERE suspended_at IS NOT NULL;

CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  -- The device, and where and when the session was used last.
  agent text,
  address text,
  last_used_at timestamptz(3),
  confirmed_at timestamptz(3),
  has_second_factor boolean NOT NULL DEFAULT false,
  -- What a sign-out at the issuer of OpenID Connect needs.
  logout_hint text
);
CREATE INDEX sessions_user_id_idx ON sessions (user_id);
CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);

CREATE TABLE email_confirmations (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX email_confirmations_user_id_idx ON email_confirmations (user_id);
CREATE INDEX email_confirmations_expires_at_idx ON email_confirmations (expires_at);

CREATE TABLE password_resets (
  token_hash bytea PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX password_resets_user_id_idx ON password_resets (user_id);
CREATE INDEX password_resets_expires_at_idx ON password_resets (expires_at);

-- Second factors: passkeys, the secret of an authenticator app, and recovery codes.
CREATE TABLE passkeys (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  credential_id text NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3)
);
CREATE UNIQUE INDEX passkeys_credential_id_key ON passkeys (credential_id);
CREATE INDEX passkeys_user_id_idx ON passkeys (user_id);

CREATE TABLE totp_factors (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  sealed_secret bytea NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  last_step bigint,
  confirmed_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX totp_factors_user_id_key ON totp_factors (user_id);

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  code_hash bytea NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

-- What a passkey has to sign, and sign-ins that wait for a second factor.
CREATE TABLE challenges (
  hash bytea PRIMARY KEY,
  purpose text NOT NULL,
  user_id uuid REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX challenges_user_id_idx ON challenges (user_id);
CREATE INDEX challenges_expires_at_idx ON challenges (expires_at);

-- Users as an OpenID Connect issuer knows them.
CREATE TABLE user_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (issuer, subject)
);
CREATE UNIQUE INDEX user_identities_user_id_issuer_key ON user_identities (user_id, issuer);

-- The sign-ins of an account and the changes of its password. The audit logs of its organizations have the
-- same entries.
CREATE TABLE account_log (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL,
  action text NOT NULL,
  address text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The device of a sign-in.
  agent text
);
CREATE INDEX account_log_user_id_id_idx ON account_log (user_id, id);

-- When a name may try again: see src/throttle.ts.
CREATE TABLE throttles (
  name text PRIMARY KEY,
  free_at timestamptz NOT NULL
);
CREATE INDEX throttles_free_at_idx ON throttles (free_at);

-- Organizations and workspaces ----------------------------------------------------------------------------------

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
  members_can_manage_integrations boolean NOT NULL DEFAULT false,
  deleted_at timestamptz(3),
  suspended_at timestamptz(3),
  -- How long new API keys are valid at most.
  max_api_key_days integer,
  require_second_factor boolean NOT NULL DEFAULT false,
  CONSTRAINT organizations_tier CHECK (tier IN ('free', 'startup', 'scaleup', 'unicorn', 'unlimited'))
);
CREATE INDEX organizations_deleted_idx ON organizations (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX organizations_suspended ON organizations (id) WHERE suspended_at IS NOT NULL;

CREATE TABLE memberships (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  role role NOT NULL,
  joined_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The role that a member gets in workspaces that they join later: the one of their invitation.
  workspace_role workspace_role NOT NULL DEFAULT 'viewer',
  PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX memberships_user_id_idx ON memberships (user_id);

CREATE TABLE invitations (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  email text NOT NULL,
  role role NOT NULL,
  workspace_role workspace_role NOT NULL,
  workspace_ids uuid[] NOT NULL,
  token_hash bytea NOT NULL,
  invited_by uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations (token_hash);
CREATE INDEX invitations_organization_id_id_idx ON invitations (organization_id, id DESC);
CREATE UNIQUE INDEX invitations_open_key ON invitations (organization_id, email)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;

CREATE TABLE workspaces (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE RESTRICT,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at timestamptz(3),
  wound_down_at timestamptz(3),
  suspended_at timestamptz(3),
  -- Whether the log keeps the responses to requests with secrets.
  keeps_responses_with_secrets boolean NOT NULL DEFAULT true,
  -- Whether deliveries are also signed with Ed25519. The key pairs follow from the data keys, so nothing else
  -- is stored.
  asymmetric_signatures boolean NOT NULL DEFAULT false
);
CREATE INDEX workspaces_organization_id_idx ON workspaces (organization_id);
CREATE INDEX workspaces_winding_down_idx ON workspaces (deleted_at) WHERE deleted_at IS NOT NULL AND wound_down_at IS NULL;
-- Workspaces without unfinished tasks that wait to be purged.
CREATE INDEX workspaces_purging_idx ON workspaces (wound_down_at) WHERE wound_down_at IS NOT NULL;
CREATE INDEX workspaces_suspended ON workspaces (id) WHERE suspended_at IS NOT NULL;

CREATE TABLE workspace_members (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users (id) ON UPDATE CASCADE ON DELETE CASCADE,
  role workspace_role NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX workspace_members_user_id_idx ON workspace_members (user_id);

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
  revoked_at timestamptz(3),
  -- The rights of an API key: all that a key can have (`full`), or those that its creator had.
  scopes text[] NOT NULL DEFAULT '{full}',
  -- Where the key may be used from; empty for everywhere.
  allowed_ranges text[] NOT NULL DEFAULT '{}',
  last_used_address text,
  -- Of a key that a CI job got for its token.
  federated_credential_id uuid,
  subject text
);
CREATE INDEX api_keys_workspace_id_idx ON api_keys (workspace_id);
-- For the deletion of expired keys, of which there are few.
CREATE INDEX api_keys_expired_idx ON api_keys (expires_at) WHERE federated_credential_id IS NOT NULL;

-- The workspaces whose tasks and API keys are suspended. A suspended user suspends the organizations in which
-- the user is the oldest owner.
CREATE VIEW suspended_workspaces AS
  SELECT id FROM workspaces WHERE suspended_at IS NOT NULL
  UNION
  SELECT w.id FROM organizations o JOIN workspaces w ON w.organization_id = o.id WHERE o.suspended_at IS NOT NULL
  UNION
  SELECT w.id
  FROM users u JOIN memberships m ON m.user_id = u.id AND m.role = 'owner'
  JOIN workspaces w ON w.organization_id = m.organization_id
  WHERE u.suspended_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM memberships older
    WHERE older.organization_id = m.organization_id AND older.role = 'owner'
      AND (older.joined_at, older.user_id) < (m.joined_at, m.user_id)
  );

-- Trust of workspaces in the tokens of CI jobs, which exchange them for API keys that expire soon.
CREATE TABLE federated_credentials (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name text NOT NULL,
  issuer text NOT NULL,
  audience text NOT NULL,
  conditions jsonb NOT NULL,
  scopes text[] NOT NULL,
  lifetime_ms integer NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  keys jsonb,
  keys_read_at timestamptz(3),
  keys_message_id uuid,
  keys_ordered_at timestamptz(3)
);
CREATE INDEX federated_credentials_workspace_id_idx ON federated_credentials (workspace_id);

CREATE TABLE exchanged_tokens (
  hash bytea PRIMARY KEY,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX exchanged_tokens_expires_at_idx ON exchanged_tokens (expires_at);

-- Tasks ---------------------------------------------------------------------------------------------------------

-- Where an unfinished task is: 0 waits for its time or a dispatcher, 1 blocked, 2 in flight, 3 held. Used by
-- an index, so it can only change together with the index.
CREATE FUNCTION queue_phase(state task_state, due_at timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN state = 'processing' THEN 2 WHEN due_at >= '9000-01-01 00:00:00+00' THEN 3
              WHEN due_at >= '3000-01-01 00:00:00+00' THEN 1 ELSE 0 END
$$;

-- Each attempt rewrites its row twice: free space on the pages and an eager vacuum keep the table small.
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
  occurrence_at timestamptz(3),
  -- When a dead letter was replayed or discarded. Null for nearly every task, so it costs a row nothing.
  settled_at timestamptz(3),
  -- The dispatcher that claimed the task, and whether it claimed it before its time.
  dispatcher_id uuid,
  prefetched boolean NOT NULL DEFAULT false,
  -- A quarantined task runs alone: it may have killed its dispatcher. Attempts that were lost, and that were
  -- lost alone.
  quarantined boolean NOT NULL DEFAULT false,
  lost smallint NOT NULL DEFAULT 0,
  lost_alone smallint NOT NULL DEFAULT 0,
  -- Keeps the trigger store_callbacks from reading the request of a task without callbacks.
  has_callbacks boolean NOT NULL DEFAULT false,
  callback_of uuid,
  -- No attempt starts at this time or later.
  expires_at timestamptz(3),
  -- Unique among the pending tasks of a workspace.
  key text,
  -- The hash of the workspace and the queue's name, so a statement can store a task without a lookup.
  queue_id uuid,
  CONSTRAINT tasks_lease_while_processing CHECK ((state = 'processing') = (lease_until IS NOT NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX tasks_workspace_id_state_id_idx ON tasks (workspace_id, state, id DESC);
CREATE INDEX tasks_lease_idx ON tasks (lease_until) WHERE state = 'processing';
-- One occurrence an instant. A cancelled one may be replaced: a pause may end before its time comes.
CREATE UNIQUE INDEX tasks_occurrence_key ON tasks (cron_job_id, occurrence_at)
  WHERE occurrence_at IS NOT NULL AND state <> 'cancelled';
CREATE INDEX tasks_cron_job_id_id_idx ON tasks (cron_job_id, id DESC) WHERE cron_job_id IS NOT NULL;
CREATE INDEX tasks_unfinished_of_cron_job_idx ON tasks (cron_job_id) WHERE cron_job_id IS NOT NULL AND finished_at IS NULL;
CREATE INDEX tasks_dead_letters_idx ON tasks (workspace_id, id) WHERE state = 'dead' AND settled_at IS NULL;
CREATE INDEX tasks_dead_idx ON tasks (workspace_id, finished_at) WHERE state = 'dead';
CREATE INDEX tasks_dead_occurrences_idx ON tasks (finished_at) WHERE state = 'dead' AND occurrence_at IS NOT NULL;
-- Due work by workspace: a small workspace is found behind the million tasks of another. Claims and records
-- pay nothing for it, because a task leaves the index when it is claimed.
CREATE INDEX tasks_workspace_id_due_at_id_idx ON tasks (workspace_id, due_at, id) WHERE state IN ('pending', 'retrying');
-- With the id, so many tasks of one instant can be read page by page.
CREATE INDEX tasks_due_at_id_idx ON tasks (due_at, id) WHERE state IN ('pending', 'retrying');
CREATE INDEX tasks_quarantined_due_at_idx ON tasks (due_at) WHERE quarantined;
-- The occurrences that their users cancelled, which no later expansion may bring back.
CREATE INDEX tasks_cancelled_occurrences_idx ON tasks (cron_job_id, occurrence_at)
  WHERE occurrence_at IS NOT NULL AND state = 'cancelled' AND state_reason = 'user';
-- Tasks that died lately, in all workspaces. A delivery costs nothing for it.
CREATE INDEX tasks_dead_finished_at_idx ON tasks (finished_at) WHERE state = 'dead';
CREATE INDEX tasks_callback_of_idx ON tasks (callback_of, id DESC) WHERE callback_of IS NOT NULL;
CREATE INDEX tasks_expires_at_idx ON tasks (expires_at)
  WHERE expires_at IS NOT NULL AND state IN ('pending', 'retrying');
CREATE INDEX tasks_workspace_id_key_idx ON tasks (workspace_id, key)
  WHERE key IS NOT NULL AND finished_at IS NULL;
-- Tasks that expired before their first attempt have no run, so the deletion of old runs does not reach them.
CREATE INDEX tasks_dead_without_run_idx ON tasks (workspace_id, id) WHERE state = 'dead' AND run_id IS NULL;
CREATE INDEX tasks_queue_idx ON tasks (queue_id, queue_phase(state, due_at), execute_at, id)
  WHERE queue_id IS NOT NULL AND finished_at IS NULL;

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
  topic text,
  -- The trace of the request that created the task (W3C Trace Context), which its attempts continue.
  traceparent text,
  callbacks text,
  content_type text,
  labels text[],
  -- Who created it and who changed it last: a user or an API key, as the API shows its id.
  created_by text,
  updated_by text,
  -- How many calls of Belfry in a row led to the request that created the task; null for none.
  depth smallint,
  queue text,
  -- What a message of the QStash interface has beyond a task, as a JSON object; null for every other task.
  qstash text,
  -- Bytes that count as storage in addition to the payload: names, URLs, headers and callbacks beyond the
  -- first kilobyte. The deletion of the row frees what its creation has counted.
  extra_bytes integer,
  connection text,
  -- The subscription whose secrets sign the calls of a task.
  subscription_id uuid
);

-- Finds the tasks with a label, newest first. Only tasks with labels have rows.
CREATE TABLE task_labels (
  workspace_id uuid NOT NULL,
  label text NOT NULL,
  task_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, label, task_id)
);

-- Cancels and stops of many tasks that run in the background. A workspace runs one at a time.
CREATE TABLE task_operations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  action text NOT NULL,
  filter jsonb NOT NULL,
  total integer NOT NULL,
  ended integer NOT NULL DEFAULT 0,
  cursor uuid NOT NULL,
  cancelled boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3)
);
CREATE INDEX task_operations_workspace_id_idx ON task_operations (workspace_id);
CREATE INDEX task_operations_finished_at_idx ON task_operations (finished_at);
CREATE INDEX task_operations_updated_at_idx ON task_operations (updated_at) WHERE finished_at IS NULL;
CREATE UNIQUE INDEX task_operations_open_key ON task_operations (workspace_id) WHERE finished_at IS NULL;

-- The responses to requests with an Idempotency-Key, for a day. No foreign key: it would lock the workspace's
-- row on each insert.
CREATE TABLE idempotency_keys (
  workspace_id uuid NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status smallint NOT NULL,
  location text,
  answer text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Whether the answer counts as storage, so its deletion frees something.
  is_counted boolean NOT NULL DEFAULT true,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);

-- How far the scheduler has moved due tasks into the queue. One row.
CREATE TABLE promotion (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  watermark timestamptz(3) NOT NULL,
  marker text NOT NULL
);
INSERT INTO promotion (watermark, marker) VALUES (now(), '');

-- Where the due work begins. One row. Finished tasks leave dead entries at the head of the indexes of due
-- work and of leases, which no vacuum can remove while an old snapshot is open. Scans that start here never
-- walk over them.
CREATE TABLE waiting_floor (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  due_at timestamptz(3) NOT NULL,
  lease_until timestamptz(3) NOT NULL
) WITH (fillfactor = 50);
-- A minute back, for transactions that have not committed.
INSERT INTO waiting_floor (due_at, lease_until) VALUES (now() - interval '1 minute', now() - interval '1 minute');

-- Queues --------------------------------------------------------------------------------------------------------

-- The limits of queues. A task that its queue does not let start is blocked: its due time is moved 2,000
-- years ahead, so no search for due work finds it. Tasks that `hold-overdue` holds are 10,000 years ahead.
CREATE TABLE queues (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name text NOT NULL,
  -- Limits; null for unlimited.
  max_concurrent integer,
  rate_count integer,
  rate_period_ms integer,
  ordered boolean NOT NULL DEFAULT false,
  paused_at timestamptz(3),
  -- When the scheduler must look for the next permit of the rate limit; null when no task waits for one.
  advance_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Limits that messages of the QStash interface do not change.
  pinned_concurrency boolean NOT NULL DEFAULT false,
  pinned_rate boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX queues_workspace_id_name_key ON queues (workspace_id, name);
CREATE INDEX queues_advance_at_idx ON queues (advance_at) WHERE advance_at IS NOT NULL;

-- The attempts that queues with a rate limit started within their period.
CREATE TABLE queue_starts (
  queue_id uuid NOT NULL,
  at timestamptz(3) NOT NULL,
  starts integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX queue_starts_queue_id_at_idx ON queue_starts (queue_id, at);

-- Cron jobs and subscriptions -----------------------------------------------------------------------------------

-- Each occurrence moves next_run_at, so the pages keep free space.
CREATE TABLE cron_jobs (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  name text NOT NULL,
  cron text NOT NULL,
  timezone text NOT NULL,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  overlap cron_overlap NOT NULL,
  catch_up cron_catch_up NOT NULL,
  paused_at timestamptz(3),
  next_run_at timestamptz(3),
  url text NOT NULL,
  method text NOT NULL,
  headers text NOT NULL DEFAULT '{}',
  payload text,
  max_retries smallint NOT NULL,
  backoff backoff NOT NULL,
  base_delay_ms integer NOT NULL,
  max_delay_ms integer NOT NULL,
  timeout_ms integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  failing_since timestamptz(3),
  health_changed_at timestamptz(3),
  -- Since when no process could read the rule. The cursor stays, so a process that can read it continues from
  -- there.
  unreadable_since timestamptz(3),
  -- Occurrences that were created before this and have not started are void: the cron job was paused, or its
  -- rule changed.
  void_before timestamptz(3),
  callbacks text,
  content_type text,
  -- The deadline and the labels of its tasks.
  max_age_ms integer,
  labels text[],
  -- Who created it and who changed it last: a user or an API key, as the API shows its id.
  created_by text,
  updated_by text,
  queue text,
  -- The same as in task_requests for a schedule of the QStash interface, and the id of the schedule, which
  -- its user may choose.
  qstash text,
  qstash_id text,
  -- A key that the creator chose, so a program finds its object again.
  key text,
  connection text
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX cron_jobs_workspace_id_id_idx ON cron_jobs (workspace_id, id DESC);
CREATE INDEX cron_jobs_due_idx ON cron_jobs (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX cron_jobs_failing_idx ON cron_jobs (id) WHERE failing_since IS NOT NULL;
CREATE INDEX cron_jobs_health_idx ON cron_jobs (workspace_id, health_changed_at) WHERE health_changed_at IS NOT NULL;
CREATE INDEX cron_jobs_unreadable_idx ON cron_jobs (unreadable_since) WHERE unreadable_since IS NOT NULL;
-- Partial, because few cron jobs are schedules: with all of them in it, the planner may list the cron jobs of
-- a workspace along this index, and sort them.
CREATE UNIQUE INDEX cron_jobs_workspace_id_qstash_id_key ON cron_jobs (workspace_id, qstash_id) WHERE qstash_id IS NOT NULL;
CREATE UNIQUE INDEX cron_jobs_workspace_id_key_key ON cron_jobs (workspace_id, key) WHERE key IS NOT NULL;

CREATE TABLE subscriptions (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  topic text NOT NULL,
  active boolean NOT NULL,
  url text NOT NULL,
  headers text NOT NULL DEFAULT '{}',
  max_retries smallint NOT NULL,
  backoff backoff NOT NULL,
  base_delay_ms integer NOT NULL,
  max_delay_ms integer NOT NULL,
  timeout_ms integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  callbacks text,
  -- The deadline and the labels of its tasks.
  max_age_ms integer,
  labels text[],
  queue text,
  -- The name of an endpoint of a URL group.
  endpoint_name text,
  -- A key that the creator chose, so a program finds its object again.
  key text,
  connection text
);
CREATE INDEX subscriptions_workspace_id_id_idx ON subscriptions (workspace_id, id DESC);
-- An event is looked up by every pattern that matches its topic.
CREATE INDEX subscriptions_topic_idx ON subscriptions (workspace_id, topic) WHERE active;
CREATE UNIQUE INDEX subscriptions_workspace_id_key_key ON subscriptions (workspace_id, key) WHERE key IS NOT NULL;

-- Dead letters --------------------------------------------------------------------------------------------------

-- Replays and discards of many dead letters that run in the background. A workspace runs one at a time.
CREATE TABLE dead_letter_operations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  action dead_letter_action NOT NULL,
  cron_job_id uuid,
  topic text,
  execute_from timestamptz(3),
  execute_to timestamptz(3),
  total integer NOT NULL,
  settled integer NOT NULL DEFAULT 0,
  cursor uuid NOT NULL,
  cancelled boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  label text,
  -- The whole filter of an operation that selects by name, host or error. Null: the columns hold the filter.
  filter jsonb,
  -- The rate of a replay. Both are null when all replays are due at once.
  per_second integer,
  next_due_at timestamptz(3)
);
CREATE UNIQUE INDEX dead_letter_operations_running_key ON dead_letter_operations (workspace_id) WHERE finished_at IS NULL;
CREATE INDEX dead_letter_operations_turn_idx ON dead_letter_operations (updated_at) WHERE finished_at IS NULL;
CREATE INDEX dead_letter_operations_workspace_id_idx ON dead_letter_operations (workspace_id);
CREATE INDEX dead_letter_operations_finished_at_idx ON dead_letter_operations (finished_at);

-- Dispatchers and schedulers ------------------------------------------------------------------------------------

-- Heartbeats of dispatchers, and the prefetched claims that they have sent. Unlogged: a crash of PostgreSQL
-- empties both tables, and a claim without a record then counts as sent.
CREATE UNLOGGED TABLE dispatchers (
  id uuid PRIMARY KEY,
  session uuid NOT NULL,
  quarantine boolean NOT NULL DEFAULT false,
  beats bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- How many attempts it may have in flight: in all, and to one host.
  slots integer,
  permits_per_host integer
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE UNLOGGED TABLE sends (
  dispatcher_id uuid NOT NULL,
  seq bigint NOT NULL,
  run_ids uuid[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Heartbeats of schedulers. Unlogged, like dispatchers: after a crash of PostgreSQL each adds itself again.
CREATE UNLOGGED TABLE schedulers (
  id uuid PRIMARY KEY,
  seen_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The open circuit breakers of hosts, as each dispatcher reports them: for operators to see and to close.
CREATE TABLE resting_hosts (
  workspace_id uuid NOT NULL,
  host text NOT NULL,
  dispatcher uuid NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT now(),
  rests_until timestamptz(3) NOT NULL,
  reset_at timestamptz(3),
  -- Until when the dispatcher of the row alone may probe the host.
  probing_until timestamptz(3),
  PRIMARY KEY (workspace_id, host, dispatcher)
);

-- Runs ----------------------------------------------------------------------------------------------------------

-- The log: one row for each attempt that ended.
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
  -- Copies from the task: a filter of the log must not cost a join for each run that it passes over.
  cron_job_id uuid,
  topic text,
  -- Whether run_statistics counts the run.
  in_statistics boolean DEFAULT true,
  -- Bytes that count as storage in addition to the body: headers beyond the first four kilobytes. The
  -- deletion of the row frees what its creation has counted.
  extra_bytes integer,
  -- Why the attempt started late. Null when it did not, or when the reason is unknown.
  waited_for text,
  -- How long the steps of a call took, in milliseconds: DNS lookup, TCP connect, TLS handshake, first byte,
  -- as a JSON array. Null when nothing was measured. Text is cheaper to write than an array of integers.
  timings text,
  PRIMARY KEY (workspace_id, id)
) PARTITION BY RANGE (id);
-- One partition for each month. Runs of a month without a partition are in the default partition.
CREATE SCHEMA run_partitions;
CREATE TABLE run_partitions.runs_default PARTITION OF runs DEFAULT;
CREATE INDEX runs_task_id_idx ON runs (task_id);
-- Partial, so a run of a task without these columns that succeeds costs nothing.
CREATE INDEX runs_workspace_id_cron_job_id_id_idx ON runs (workspace_id, cron_job_id, id) WHERE cron_job_id IS NOT NULL;
CREATE INDEX runs_workspace_id_topic_id_idx ON runs (workspace_id, topic, id) WHERE topic IS NOT NULL;
-- The status is part of the order, so the planner prefers this index for failed runs.
CREATE INDEX runs_default_workspace_id_status_id_idx1 ON run_partitions.runs_default (workspace_id, status, id)
  WHERE status >= 'failed'; -- attached by the next statement; older databases have this name
CREATE INDEX runs_failed_idx ON runs (workspace_id, status, id) WHERE status >= 'failed';

-- How many attempts of a workspace started within a minute or an hour, by their lag. Counts of any range are
-- sums of rows, and so is its histogram of lags. lag_bucket: see src/run-statistics/lag-buckets.ts.
CREATE TABLE run_statistics (
  workspace_id uuid NOT NULL,
  -- The length of the period in minutes: 1 or 60.
  period smallint NOT NULL,
  starts_at timestamptz(3) NOT NULL,
  lag_bucket smallint NOT NULL,
  total bigint NOT NULL,
  failed bigint NOT NULL,
  PRIMARY KEY (workspace_id, period, starts_at, lag_bucket)
) WITH (fillfactor = 70);
-- For the retention.
CREATE INDEX run_statistics_period_starts_at_idx ON run_statistics (period, starts_at);

-- Written in the transaction that writes the runs, and folded into run_statistics within seconds: like
-- usage_changes. Each run counts once, in whatever order transactions commit.
CREATE TABLE run_changes (
  workspace_id uuid NOT NULL,
  -- The minute in which the attempts started.
  minute timestamptz(3) NOT NULL,
  failed boolean NOT NULL,
  -- 1, or -1 for runs that no longer have this start or status.
  weight smallint NOT NULL,
  lags_ms integer[]
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- How far run_statistics has counted earlier runs, in the order of their primary key. One row.
CREATE TABLE run_statistics_backfill (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  workspace_id uuid NOT NULL,
  run_id uuid NOT NULL,
  finished_at timestamptz(3)
);
INSERT INTO run_statistics_backfill (workspace_id, run_id)
VALUES ('00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000');

-- The parts of the log in object storage. Each has runs of one workspace and one day in UTC, which are no
-- longer in `runs`.
CREATE TABLE log_parts (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  day date NOT NULL,
  part integer NOT NULL,
  -- writing: the object may be there, and the runs are in `runs`. stored: the runs are only in the object.
  -- restored: they are in `runs` again. deleting: the object is to be deleted, then the row.
  state text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'stored', 'restored', 'deleting')),
  object_key text NOT NULL,
  first_run_id uuid NOT NULL,
  last_run_id uuid NOT NULL,
  -- The tasks of its runs are between these.
  first_task_id uuid NOT NULL,
  last_task_id uuid NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL,
  -- The size of the object, and its SHA-256 in base64.
  object_bytes integer NOT NULL,
  checksum text NOT NULL,
  -- What its runs and tasks count as storage, which the part continues to count.
  storage_bytes bigint NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  restored_at timestamptz(3),
  -- Until when the runs of a restored part stay in PostgreSQL.
  hot_until timestamptz(3)
);
CREATE UNIQUE INDEX log_parts_workspace_id_day_part_key ON log_parts (workspace_id, day, part);
-- One scheduler at a time writes a part of a workspace.
CREATE UNIQUE INDEX log_parts_writing ON log_parts (workspace_id) WHERE state = 'writing';
-- For lists, newest first.
CREATE INDEX log_parts_workspace_id_last_run_id_idx ON log_parts (workspace_id, last_run_id);
-- For the retention.
CREATE INDEX log_parts_state_day_idx ON log_parts (state, day);

-- Usage and billing ---------------------------------------------------------------------------------------------

-- Executions by month. Claims of an organization update its row one after another. Free space on the page
-- avoids index entries.
CREATE TABLE usage (
  month date NOT NULL,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  executions bigint NOT NULL,
  wanted integer NOT NULL,
  granted integer NOT NULL,
  execution_limit bigint NOT NULL,
  PRIMARY KEY (month, organization_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- Written in the transaction that it counts, and folded into usage, usage_days and storage within seconds. So
-- many rows come and go that only an eager vacuum keeps the table small. Without a key, because rows are read
-- in any order.
CREATE TABLE usage_changes (
  workspace_id uuid NOT NULL,
  storage_bytes bigint NOT NULL DEFAULT 0,
  executions integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  changed_at timestamptz(3) NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE usage_days (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  day date NOT NULL,
  executions bigint NOT NULL,
  failed bigint NOT NULL,
  PRIMARY KEY (organization_id, day)
) WITH (fillfactor = 70);

CREATE TABLE storage (
  organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  bytes bigint NOT NULL,
  corrected_at timestamptz(3) NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
CREATE INDEX storage_corrected_at_idx ON storage (corrected_at);

-- Executions that a dispatcher may start without asking again. They count in usage.executions already, so an
-- organization has used usage.executions minus the unspent executions of all dispatchers.
CREATE TABLE execution_blocks (
  month date NOT NULL,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  dispatcher_id uuid NOT NULL,
  unspent bigint NOT NULL CHECK (unspent >= 0),
  execution_limit bigint,
  PRIMARY KEY (month, organization_id, dispatcher_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE quota_crossings (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  month date NOT NULL,
  resource quota_resource NOT NULL,
  percent smallint NOT NULL,
  crossed_at timestamptz(3) NOT NULL DEFAULT now(),
  announced_at timestamptz(3),
  PRIMARY KEY (organization_id, month, resource, percent)
);
CREATE INDEX quota_crossings_unannounced_idx ON quota_crossings (crossed_at) WHERE announced_at IS NULL;

-- Which organizations have had the usage mail of which month.
CREATE TABLE usage_reports (
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  month date NOT NULL,
  reported_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (organization_id, month)
);

-- What the payment provider last reported about an organization.
CREATE TABLE billing_accounts (
  organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  customer_id text,
  checkout_id text,
  subscription_id text,
  status text,
  tier text,
  period_end timestamptz(3),
  next_tier text,
  next_tier_at timestamptz(3),
  grace_until timestamptz(3),
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX billing_accounts_customer_id_key ON billing_accounts (customer_id);
CREATE INDEX billing_accounts_grace_until_idx ON billing_accounts (grace_until);

-- The provider's events that have been handled.
CREATE TABLE billing_events (
  id text PRIMARY KEY,
  received_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX billing_events_received_at_idx ON billing_events (received_at);

-- Secrets and connections ---------------------------------------------------------------------------------------

-- The keys that encrypt the secrets of a workspace, each encrypted with a master key.
CREATE TABLE data_keys (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  version integer NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  uses integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, version)
);
CREATE INDEX data_keys_master_key_id_idx ON data_keys (master_key_id);

CREATE TABLE secrets (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The hosts that a secret may be sent to. Null: every host.
  allowed_hosts text[],
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX secrets_workspace_id_name_key ON secrets (workspace_id, name);

CREATE TABLE signing_secrets (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX signing_secrets_workspace_id_idx ON signing_secrets (workspace_id);
-- One is current: the others expire.
CREATE UNIQUE INDEX signing_secrets_current_key ON signing_secrets (workspace_id) WHERE expires_at IS NULL;

-- The secrets that sign the calls of a subscription instead of the secrets of its workspace.
CREATE TABLE subscription_secrets (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX subscription_secrets_workspace_id_idx ON subscription_secrets (workspace_id);
CREATE INDEX subscription_secrets_subscription_id_idx ON subscription_secrets (subscription_id);
CREATE INDEX subscription_secrets_expires_at_idx ON subscription_secrets (expires_at);
CREATE UNIQUE INDEX subscription_secrets_current_key ON subscription_secrets (subscription_id) WHERE expires_at IS NULL;

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

-- The QStash interface ------------------------------------------------------------------------------------------

-- The keys of Upstash-Signature. A rotation makes the next key the current one.
CREATE TABLE qstash_signing_keys (
  workspace_id uuid PRIMARY KEY,
  current_id uuid NOT NULL,
  sealed_current bytea NOT NULL,
  next_id uuid NOT NULL,
  sealed_next bytea NOT NULL,
  key_version integer NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);

-- The messages that a later message with the same deduplication id or the same content repeats.
CREATE TABLE qstash_deduplications (
  workspace_id uuid NOT NULL REFERENCES workspaces (id) ON UPDATE CASCADE ON DELETE CASCADE,
  hash bytea NOT NULL,
  task_id uuid NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (workspace_id, hash)
);
CREATE INDEX qstash_deduplications_expires_at_idx ON qstash_deduplications (expires_at);

-- Messages and alerts -------------------------------------------------------------------------------------------

-- Mails and webhooks that are waiting to be sent.
CREATE TABLE outbox (
  id uuid PRIMARY KEY,
  kind outbox_kind NOT NULL,
  label text NOT NULL,
  content bytea,
  master_key_id text,
  wrapped_key bytea,
  due_at timestamptz(3) NOT NULL DEFAULT now(),
  attempts smallint NOT NULL DEFAULT 0,
  last_error text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  sent boolean NOT NULL DEFAULT false,
  -- For which organization a message is sent, so operators see which one sends many. Not a foreign key: a
  -- message outlives a deleted organization.
  organization_id uuid
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX outbox_due_at_idx ON outbox (kind, due_at) WHERE finished_at IS NULL;
CREATE INDEX outbox_finished_at_idx ON outbox (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX outbox_master_key_id_idx ON outbox (master_key_id) WHERE master_key_id IS NOT NULL;
CREATE INDEX outbox_organization_id_idx ON outbox (organization_id, created_at) WHERE organization_id IS NOT NULL;

-- Blocked mail addresses, by their hash: their owner unsubscribed from alerts, or an operator blocked them.
-- Only the latter are stored as text.
CREATE TABLE mail_blocks (
  id uuid PRIMARY KEY,
  address_hash bytea NOT NULL,
  unsubscribed_at timestamptz(3),
  blocked_at timestamptz(3),
  address text
);
CREATE UNIQUE INDEX mail_blocks_address_hash_key ON mail_blocks (address_hash);

CREATE TABLE integrations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  channel alert_channel NOT NULL,
  events text[] NOT NULL,
  sealed_target bytea NOT NULL,
  key_version integer NOT NULL,
  shown_target text NOT NULL,
  told_until timestamptz(3) NOT NULL DEFAULT now(),
  quiet_until timestamptz(3) NOT NULL DEFAULT now(),
  pause_ms integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Whether there may be news for the integration. True at first: the next round looks once.
  has_news boolean NOT NULL DEFAULT true,
  -- When the recipient agreed to get alerts; null until then.
  confirmed_at timestamptz(3),
  -- The hash of the token in the mail that asks the recipient.
  confirm_hash bytea,
  -- A key that the creator chose, so a program finds its object again.
  key text,
  FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys (workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX integrations_workspace_id_id_idx ON integrations (workspace_id, id DESC);
CREATE INDEX integrations_news_idx ON integrations (quiet_until) WHERE has_news;
CREATE UNIQUE INDEX integrations_confirm_hash_key ON integrations (confirm_hash);
CREATE UNIQUE INDEX integrations_workspace_id_key_key ON integrations (workspace_id, key) WHERE key IS NOT NULL;

-- How far the scheduler has looked for failing cron jobs, and how far it has marked integrations. One row.
CREATE TABLE alert_rounds (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  noticed_until timestamptz(3) NOT NULL DEFAULT now(),
  marked_until timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO alert_rounds (noticed_until) VALUES (now() - interval '1 minute');

-- The audit log -------------------------------------------------------------------------------------------------

-- Append-only, by the trigger audit_log_append_only. Without foreign keys: an entry outlives its user and its
-- object.
CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  workspace_id uuid,
  action text NOT NULL,
  user_id uuid,
  api_key_id uuid,
  address text NOT NULL,
  object_id text NOT NULL,
  details text NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_organization_id_id_idx ON audit_log (organization_id, id DESC);

-- The actions of operators. Append-only, like audit_log.
CREATE TABLE operator_log (
  id uuid PRIMARY KEY,
  operator text NOT NULL,
  address text NOT NULL,
  action text NOT NULL,
  object_id text NOT NULL,
  details text NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- Where new audit entries are sent: the webhook of an organization. The nil UUID stands for the file of the
-- operators, which has no target and receives the entries of all organizations and of operators.
CREATE TABLE audit_streams (
  organization_id uuid PRIMARY KEY,
  shown_target text,
  -- The URL and the signing secrets, encrypted with a data key of their own.
  sealed_target bytea,
  master_key_id text,
  wrapped_key bytea,
  -- The latest message with entries, and how many entries it has.
  message_id uuid,
  message_entries integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- The entries that a stream has still to send. They appear with the commit of their transaction, so a slow
-- commit cannot lose them. Without a foreign key: its lock would let the end of a stream fail the actions
-- that are being recorded.
CREATE TABLE audit_stream_entries (
  organization_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  PRIMARY KEY (organization_id, entry_id)
);
