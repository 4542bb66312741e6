-- schemas: 2

CREATE SCHEMA public;
GRANT USAGE ON SCHEMA public TO PUBLIC;
GRANT USAGE ON SCHEMA public TO belfry_api;
GRANT USAGE ON SCHEMA public TO belfry_dispatcher;
GRANT USAGE ON SCHEMA public TO belfry_scheduler;

CREATE SCHEMA run_partitions;
GRANT USAGE ON SCHEMA run_partitions TO belfry_api;
GRANT USAGE ON SCHEMA run_partitions TO belfry_dispatcher;
GRANT CREATE, USAGE ON SCHEMA run_partitions TO belfry_scheduler;

-- types: 12

CREATE TYPE alert_channel AS ENUM ('slack', 'discord', 'email', 'webhook');

CREATE TYPE backoff AS ENUM ('exponential', 'linear', 'fixed');

CREATE TYPE bulk_action AS ENUM ('cancel', 'stop', 'replay', 'discard');

CREATE TYPE cron_catch_up AS ENUM ('latest', 'all', 'none');

CREATE TYPE cron_overlap AS ENUM ('allow', 'skip');

CREATE TYPE outbox_kind AS ENUM ('mail', 'webhook');

CREATE TYPE quota_resource AS ENUM ('executions', 'storage');

CREATE TYPE role AS ENUM ('owner', 'admin', 'member');

CREATE TYPE run_status AS ENUM ('success', 'failed');

CREATE TYPE task_source AS ENUM ('task', 'cron', 'event', 'callback');

CREATE TYPE task_state AS ENUM ('pending', 'processing', 'retrying', 'success', 'dead', 'cancelled');

CREATE TYPE workspace_role AS ENUM ('viewer', 'editor');

-- sequences: 0

-- tables: 72

CREATE TABLE _prisma_migrations (
  id character varying(36) NOT NULL,
  checksum character varying(64) NOT NULL,
  finished_at timestamp with time zone,
  migration_name character varying(255) NOT NULL,
  logs text,
  rolled_back_at timestamp with time zone,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0,
  CONSTRAINT _prisma_migrations_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX _prisma_migrations_pkey ON public._prisma_migrations USING btree (id);
GRANT SELECT ON _prisma_migrations TO belfry_api;
GRANT SELECT ON _prisma_migrations TO belfry_dispatcher;
GRANT SELECT ON _prisma_migrations TO belfry_scheduler;

CREATE TABLE account_log (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  action text NOT NULL,
  address text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  agent text,
  CONSTRAINT account_log_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX account_log_pkey ON public.account_log USING btree (id);
CREATE INDEX account_log_user_id_id_idx ON public.account_log USING btree (user_id, id);
GRANT INSERT, SELECT ON account_log TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON account_log TO belfry_scheduler;

CREATE TABLE alert_rounds (
  id smallint NOT NULL DEFAULT 1,
  noticed_until timestamp(3) with time zone NOT NULL DEFAULT now(),
  marked_until timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT alert_rounds_id_check CHECK ((id = 1)),
  CONSTRAINT alert_rounds_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX alert_rounds_pkey ON public.alert_rounds USING btree (id);
GRANT INSERT, SELECT, UPDATE ON alert_rounds TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON alert_rounds TO belfry_dispatcher;
GRANT INSERT, SELECT, UPDATE ON alert_rounds TO belfry_scheduler;

CREATE TABLE api_keys (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  hash bytea NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  scopes text[] NOT NULL DEFAULT '{full}'::text[],
  allowed_ranges text[] NOT NULL DEFAULT '{}'::text[],
  last_used_address text,
  federated_credential_id uuid,
  subject text,
  lifetime_ms bigint,
  CONSTRAINT api_keys_hash_key UNIQUE (hash),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX api_keys_expired_idx ON public.api_keys USING btree (expires_at) WHERE (federated_credential_id IS NOT NULL);
CREATE UNIQUE INDEX api_keys_hash_key ON public.api_keys USING btree (hash);
CREATE UNIQUE INDEX api_keys_pkey ON public.api_keys USING btree (id);
CREATE INDEX api_keys_workspace_id_idx ON public.api_keys USING btree (workspace_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON api_keys TO belfry_api;
GRANT DELETE ON api_keys TO belfry_scheduler;
GRANT SELECT (id) ON api_keys TO belfry_scheduler;
GRANT SELECT (workspace_id) ON api_keys TO belfry_scheduler;
GRANT SELECT (expires_at) ON api_keys TO belfry_scheduler;
GRANT SELECT (federated_credential_id) ON api_keys TO belfry_scheduler;

CREATE TABLE audit_log (
  id uuid NOT NULL,
  organization_id uuid NOT NULL,
  workspace_id uuid,
  action text NOT NULL,
  user_id uuid,
  api_key_id uuid,
  address text NOT NULL,
  object_id text NOT NULL,
  details text NOT NULL DEFAULT '{}'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_organization_id_id_idx ON public.audit_log USING btree (organization_id, id DESC);
CREATE UNIQUE INDEX audit_log_pkey ON public.audit_log USING btree (id);
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
CREATE TRIGGER stream_added AFTER INSERT ON public.audit_log REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION stream_audit_entries();
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_log FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.organization'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.organization'::text, true), ''::text) AS "coalesce") = (organization_id)::text))) WITH CHECK ();
GRANT INSERT, SELECT ON audit_log TO belfry_api;
GRANT INSERT, SELECT ON audit_log TO belfry_scheduler;

CREATE TABLE audit_stream_entries (
  organization_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  CONSTRAINT audit_stream_entries_pkey PRIMARY KEY (organization_id, entry_id)
);
CREATE UNIQUE INDEX audit_stream_entries_pkey ON public.audit_stream_entries USING btree (organization_id, entry_id);
ALTER TABLE audit_stream_entries ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_stream_entries FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.organization'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.organization'::text, true), ''::text) AS "coalesce") = (organization_id)::text))) WITH CHECK ();
GRANT DELETE, SELECT ON audit_stream_entries TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON audit_stream_entries TO belfry_scheduler;

CREATE TABLE audit_streams (
  organization_id uuid NOT NULL,
  shown_target text,
  sealed_target bytea,
  master_key_id text,
  wrapped_key bytea,
  message_id uuid,
  message_entries integer NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT audit_streams_pkey PRIMARY KEY (organization_id)
);
CREATE UNIQUE INDEX audit_streams_pkey ON public.audit_streams USING btree (organization_id);
ALTER TABLE audit_streams ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_streams FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.organization'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.organization'::text, true), ''::text) AS "coalesce") = (organization_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON audit_streams TO belfry_api;
GRANT SELECT ON audit_streams TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON audit_streams TO belfry_scheduler;

CREATE TABLE billing_accounts (
  organization_id uuid NOT NULL,
  customer_id text,
  checkout_id text,
  subscription_id text,
  status text,
  tier text,
  period_end timestamp(3) with time zone,
  next_tier text,
  next_tier_at timestamp(3) with time zone,
  grace_until timestamp(3) with time zone,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT billing_accounts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT billing_accounts_pkey PRIMARY KEY (organization_id)
);
CREATE UNIQUE INDEX billing_accounts_customer_id_key ON public.billing_accounts USING btree (customer_id);
CREATE INDEX billing_accounts_grace_until_idx ON public.billing_accounts USING btree (grace_until);
CREATE UNIQUE INDEX billing_accounts_pkey ON public.billing_accounts USING btree (organization_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON billing_accounts TO belfry_api;
GRANT SELECT, UPDATE ON billing_accounts TO belfry_scheduler;

CREATE TABLE billing_events (
  id text NOT NULL,
  received_at timestamp(3) with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT billing_events_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX billing_events_pkey ON public.billing_events USING btree (id);
CREATE INDEX billing_events_received_at_idx ON public.billing_events USING btree (received_at);
GRANT INSERT, SELECT, UPDATE ON billing_events TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON billing_events TO belfry_scheduler;

CREATE TABLE bulk_operations (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  action bulk_action NOT NULL,
  filter jsonb NOT NULL,
  per_second integer,
  total integer NOT NULL,
  done integer NOT NULL DEFAULT 0,
  cursor uuid,
  cursor_at timestamp(3) with time zone,
  next_due_at timestamp(3) with time zone,
  cancelled boolean NOT NULL DEFAULT false,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  held_at timestamp(3) with time zone,
  undecided uuid[] DEFAULT ARRAY[]::uuid[],
  CONSTRAINT bulk_operations_pkey PRIMARY KEY (id),
  CONSTRAINT bulk_operations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX bulk_operations_finished_at_idx ON public.bulk_operations USING btree (finished_at);
CREATE UNIQUE INDEX bulk_operations_open_key ON public.bulk_operations USING btree (workspace_id, ((action = ANY (ARRAY['cancel'::bulk_action, 'stop'::bulk_action])))) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX bulk_operations_pkey ON public.bulk_operations USING btree (id);
CREATE INDEX bulk_operations_updated_at_idx ON public.bulk_operations USING btree (updated_at) WHERE (finished_at IS NULL);
CREATE INDEX bulk_operations_workspace_id_id_idx ON public.bulk_operations USING btree (workspace_id, id);
ALTER TABLE bulk_operations ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON bulk_operations FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT INSERT, SELECT, UPDATE ON bulk_operations TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON bulk_operations TO belfry_scheduler;

CREATE TABLE challenges (
  hash bytea NOT NULL,
  purpose text NOT NULL,
  user_id uuid,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT challenges_pkey PRIMARY KEY (hash),
  CONSTRAINT challenges_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX challenges_expires_at_idx ON public.challenges USING btree (expires_at);
CREATE UNIQUE INDEX challenges_pkey ON public.challenges USING btree (hash);
CREATE INDEX challenges_user_id_idx ON public.challenges USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON challenges TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON challenges TO belfry_scheduler;

CREATE TABLE connection_tests (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  url text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  started_at timestamp(3) with time zone,
  outcome text,
  CONSTRAINT connection_tests_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connections(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT connection_tests_pkey PRIMARY KEY (id)
);
CREATE INDEX connection_tests_connection_id_idx ON public.connection_tests USING btree (connection_id);
CREATE INDEX connection_tests_created_at_idx ON public.connection_tests USING btree (created_at);
CREATE UNIQUE INDEX connection_tests_pkey ON public.connection_tests USING btree (id);
ALTER TABLE connection_tests ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON connection_tests FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT INSERT, SELECT ON connection_tests TO belfry_api;
GRANT SELECT, UPDATE ON connection_tests TO belfry_dispatcher;
GRANT DELETE, SELECT ON connection_tests TO belfry_scheduler;

CREATE TABLE connection_tokens (
  connection_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  connection_version integer NOT NULL,
  token_id uuid,
  sealed_value bytea,
  key_version integer,
  refresh_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  refused_at timestamp(3) with time zone,
  refresh_id uuid,
  refreshing_until timestamp(3) with time zone,
  CONSTRAINT connection_tokens_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connections(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT connection_tokens_pkey PRIMARY KEY (connection_id),
  CONSTRAINT connection_tokens_workspace_id_key_version_fkey FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys(workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX connection_tokens_pkey ON public.connection_tokens USING btree (connection_id);
ALTER TABLE connection_tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON connection_tokens FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, SELECT ON connection_tokens TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON connection_tokens TO belfry_dispatcher;

CREATE TABLE connections (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  settings text NOT NULL,
  hosts text[] NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT connections_pkey PRIMARY KEY (id),
  CONSTRAINT connections_workspace_id_key_version_fkey FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys(workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX connections_pkey ON public.connections USING btree (id);
CREATE UNIQUE INDEX connections_workspace_id_name_key ON public.connections USING btree (workspace_id, name);
ALTER TABLE connections ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON connections FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON connections TO belfry_api;
GRANT SELECT ON connections TO belfry_dispatcher;

CREATE TABLE cron_jobs (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  cron text NOT NULL,
  timezone text NOT NULL,
  starts_at timestamp(3) with time zone,
  ends_at timestamp(3) with time zone,
  overlap cron_overlap NOT NULL,
  catch_up cron_catch_up NOT NULL,
  paused_at timestamp(3) with time zone,
  next_run_at timestamp(3) with time zone,
  url text NOT NULL,
  method text NOT NULL,
  headers text NOT NULL DEFAULT '{}'::text,
  payload text,
  max_retries smallint NOT NULL,
  backoff backoff NOT NULL,
  base_delay_ms integer NOT NULL,
  max_delay_ms integer NOT NULL,
  timeout_ms integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  failing_since timestamp(3) with time zone,
  health_changed_at timestamp(3) with time zone,
  unreadable_since timestamp(3) with time zone,
  void_before timestamp(3) with time zone,
  callbacks text,
  content_type text,
  max_age_ms integer,
  labels text[],
  created_by text,
  updated_by text,
  queue text,
  qstash text,
  qstash_id text,
  key text,
  connection text,
  retry_delays text,
  written_labels text[],
  failing_warned_at timestamp(3) with time zone,
  paused_reason text,
  subscription_id uuid,
  CONSTRAINT cron_jobs_pkey PRIMARY KEY (id),
  CONSTRAINT cron_jobs_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
) WITH (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX cron_jobs_due_idx ON public.cron_jobs USING btree (next_run_at) WHERE (next_run_at IS NOT NULL);
CREATE INDEX cron_jobs_failing_idx ON public.cron_jobs USING btree (id) WHERE (failing_since IS NOT NULL);
CREATE INDEX cron_jobs_health_idx ON public.cron_jobs USING btree (workspace_id, health_changed_at) WHERE (health_changed_at IS NOT NULL);
CREATE UNIQUE INDEX cron_jobs_pkey ON public.cron_jobs USING btree (id);
CREATE INDEX cron_jobs_subscription_idx ON public.cron_jobs USING btree (subscription_id) WHERE (subscription_id IS NOT NULL);
CREATE INDEX cron_jobs_unreadable_idx ON public.cron_jobs USING btree (unreadable_since) WHERE (unreadable_since IS NOT NULL);
CREATE INDEX cron_jobs_workspace_id_id_idx ON public.cron_jobs USING btree (workspace_id, id DESC);
CREATE UNIQUE INDEX cron_jobs_workspace_id_key_key ON public.cron_jobs USING btree (workspace_id, key) WHERE (key IS NOT NULL);
CREATE UNIQUE INDEX cron_jobs_workspace_id_qstash_id_key ON public.cron_jobs USING btree (workspace_id, qstash_id) WHERE (qstash_id IS NOT NULL);
ALTER TABLE cron_jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON cron_jobs FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON cron_jobs TO belfry_api;
GRANT SELECT ON cron_jobs TO belfry_dispatcher;
GRANT DELETE, SELECT, UPDATE ON cron_jobs TO belfry_scheduler;

CREATE TABLE data_keys (
  workspace_id uuid NOT NULL,
  version integer NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  uses integer NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT data_keys_pkey PRIMARY KEY (workspace_id, version),
  CONSTRAINT data_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX data_keys_master_key_id_idx ON public.data_keys USING btree (master_key_id);
CREATE UNIQUE INDEX data_keys_pkey ON public.data_keys USING btree (workspace_id, version);
ALTER TABLE data_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON data_keys FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT INSERT, SELECT, UPDATE ON data_keys TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON data_keys TO belfry_dispatcher;
GRANT DELETE, SELECT ON data_keys TO belfry_scheduler;

CREATE UNLOGGED TABLE dispatchers (
  id uuid NOT NULL,
  session uuid NOT NULL,
  quarantine boolean NOT NULL DEFAULT false,
  beats bigint NOT NULL DEFAULT 0,
  started_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  seen_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  slots integer,
  permits_per_host integer,
  CONSTRAINT dispatchers_pkey PRIMARY KEY (id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE UNIQUE INDEX dispatchers_pkey ON public.dispatchers USING btree (id);
GRANT SELECT ON dispatchers TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON dispatchers TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON dispatchers TO belfry_scheduler;

CREATE TABLE dispatching (
  id smallint NOT NULL DEFAULT 1,
  seen_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  ended_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT dispatching_id_check CHECK ((id = 1)),
  CONSTRAINT dispatching_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX dispatching_pkey ON public.dispatching USING btree (id);
GRANT SELECT, UPDATE ON dispatching TO belfry_dispatcher;
GRANT SELECT, UPDATE ON dispatching TO belfry_scheduler;

CREATE TABLE email_confirmations (
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT email_confirmations_pkey PRIMARY KEY (token_hash),
  CONSTRAINT email_confirmations_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX email_confirmations_expires_at_idx ON public.email_confirmations USING btree (expires_at);
CREATE UNIQUE INDEX email_confirmations_pkey ON public.email_confirmations USING btree (token_hash);
CREATE INDEX email_confirmations_user_id_idx ON public.email_confirmations USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON email_confirmations TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON email_confirmations TO belfry_scheduler;

CREATE TABLE exchanged_tokens (
  hash bytea NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT exchanged_tokens_pkey PRIMARY KEY (hash)
);
CREATE INDEX exchanged_tokens_expires_at_idx ON public.exchanged_tokens USING btree (expires_at);
CREATE UNIQUE INDEX exchanged_tokens_pkey ON public.exchanged_tokens USING btree (hash);
GRANT INSERT, SELECT ON exchanged_tokens TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON exchanged_tokens TO belfry_scheduler;

CREATE TABLE execution_blocks (
  month date NOT NULL,
  organization_id uuid NOT NULL,
  dispatcher_id uuid NOT NULL,
  unspent bigint NOT NULL,
  execution_limit bigint,
  CONSTRAINT execution_blocks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT execution_blocks_pkey PRIMARY KEY (month, organization_id, dispatcher_id),
  CONSTRAINT execution_blocks_unspent_check CHECK ((unspent >= 0))
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);
CREATE UNIQUE INDEX execution_blocks_pkey ON public.execution_blocks USING btree (month, organization_id, dispatcher_id);
GRANT SELECT ON execution_blocks TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON execution_blocks TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON execution_blocks TO belfry_scheduler;

CREATE TABLE failing_hosts (
  workspace_id uuid NOT NULL,
  host text NOT NULL,
  failing_since timestamp(3) with time zone,
  health_changed_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT failing_hosts_pkey PRIMARY KEY (workspace_id, host)
);
CREATE UNIQUE INDEX failing_hosts_pkey ON public.failing_hosts USING btree (workspace_id, host);
GRANT DELETE, INSERT, SELECT, UPDATE ON failing_hosts TO belfry_scheduler;

CREATE TABLE failure_states (
  workspace_id uuid NOT NULL,
  host text NOT NULL,
  error_code text NOT NULL,
  response_status smallint NOT NULL,
  state text NOT NULL,
  changed_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT failure_states_pkey PRIMARY KEY (workspace_id, host, error_code, response_status)
);
CREATE UNIQUE INDEX failure_states_pkey ON public.failure_states USING btree (workspace_id, host, error_code, response_status);
ALTER TABLE failure_states ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON failure_states FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON failure_states TO belfry_api;
GRANT DELETE ON failure_states TO belfry_scheduler;
GRANT SELECT (workspace_id) ON failure_states TO belfry_scheduler;

CREATE TABLE federated_credentials (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  issuer text NOT NULL,
  audience text NOT NULL,
  conditions jsonb NOT NULL,
  scopes text[] NOT NULL,
  lifetime_ms integer NOT NULL,
  created_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp(3) with time zone,
  keys jsonb,
  keys_read_at timestamp(3) with time zone,
  keys_message_id uuid,
  keys_ordered_at timestamp(3) with time zone,
  CONSTRAINT federated_credentials_pkey PRIMARY KEY (id),
  CONSTRAINT federated_credentials_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX federated_credentials_pkey ON public.federated_credentials USING btree (id);
CREATE INDEX federated_credentials_workspace_id_idx ON public.federated_credentials USING btree (workspace_id);
ALTER TABLE federated_credentials ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON federated_credentials FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON federated_credentials TO belfry_api;
GRANT SELECT (id) ON federated_credentials TO belfry_dispatcher;
GRANT SELECT (workspace_id) ON federated_credentials TO belfry_dispatcher;
GRANT SELECT (issuer) ON federated_credentials TO belfry_dispatcher;
GRANT UPDATE (keys) ON federated_credentials TO belfry_dispatcher;
GRANT UPDATE (keys_read_at) ON federated_credentials TO belfry_dispatcher;
GRANT DELETE ON federated_credentials TO belfry_scheduler;
GRANT SELECT (workspace_id) ON federated_credentials TO belfry_scheduler;

CREATE TABLE host_statistics (
  workspace_id uuid NOT NULL,
  period smallint NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  host text NOT NULL,
  total bigint NOT NULL,
  failed bigint NOT NULL,
  duration_ms bigint NOT NULL,
  CONSTRAINT host_statistics_pkey PRIMARY KEY (workspace_id, period, starts_at, host)
);
CREATE INDEX host_statistics_period_starts_at_idx ON public.host_statistics USING btree (period, starts_at);
CREATE UNIQUE INDEX host_statistics_pkey ON public.host_statistics USING btree (workspace_id, period, starts_at, host);
ALTER TABLE host_statistics ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON host_statistics FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT SELECT ON host_statistics TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON host_statistics TO belfry_scheduler;

CREATE TABLE idempotency_keys (
  workspace_id uuid NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status smallint NOT NULL,
  location text,
  answer text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  is_counted boolean NOT NULL DEFAULT true,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_created_at_idx ON public.idempotency_keys USING btree (created_at);
CREATE UNIQUE INDEX idempotency_keys_pkey ON public.idempotency_keys USING btree (workspace_id, key);
CREATE TRIGGER count_answer BEFORE UPDATE ON public.idempotency_keys FOR EACH ROW EXECUTE FUNCTION count_answer();
CREATE TRIGGER count_deleted AFTER DELETE ON public.idempotency_keys REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_answers();
CREATE TRIGGER count_inserted AFTER INSERT ON public.idempotency_keys REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_answers();
CREATE TRIGGER count_replaced AFTER UPDATE ON public.idempotency_keys REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_answers();
CREATE TRIGGER count_updated AFTER UPDATE ON public.idempotency_keys REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_answers();
GRANT DELETE, INSERT, SELECT, UPDATE ON idempotency_keys TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON idempotency_keys TO belfry_scheduler;

CREATE TABLE identity_keys (
  id uuid NOT NULL,
  public_key text NOT NULL,
  sealed_value bytea NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  retires_at timestamp(3) with time zone,
  CONSTRAINT identity_keys_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX identity_keys_pkey ON public.identity_keys USING btree (id);
GRANT DELETE, INSERT ON identity_keys TO belfry_api;
GRANT SELECT (id) ON identity_keys TO belfry_api;
GRANT SELECT (public_key) ON identity_keys TO belfry_api;
GRANT SELECT (master_key_id) ON identity_keys TO belfry_api;
GRANT SELECT (wrapped_key) ON identity_keys TO belfry_api;
GRANT SELECT (created_at) ON identity_keys TO belfry_api;
GRANT SELECT, UPDATE (retires_at) ON identity_keys TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON identity_keys TO belfry_dispatcher;

CREATE TABLE integrations (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  channel alert_channel NOT NULL,
  events text[] NOT NULL,
  sealed_target bytea NOT NULL,
  key_version integer NOT NULL,
  shown_target text NOT NULL,
  told_until timestamp(3) with time zone NOT NULL DEFAULT now(),
  quiet_until timestamp(3) with time zone NOT NULL DEFAULT now(),
  pause_ms integer NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  has_news boolean NOT NULL DEFAULT true,
  confirmed_at timestamp(3) with time zone,
  confirm_hash bytea,
  key text,
  CONSTRAINT integrations_pkey PRIMARY KEY (id),
  CONSTRAINT integrations_workspace_id_key_version_fkey FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys(workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX integrations_confirm_hash_key ON public.integrations USING btree (confirm_hash);
CREATE INDEX integrations_news_idx ON public.integrations USING btree (quiet_until) WHERE has_news;
CREATE UNIQUE INDEX integrations_pkey ON public.integrations USING btree (id);
CREATE INDEX integrations_workspace_id_id_idx ON public.integrations USING btree (workspace_id, id DESC);
CREATE UNIQUE INDEX integrations_workspace_id_key_key ON public.integrations USING btree (workspace_id, key) WHERE (key IS NOT NULL);
ALTER TABLE integrations ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON integrations FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON integrations TO belfry_api;
GRANT SELECT ON integrations TO belfry_dispatcher;
GRANT SELECT, UPDATE ON integrations TO belfry_scheduler;

CREATE TABLE invitations (
  id uuid NOT NULL,
  organization_id uuid NOT NULL,
  email text NOT NULL,
  role role NOT NULL,
  workspace_role workspace_role NOT NULL,
  workspace_ids uuid[] NOT NULL,
  token_hash bytea NOT NULL,
  invited_by uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  accepted_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT invitations_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX invitations_open_key ON public.invitations USING btree (organization_id, email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
CREATE INDEX invitations_organization_id_id_idx ON public.invitations USING btree (organization_id, id DESC);
CREATE UNIQUE INDEX invitations_pkey ON public.invitations USING btree (id);
CREATE UNIQUE INDEX invitations_token_hash_key ON public.invitations USING btree (token_hash);
GRANT DELETE, INSERT, SELECT, UPDATE ON invitations TO belfry_api;

CREATE TABLE log_parts (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  day date NOT NULL,
  part integer NOT NULL,
  state text NOT NULL DEFAULT 'writing'::text,
  object_key text NOT NULL,
  first_run_id uuid NOT NULL,
  last_run_id uuid NOT NULL,
  first_task_id uuid NOT NULL,
  last_task_id uuid NOT NULL,
  succeeded integer NOT NULL,
  failed integer NOT NULL,
  object_bytes integer NOT NULL,
  checksum text NOT NULL,
  storage_bytes bigint NOT NULL DEFAULT 0,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  restored_at timestamp(3) with time zone,
  hot_until timestamp(3) with time zone,
  CONSTRAINT log_parts_pkey PRIMARY KEY (id),
  CONSTRAINT log_parts_state_check CHECK ((state = ANY (ARRAY['writing'::text, 'stored'::text, 'restored'::text, 'deleting'::text])))
);
CREATE UNIQUE INDEX log_parts_pkey ON public.log_parts USING btree (id);
CREATE INDEX log_parts_state_day_idx ON public.log_parts USING btree (state, day);
CREATE UNIQUE INDEX log_parts_workspace_id_day_part_key ON public.log_parts USING btree (workspace_id, day, part);
CREATE INDEX log_parts_workspace_id_last_run_id_idx ON public.log_parts USING btree (workspace_id, last_run_id);
CREATE UNIQUE INDEX log_parts_writing ON public.log_parts USING btree (workspace_id) WHERE (state = 'writing'::text);
ALTER TABLE log_parts ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON log_parts FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT SELECT ON log_parts TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON log_parts TO belfry_scheduler;

CREATE TABLE mail_blocks (
  id uuid NOT NULL,
  address_hash bytea NOT NULL,
  unsubscribed_at timestamp(3) with time zone,
  blocked_at timestamp(3) with time zone,
  address text,
  CONSTRAINT mail_blocks_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX mail_blocks_address_hash_key ON public.mail_blocks USING btree (address_hash);
CREATE UNIQUE INDEX mail_blocks_pkey ON public.mail_blocks USING btree (id);
GRANT INSERT, SELECT, UPDATE ON mail_blocks TO belfry_api;
GRANT SELECT ON mail_blocks TO belfry_dispatcher;
GRANT SELECT ON mail_blocks TO belfry_scheduler;

CREATE TABLE memberships (
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role role NOT NULL,
  joined_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  workspace_role workspace_role NOT NULL DEFAULT 'viewer'::workspace_role,
  workspace_role_of_groups boolean NOT NULL DEFAULT false,
  CONSTRAINT memberships_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT memberships_pkey PRIMARY KEY (organization_id, user_id),
  CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX memberships_pkey ON public.memberships USING btree (organization_id, user_id);
CREATE INDEX memberships_user_id_idx ON public.memberships USING btree (user_id);
CREATE TRIGGER notify_tenants AFTER DELETE OR UPDATE OF role ON public.memberships FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
GRANT DELETE, INSERT, SELECT, UPDATE ON memberships TO belfry_api;
GRANT SELECT ON memberships TO belfry_dispatcher;
GRANT SELECT ON memberships TO belfry_scheduler;

CREATE TABLE operator_log (
  id uuid NOT NULL,
  operator text NOT NULL,
  address text NOT NULL,
  action text NOT NULL,
  object_id text NOT NULL,
  details text NOT NULL DEFAULT '{}'::text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT operator_log_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX operator_log_pkey ON public.operator_log USING btree (id);
CREATE TRIGGER operator_log_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.operator_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
CREATE TRIGGER stream_added AFTER INSERT ON public.operator_log REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION stream_operator_entries();
GRANT INSERT, SELECT ON operator_log TO belfry_api;
GRANT SELECT ON operator_log TO belfry_scheduler;

CREATE TABLE organizations (
  id uuid NOT NULL,
  name text NOT NULL,
  slug text NOT NULL,
  tier text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  members_can_invite boolean NOT NULL DEFAULT false,
  members_can_create_api_keys boolean NOT NULL DEFAULT false,
  members_can_create_secrets boolean NOT NULL DEFAULT false,
  members_can_create_workspaces boolean NOT NULL DEFAULT false,
  members_can_delete_tasks boolean NOT NULL DEFAULT false,
  members_can_manage_integrations boolean NOT NULL DEFAULT false,
  deleted_at timestamp(3) with time zone,
  suspended_at timestamp(3) with time zone,
  max_api_key_days integer,
  require_second_factor boolean NOT NULL DEFAULT false,
  CONSTRAINT organizations_pkey PRIMARY KEY (id),
  CONSTRAINT organizations_slug_key UNIQUE (slug),
  CONSTRAINT organizations_tier CHECK ((tier = ANY (ARRAY['free'::text, 'startup'::text, 'scaleup'::text, 'unicorn'::text, 'unlimited'::text])))
);
CREATE INDEX organizations_deleted_idx ON public.organizations USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE UNIQUE INDEX organizations_pkey ON public.organizations USING btree (id);
CREATE UNIQUE INDEX organizations_slug_key ON public.organizations USING btree (slug);
CREATE INDEX organizations_suspended ON public.organizations USING btree (id) WHERE (suspended_at IS NOT NULL);
CREATE TRIGGER notify_tenants AFTER UPDATE OF suspended_at, tier ON public.organizations FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
GRANT INSERT, SELECT, UPDATE ON organizations TO belfry_api;
GRANT SELECT ON organizations TO belfry_dispatcher;
GRANT DELETE, SELECT, UPDATE ON organizations TO belfry_scheduler;

CREATE TABLE outbox (
  id uuid NOT NULL,
  kind outbox_kind NOT NULL,
  label text NOT NULL,
  content bytea,
  master_key_id text,
  wrapped_key bytea,
  due_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  attempts smallint NOT NULL DEFAULT 0,
  last_error text,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  finished_at timestamp(3) with time zone,
  sent boolean NOT NULL DEFAULT false,
  organization_id uuid,
  CONSTRAINT outbox_pkey PRIMARY KEY (id)
) WITH (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX outbox_due_at_idx ON public.outbox USING btree (kind, due_at) WHERE (finished_at IS NULL);
CREATE INDEX outbox_finished_at_idx ON public.outbox USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX outbox_master_key_id_idx ON public.outbox USING btree (master_key_id) WHERE (master_key_id IS NOT NULL);
CREATE INDEX outbox_organization_id_idx ON public.outbox USING btree (organization_id, created_at) WHERE (organization_id IS NOT NULL);
CREATE UNIQUE INDEX outbox_pkey ON public.outbox USING btree (id);
CREATE TRIGGER notify_outbox AFTER INSERT ON public.outbox FOR EACH STATEMENT EXECUTE FUNCTION notify_outbox();
GRANT INSERT, SELECT ON outbox TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON outbox TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON outbox TO belfry_scheduler;

CREATE TABLE passkeys (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  credential_id text NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp(3) with time zone,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX passkeys_credential_id_key ON public.passkeys USING btree (credential_id);
CREATE UNIQUE INDEX passkeys_pkey ON public.passkeys USING btree (id);
CREATE INDEX passkeys_user_id_idx ON public.passkeys USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON passkeys TO belfry_api;

CREATE TABLE password_resets (
  token_hash bytea NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT password_resets_pkey PRIMARY KEY (token_hash),
  CONSTRAINT password_resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX password_resets_expires_at_idx ON public.password_resets USING btree (expires_at);
CREATE UNIQUE INDEX password_resets_pkey ON public.password_resets USING btree (token_hash);
CREATE INDEX password_resets_user_id_idx ON public.password_resets USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON password_resets TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON password_resets TO belfry_scheduler;

CREATE TABLE promotion (
  id smallint NOT NULL DEFAULT 1,
  watermark timestamp(3) with time zone NOT NULL,
  marker text NOT NULL,
  CONSTRAINT promotion_id_check CHECK ((id = 1)),
  CONSTRAINT promotion_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX promotion_pkey ON public.promotion USING btree (id);
GRANT INSERT, SELECT, UPDATE ON promotion TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON promotion TO belfry_dispatcher;
GRANT INSERT, SELECT, UPDATE ON promotion TO belfry_scheduler;

CREATE TABLE qstash_deduplications (
  workspace_id uuid NOT NULL,
  hash bytea NOT NULL,
  task_id uuid NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT qstash_deduplications_pkey PRIMARY KEY (workspace_id, hash),
  CONSTRAINT qstash_deduplications_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX qstash_deduplications_expires_at_idx ON public.qstash_deduplications USING btree (expires_at);
CREATE UNIQUE INDEX qstash_deduplications_pkey ON public.qstash_deduplications USING btree (workspace_id, hash);
GRANT DELETE, INSERT, SELECT, UPDATE ON qstash_deduplications TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON qstash_deduplications TO belfry_scheduler;

CREATE TABLE qstash_signing_keys (
  workspace_id uuid NOT NULL,
  current_id uuid NOT NULL,
  sealed_current bytea NOT NULL,
  next_id uuid NOT NULL,
  sealed_next bytea NOT NULL,
  key_version integer NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT qstash_signing_keys_pkey PRIMARY KEY (workspace_id),
  CONSTRAINT qstash_signing_keys_workspace_id_key_version_fkey FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys(workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX qstash_signing_keys_pkey ON public.qstash_signing_keys USING btree (workspace_id);
ALTER TABLE qstash_signing_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON qstash_signing_keys FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON qstash_signing_keys TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON qstash_signing_keys TO belfry_dispatcher;

CREATE TABLE queue_starts (
  queue_id uuid NOT NULL,
  at timestamp(3) with time zone NOT NULL,
  starts integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
CREATE INDEX queue_starts_queue_id_at_idx ON public.queue_starts USING btree (queue_id, at);
GRANT DELETE, INSERT, SELECT, UPDATE ON queue_starts TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON queue_starts TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON queue_starts TO belfry_scheduler;

CREATE TABLE queues (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  max_concurrent integer,
  rate_count integer,
  rate_period_ms integer,
  ordered boolean NOT NULL DEFAULT false,
  paused_at timestamp(3) with time zone,
  advance_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  pinned_concurrency boolean NOT NULL DEFAULT false,
  pinned_rate boolean NOT NULL DEFAULT false,
  CONSTRAINT queues_pkey PRIMARY KEY (id),
  CONSTRAINT queues_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
) WITH (fillfactor=70);
CREATE INDEX queues_advance_at_idx ON public.queues USING btree (advance_at) WHERE (advance_at IS NOT NULL);
CREATE UNIQUE INDEX queues_pkey ON public.queues USING btree (id);
CREATE UNIQUE INDEX queues_workspace_id_name_key ON public.queues USING btree (workspace_id, name);
CREATE TRIGGER forget_queue_starts AFTER DELETE ON public.queues FOR EACH ROW WHEN ((old.rate_count IS NOT NULL)) EXECUTE FUNCTION forget_queue_starts();
CREATE TRIGGER forget_starts_without_rate AFTER UPDATE OF rate_count ON public.queues FOR EACH ROW WHEN (((old.rate_count IS NOT NULL) AND (new.rate_count IS NULL))) EXECUTE FUNCTION forget_queue_starts();
ALTER TABLE queues ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON queues FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON queues TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON queues TO belfry_dispatcher;
GRANT INSERT, SELECT, UPDATE ON queues TO belfry_scheduler;

CREATE TABLE quota_crossings (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  resource quota_resource NOT NULL,
  percent smallint NOT NULL,
  crossed_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  announced_at timestamp(3) with time zone,
  CONSTRAINT quota_crossings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT quota_crossings_pkey PRIMARY KEY (organization_id, month, resource, percent)
);
CREATE UNIQUE INDEX quota_crossings_pkey ON public.quota_crossings USING btree (organization_id, month, resource, percent);
CREATE INDEX quota_crossings_unannounced_idx ON public.quota_crossings USING btree (crossed_at) WHERE (announced_at IS NULL);
GRANT INSERT, SELECT, UPDATE ON quota_crossings TO belfry_scheduler;

CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  code_hash bytea NOT NULL,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX recovery_codes_pkey ON public.recovery_codes USING btree (user_id, code_hash);
GRANT DELETE, INSERT, SELECT, UPDATE ON recovery_codes TO belfry_api;

CREATE TABLE resting_hosts (
  workspace_id uuid NOT NULL,
  host text NOT NULL,
  dispatcher uuid NOT NULL,
  since timestamp(3) with time zone NOT NULL DEFAULT now(),
  rests_until timestamp(3) with time zone NOT NULL,
  reset_at timestamp(3) with time zone,
  probing_until timestamp(3) with time zone,
  CONSTRAINT resting_hosts_pkey PRIMARY KEY (workspace_id, host, dispatcher)
);
CREATE UNIQUE INDEX resting_hosts_pkey ON public.resting_hosts USING btree (workspace_id, host, dispatcher);
GRANT DELETE, INSERT, SELECT, UPDATE ON resting_hosts TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON resting_hosts TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON resting_hosts TO belfry_scheduler;

CREATE TABLE run_changes (
  workspace_id uuid NOT NULL,
  minute timestamp(3) with time zone NOT NULL,
  failed boolean NOT NULL,
  weight smallint NOT NULL,
  lags_ms integer[],
  task_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  durations_ms integer[] NOT NULL DEFAULT '{}'::integer[]
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
GRANT SELECT ON run_changes TO belfry_api;
GRANT INSERT, SELECT ON run_changes TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON run_changes TO belfry_scheduler;

CREATE TABLE run_partitions.runs_default (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  task_id uuid NOT NULL,
  attempt smallint NOT NULL,
  source task_source NOT NULL,
  status run_status NOT NULL,
  scheduled_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  finished_at timestamp(3) with time zone NOT NULL,
  request_headers text,
  response_status smallint,
  response_headers text,
  response_body bytea,
  response_bytes integer,
  response_truncated boolean NOT NULL DEFAULT false,
  error_code text,
  error_message text,
  cron_job_id uuid,
  topic text,
  extra_bytes integer,
  waited_for text,
  timings text,
  CONSTRAINT runs_default_pkey PRIMARY KEY (workspace_id, id)
);
ALTER TABLE runs ATTACH PARTITION run_partitions.runs_default DEFAULT;
CREATE UNIQUE INDEX runs_default_pkey ON run_partitions.runs_default USING btree (workspace_id, id);
CREATE INDEX runs_default_task_id_idx ON run_partitions.runs_default USING btree (task_id);
CREATE INDEX runs_default_workspace_id_cron_job_id_id_idx ON run_partitions.runs_default USING btree (workspace_id, cron_job_id, id) WHERE (cron_job_id IS NOT NULL);
CREATE INDEX runs_default_workspace_id_status_id_idx1 ON run_partitions.runs_default USING btree (workspace_id, status, id) WHERE (status >= 'failed'::run_status);
CREATE INDEX runs_default_workspace_id_topic_id_idx ON run_partitions.runs_default USING btree (workspace_id, topic, id) WHERE (topic IS NOT NULL);
ALTER TABLE run_partitions.runs_default OWNER TO belfry_scheduler;

CREATE TABLE run_statistics (
  workspace_id uuid NOT NULL,
  period smallint NOT NULL,
  starts_at timestamp(3) with time zone NOT NULL,
  lag_bucket smallint NOT NULL,
  total bigint NOT NULL,
  failed bigint NOT NULL,
  CONSTRAINT run_statistics_pkey PRIMARY KEY (workspace_id, period, starts_at, lag_bucket)
) WITH (fillfactor=70);
CREATE INDEX run_statistics_period_starts_at_idx ON public.run_statistics USING btree (period, starts_at);
CREATE UNIQUE INDEX run_statistics_pkey ON public.run_statistics USING btree (workspace_id, period, starts_at, lag_bucket);
ALTER TABLE run_statistics ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON run_statistics FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT SELECT ON run_statistics TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON run_statistics TO belfry_scheduler;

CREATE TABLE runs (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  task_id uuid NOT NULL,
  attempt smallint NOT NULL,
  source task_source NOT NULL,
  status run_status NOT NULL,
  scheduled_at timestamp(3) with time zone NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  finished_at timestamp(3) with time zone NOT NULL,
  request_headers text,
  response_status smallint,
  response_headers text,
  response_body bytea,
  response_bytes integer,
  response_truncated boolean NOT NULL DEFAULT false,
  error_code text,
  error_message text,
  cron_job_id uuid,
  topic text,
  extra_bytes integer,
  waited_for text,
  timings text,
  CONSTRAINT runs_pkey PRIMARY KEY (workspace_id, id)
)
PARTITION BY RANGE (id);
CREATE INDEX runs_failed_idx ON ONLY public.runs USING btree (workspace_id, status, id) WHERE (status >= 'failed'::run_status);
CREATE UNIQUE INDEX runs_pkey ON ONLY public.runs USING btree (workspace_id, id);
CREATE INDEX runs_task_id_idx ON ONLY public.runs USING btree (task_id);
CREATE INDEX runs_workspace_id_cron_job_id_id_idx ON ONLY public.runs USING btree (workspace_id, cron_job_id, id) WHERE (cron_job_id IS NOT NULL);
CREATE INDEX runs_workspace_id_topic_id_idx ON ONLY public.runs USING btree (workspace_id, topic, id) WHERE (topic IS NOT NULL);
CREATE TRIGGER count_changed_runs AFTER UPDATE ON public.runs REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION count_changed_runs();
CREATE TRIGGER count_new_runs AFTER INSERT ON public.runs REFERENCING NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION count_new_runs();
ALTER TABLE runs OWNER TO belfry_scheduler;
GRANT SELECT ON runs TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON runs TO belfry_dispatcher;

CREATE UNLOGGED TABLE schedulers (
  id uuid NOT NULL,
  seen_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT schedulers_pkey PRIMARY KEY (id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
CREATE UNIQUE INDEX schedulers_pkey ON public.schedulers USING btree (id);
GRANT SELECT ON schedulers TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON schedulers TO belfry_scheduler;

CREATE TABLE secrets (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  allowed_hosts text[],
  CONSTRAINT secrets_pkey PRIMARY KEY (id),
  CONSTRAINT secrets_workspace_id_key_version_fkey FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys(workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX secrets_pkey ON public.secrets USING btree (id);
CREATE UNIQUE INDEX secrets_workspace_id_name_key ON public.secrets USING btree (workspace_id, name);
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON secrets FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON secrets TO belfry_api;
GRANT SELECT ON secrets TO belfry_dispatcher;

CREATE UNLOGGED TABLE sends (
  dispatcher_id uuid NOT NULL,
  seq bigint NOT NULL,
  run_ids uuid[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
GRANT SELECT ON sends TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON sends TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON sends TO belfry_scheduler;

CREATE TABLE sessions (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone NOT NULL,
  agent text,
  address text,
  last_used_at timestamp(3) with time zone,
  confirmed_at timestamp(3) with time zone,
  has_second_factor boolean NOT NULL DEFAULT false,
  logout_hint text,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX sessions_expires_at_idx ON public.sessions USING btree (expires_at);
CREATE UNIQUE INDEX sessions_pkey ON public.sessions USING btree (id);
CREATE INDEX sessions_user_id_idx ON public.sessions USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON sessions TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON sessions TO belfry_scheduler;

CREATE TABLE signing_secrets (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone,
  CONSTRAINT signing_secrets_pkey PRIMARY KEY (id),
  CONSTRAINT signing_secrets_workspace_id_key_version_fkey FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys(workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX signing_secrets_current_key ON public.signing_secrets USING btree (workspace_id) WHERE (expires_at IS NULL);
CREATE UNIQUE INDEX signing_secrets_pkey ON public.signing_secrets USING btree (id);
CREATE INDEX signing_secrets_workspace_id_idx ON public.signing_secrets USING btree (workspace_id);
ALTER TABLE signing_secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON signing_secrets FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON signing_secrets TO belfry_api;
GRANT INSERT, SELECT ON signing_secrets TO belfry_dispatcher;

CREATE TABLE sql_definitions (
  file text NOT NULL,
  hash text NOT NULL,
  applied_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  version text NOT NULL DEFAULT ''::text,
  CONSTRAINT sql_definitions_pkey PRIMARY KEY (file, hash)
);
CREATE UNIQUE INDEX sql_definitions_pkey ON public.sql_definitions USING btree (file, hash);
GRANT SELECT ON sql_definitions TO belfry_api;
GRANT SELECT ON sql_definitions TO belfry_dispatcher;
GRANT SELECT ON sql_definitions TO belfry_scheduler;

CREATE TABLE storage (
  organization_id uuid NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT storage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT storage_pkey PRIMARY KEY (organization_id)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX storage_pkey ON public.storage USING btree (organization_id);
GRANT SELECT ON storage TO belfry_api;
GRANT SELECT ON storage TO belfry_dispatcher;
GRANT INSERT, SELECT, UPDATE ON storage TO belfry_scheduler;

CREATE TABLE subscription_secrets (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  sealed_value bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  expires_at timestamp(3) with time zone,
  CONSTRAINT subscription_secrets_pkey PRIMARY KEY (id),
  CONSTRAINT subscription_secrets_workspace_id_key_version_fkey FOREIGN KEY (workspace_id, key_version) REFERENCES data_keys(workspace_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX subscription_secrets_current_key ON public.subscription_secrets USING btree (subscription_id) WHERE (expires_at IS NULL);
CREATE INDEX subscription_secrets_expires_at_idx ON public.subscription_secrets USING btree (expires_at);
CREATE UNIQUE INDEX subscription_secrets_pkey ON public.subscription_secrets USING btree (id);
CREATE INDEX subscription_secrets_subscription_id_idx ON public.subscription_secrets USING btree (subscription_id);
CREATE INDEX subscription_secrets_workspace_id_idx ON public.subscription_secrets USING btree (workspace_id);
ALTER TABLE subscription_secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON subscription_secrets FOR * TO {-} USING (((( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = ''::text) OR (( SELECT COALESCE(current_setting('belfry.workspace'::text, true), ''::text) AS "coalesce") = (workspace_id)::text))) WITH CHECK ();
GRANT DELETE, INSERT, SELECT, UPDATE ON subscription_secrets TO belfry_api;
GRANT SELECT ON subscription_secrets TO belfry_dispatcher;
GRANT DELETE ON subscription_secrets TO belfry_scheduler;
GRANT SELECT (id) ON subscription_secrets TO belfry_scheduler;
GRANT SELECT (expires_at) ON subscription_secrets TO belfry_scheduler;

CREATE TABLE subscriptions (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  topic text NOT NULL,
  active boolean NOT NULL,
  url text NOT NULL,
  headers text NOT NULL DEFAULT '{}'::text,
  max_retries smallint NOT NULL,
  backoff backoff NOT NULL,
  base_delay_ms integer NOT NULL,
  max_delay_ms integer NOT NULL,
  timeout_ms integer NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  callbacks text,
  max_age_ms integer,
  labels text[],
  queue text,
  endpoint_name text,
  key text,
  connection text,
  retry_delays text,
  filter text,
  failing_since timestamp(3) with time zone,
  failing_warned_at timestamp(3) with time zone,
  paused_reason text,
  created_by text,
  expires_at timestamp(3) with time zone,
  mcp jsonb,
  CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
  CONSTRAINT subscriptions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX subscriptions_expires_at_idx ON public.subscriptions USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX subscriptions_failing_idx ON public.subscriptions USING btree (id) WHERE (failing_since IS NOT NULL);
CREATE UNIQUE INDEX subscriptions_pkey ON public.subscriptions USING btree (id);
CREATE INDEX subscriptions_topic_idx ON public.subscriptions USING btree (workspace_id, topic) WHERE active;
CREATE INDEX subscriptions_workspace_id_id_idx ON public.subscriptions USING btree (workspace_id, id DESC);
CREATE UNIQUE INDEX subscriptions_workspace_id_key_key ON public.subscriptions USING btree (workspace_id, key) WHERE (key IS NOT NULL);
CREATE TRIGGER end_mcp_subscriptions AFTER DELETE ON public.subscriptions REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION end_mcp_subscriptions();
CREATE TRIGGER end_secrets AFTER DELETE ON public.subscriptions REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION end_subscription_secrets();
GRANT DELETE, INSERT, SELECT, UPDATE ON subscriptions TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON subscriptions TO belfry_scheduler;

CREATE TABLE task_labels (
  workspace_id uuid NOT NULL,
  label text NOT NULL,
  task_id uuid NOT NULL,
  CONSTRAINT task_labels_pkey PRIMARY KEY (workspace_id, label, task_id)
);
CREATE UNIQUE INDEX task_labels_pkey ON public.task_labels USING btree (workspace_id, label, task_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON task_labels TO belfry_api;
GRANT DELETE, INSERT, SELECT, UPDATE ON task_labels TO belfry_scheduler;

CREATE TABLE task_requests (
  task_id uuid NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  method text NOT NULL,
  headers text NOT NULL DEFAULT '{}'::text,
  payload text,
  max_retries smallint NOT NULL,
  backoff backoff NOT NULL,
  base_delay_ms integer NOT NULL,
  max_delay_ms integer NOT NULL,
  timeout_ms integer NOT NULL,
  topic text,
  traceparent text,
  callbacks text,
  content_type text,
  labels text[],
  created_by text,
  updated_by text,
  depth smallint,
  queue text,
  qstash text,
  extra_bytes integer,
  connection text,
  subscription_id uuid,
  is_report boolean,
  retry_delays text,
  CONSTRAINT task_requests_pkey PRIMARY KEY (task_id)
);
CREATE UNIQUE INDEX task_requests_pkey ON public.task_requests USING btree (task_id);
CREATE INDEX task_requests_subscription_idx ON public.task_requests USING btree (subscription_id, task_id) WHERE (subscription_id IS NOT NULL);
GRANT INSERT, SELECT, UPDATE ON task_requests TO belfry_api;
GRANT INSERT, SELECT ON task_requests TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON task_requests TO belfry_scheduler;

CREATE TABLE tasks (
  id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  source task_source NOT NULL,
  state task_state NOT NULL DEFAULT 'pending'::task_state,
  state_reason text,
  attempts smallint NOT NULL DEFAULT 0,
  execute_at timestamp(3) with time zone NOT NULL,
  due_at timestamp(3) with time zone NOT NULL,
  run_id uuid,
  lease_until timestamp(3) with time zone,
  cron_job_id uuid,
  event_id uuid,
  replay_of uuid,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  finished_at timestamp(3) with time zone,
  occurrence_at timestamp(3) with time zone,
  settled_at timestamp(3) with time zone,
  dispatcher_id uuid,
  prefetched boolean NOT NULL DEFAULT false,
  quarantined boolean NOT NULL DEFAULT false,
  lost smallint NOT NULL DEFAULT 0,
  lost_alone smallint NOT NULL DEFAULT 0,
  has_callbacks boolean NOT NULL DEFAULT false,
  callback_of uuid,
  expires_at timestamp(3) with time zone,
  key text,
  queue_id uuid,
  waits_for smallint NOT NULL DEFAULT 0,
  CONSTRAINT tasks_lease_while_processing CHECK (((state = 'processing'::task_state) = (lease_until IS NOT NULL))),
  CONSTRAINT tasks_pkey PRIMARY KEY (id)
) WITH (fillfactor=80, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX tasks_callback_of_idx ON public.tasks USING btree (callback_of, id DESC) WHERE (callback_of IS NOT NULL);
CREATE INDEX tasks_cancelled_for_limit_idx ON public.tasks USING btree (workspace_id, state_reason, finished_at) WHERE ((state = 'cancelled'::task_state) AND (state_reason = ANY (ARRAY['monthly_execution_limit'::text, 'storage_quota'::text])));
CREATE INDEX tasks_cancelled_occurrences_idx ON public.tasks USING btree (cron_job_id, occurrence_at) WHERE ((occurrence_at IS NOT NULL) AND (state = 'cancelled'::task_state) AND (state_reason = 'user'::text));
CREATE INDEX tasks_cron_job_id_id_idx ON public.tasks USING btree (cron_job_id, id DESC) WHERE (cron_job_id IS NOT NULL);
CREATE INDEX tasks_dead_finished_at_idx ON public.tasks USING btree (finished_at) WHERE (state = 'dead'::task_state);
CREATE INDEX tasks_dead_idx ON public.tasks USING btree (workspace_id, finished_at) WHERE (state = 'dead'::task_state);
CREATE INDEX tasks_dead_letters_idx ON public.tasks USING btree (workspace_id, id) WHERE ((state = 'dead'::task_state) AND (settled_at IS NULL));
CREATE INDEX tasks_dead_letters_in_order_idx ON public.tasks USING btree (workspace_id, execute_at, id) WHERE ((state = 'dead'::task_state) AND (settled_at IS NULL));
CREATE INDEX tasks_dead_occurrences_idx ON public.tasks USING btree (finished_at) WHERE ((state = 'dead'::task_state) AND (occurrence_at IS NOT NULL));
CREATE INDEX tasks_due_at_id_idx ON public.tasks USING btree (due_at, id) WHERE ((state = ANY (ARRAY['pending'::task_state, 'retrying'::task_state])) AND (waits_for = 0));
CREATE INDEX tasks_expires_at_idx ON public.tasks USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (state = ANY (ARRAY['pending'::task_state, 'retrying'::task_state])) AND (waits_for <> 2));
CREATE INDEX tasks_held_idx ON public.tasks USING btree (due_at) WHERE ((waits_for = 2) AND (finished_at IS NULL));
CREATE INDEX tasks_lease_idx ON public.tasks USING btree (lease_until) WHERE ((state = 'processing'::task_state) AND (waits_for = 0));
CREATE UNIQUE INDEX tasks_occurrence_key ON public.tasks USING btree (cron_job_id, occurrence_at) WHERE ((occurrence_at IS NOT NULL) AND (state <> 'cancelled'::task_state));
CREATE UNIQUE INDEX tasks_pkey ON public.tasks USING btree (id);
CREATE INDEX tasks_quarantined_due_at_idx ON public.tasks USING btree (due_at) WHERE (quarantined AND (waits_for = 0));
CREATE INDEX tasks_queue_idx ON public.tasks USING btree (queue_id, queue_phase(state, waits_for), execute_at, id) WHERE ((queue_id IS NOT NULL) AND (finished_at IS NULL));
CREATE INDEX tasks_unfinished_of_cron_job_idx ON public.tasks USING btree (cron_job_id) WHERE ((cron_job_id IS NOT NULL) AND (finished_at IS NULL));
CREATE INDEX tasks_unsettled_in_order_idx ON public.tasks USING btree (workspace_id, execute_at, id) WHERE ((state = ANY (ARRAY['dead'::task_state, 'cancelled'::task_state])) AND (settled_at IS NULL));
CREATE INDEX tasks_workspace_id_due_at_id_idx ON public.tasks USING btree (workspace_id, due_at, id) WHERE ((state = ANY (ARRAY['pending'::task_state, 'retrying'::task_state])) AND (waits_for = 0));
CREATE INDEX tasks_workspace_id_key_idx ON public.tasks USING btree (workspace_id, key) WHERE ((key IS NOT NULL) AND (finished_at IS NULL));
CREATE INDEX tasks_workspace_id_state_id_idx ON public.tasks USING btree (workspace_id, state, id DESC);
CREATE TRIGGER end_mcp_attempts AFTER UPDATE OF state ON public.tasks FOR EACH ROW WHEN (((old.state = 'processing'::task_state) AND (new.state = ANY (ARRAY['pending'::task_state, 'retrying'::task_state, 'success'::task_state, 'dead'::task_state])) AND (new.state_reason = 'subscription_deleted'::text))) EXECUTE FUNCTION end_mcp_attempts();
CREATE TRIGGER lower_waiting_floor AFTER INSERT OR UPDATE OF state, due_at, waits_for ON public.tasks FOR EACH ROW WHEN (((new.waits_for = 0) AND (((new.state = ANY (ARRAY['pending'::task_state, 'retrying'::task_state])) AND (new.due_at < (now() - '00:00:30'::interval))) OR (new.lease_until < (now() - '00:00:30'::interval))))) EXECUTE FUNCTION lower_waiting_floor();
CREATE TRIGGER notify_due_task AFTER INSERT OR UPDATE OF state, due_at, quarantined, waits_for ON public.tasks FOR EACH ROW WHEN (((new.state = ANY (ARRAY['pending'::task_state, 'retrying'::task_state])) AND (new.waits_for = 0) AND (NOT new.quarantined) AND (new.due_at < (now() + '00:00:15'::interval)))) EXECUTE FUNCTION notify_due_task();
CREATE TRIGGER store_callbacks AFTER UPDATE OF state ON public.tasks FOR EACH ROW WHEN ((new.has_callbacks AND (new.state = ANY (ARRAY['success'::task_state, 'dead'::task_state, 'retrying'::task_state])) AND (old.state = ANY (ARRAY['processing'::task_state, 'pending'::task_state, 'retrying'::task_state])) AND ((old.state = 'processing'::task_state) OR old.quarantined OR (new.state = 'dead'::task_state)))) EXECUTE FUNCTION store_callbacks();
CREATE TRIGGER store_mcp_events AFTER UPDATE OF state ON public.tasks FOR EACH ROW WHEN (((new.state = ANY (ARRAY['dead'::task_state, 'retrying'::task_state, 'cancelled'::task_state])) AND (old.state = ANY (ARRAY['pending'::task_state, 'processing'::task_state, 'retrying'::task_state])) AND (new.source <> 'callback'::task_source) AND ((new.state <> 'retrying'::task_state) OR (old.state = 'processing'::task_state)) AND ((new.state <> 'cancelled'::task_state) OR (new.state_reason = 'missed'::text)))) EXECUTE FUNCTION store_mcp_events();
CREATE TRIGGER store_mcp_events_of_new AFTER INSERT ON public.tasks FOR EACH ROW WHEN (((new.state = 'cancelled'::task_state) AND (new.state_reason = 'missed'::text))) EXECUTE FUNCTION store_mcp_events();
CREATE TRIGGER store_mcp_gap AFTER UPDATE OF state ON public.tasks FOR EACH ROW WHEN (((new.state = 'dead'::task_state) AND (old.state = ANY (ARRAY['pending'::task_state, 'processing'::task_state, 'retrying'::task_state])))) EXECUTE FUNCTION store_mcp_gap();
GRANT INSERT, SELECT, UPDATE ON tasks TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON tasks TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON tasks TO belfry_scheduler;

CREATE TABLE throttles (
  name text NOT NULL,
  free_at timestamp with time zone NOT NULL,
  CONSTRAINT throttles_pkey PRIMARY KEY (name)
);
CREATE INDEX throttles_free_at_idx ON public.throttles USING btree (free_at);
CREATE UNIQUE INDEX throttles_pkey ON public.throttles USING btree (name);
GRANT DELETE, INSERT, SELECT, UPDATE ON throttles TO belfry_api;
GRANT DELETE, SELECT, UPDATE ON throttles TO belfry_scheduler;

CREATE TABLE totp_factors (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  sealed_secret bytea NOT NULL,
  master_key_id text NOT NULL,
  wrapped_key bytea NOT NULL,
  last_step bigint,
  confirmed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT totp_factors_pkey PRIMARY KEY (id),
  CONSTRAINT totp_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX totp_factors_pkey ON public.totp_factors USING btree (id);
CREATE UNIQUE INDEX totp_factors_user_id_key ON public.totp_factors USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON totp_factors TO belfry_api;
GRANT SELECT (id) ON totp_factors TO belfry_dispatcher;
GRANT SELECT (master_key_id) ON totp_factors TO belfry_dispatcher;
GRANT SELECT (wrapped_key) ON totp_factors TO belfry_dispatcher;

CREATE TABLE usage (
  month date NOT NULL,
  organization_id uuid NOT NULL,
  executions bigint NOT NULL,
  wanted integer NOT NULL,
  granted integer NOT NULL,
  execution_limit bigint NOT NULL,
  CONSTRAINT usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT usage_pkey PRIMARY KEY (month, organization_id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02);
CREATE UNIQUE INDEX usage_pkey ON public.usage USING btree (month, organization_id);
GRANT SELECT ON usage TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON usage TO belfry_dispatcher;
GRANT INSERT, SELECT, UPDATE ON usage TO belfry_scheduler;

CREATE TABLE usage_changes (
  workspace_id uuid NOT NULL,
  storage_bytes bigint NOT NULL DEFAULT 0,
  executions integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  changed_at timestamp(3) with time zone NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
GRANT INSERT, SELECT ON usage_changes TO belfry_api;
GRANT INSERT, SELECT ON usage_changes TO belfry_dispatcher;
GRANT DELETE, INSERT, SELECT, UPDATE ON usage_changes TO belfry_scheduler;

CREATE TABLE usage_days (
  organization_id uuid NOT NULL,
  day date NOT NULL,
  executions bigint NOT NULL,
  failed bigint NOT NULL,
  CONSTRAINT usage_days_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT usage_days_pkey PRIMARY KEY (organization_id, day)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX usage_days_pkey ON public.usage_days USING btree (organization_id, day);
GRANT SELECT ON usage_days TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON usage_days TO belfry_scheduler;

CREATE TABLE usage_reports (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  reported_at timestamp(3) with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT usage_reports_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT usage_reports_pkey PRIMARY KEY (organization_id, month)
);
CREATE UNIQUE INDEX usage_reports_pkey ON public.usage_reports USING btree (organization_id, month);
GRANT INSERT, SELECT, UPDATE ON usage_reports TO belfry_scheduler;

CREATE TABLE user_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT user_identities_pkey PRIMARY KEY (issuer, subject),
  CONSTRAINT user_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX user_identities_pkey ON public.user_identities USING btree (issuer, subject);
CREATE UNIQUE INDEX user_identities_user_id_issuer_key ON public.user_identities USING btree (user_id, issuer);
GRANT DELETE, INSERT, SELECT, UPDATE ON user_identities TO belfry_api;

CREATE TABLE users (
  id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  password_hash text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  email_confirmed_at timestamp(3) with time zone,
  suspended_at timestamp(3) with time zone,
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX users_email_key ON public.users USING btree (email);
CREATE UNIQUE INDEX users_pkey ON public.users USING btree (id);
CREATE INDEX users_suspended ON public.users USING btree (id) WHERE (suspended_at IS NOT NULL);
CREATE TRIGGER notify_tenants AFTER UPDATE OF suspended_at ON public.users FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
GRANT DELETE, INSERT, SELECT, UPDATE ON users TO belfry_api;
GRANT SELECT ON users TO belfry_scheduler;

CREATE TABLE waiting_floor (
  id smallint NOT NULL DEFAULT 1,
  due_at timestamp(3) with time zone NOT NULL,
  lease_until timestamp(3) with time zone NOT NULL,
  CONSTRAINT waiting_floor_id_check CHECK ((id = 1)),
  CONSTRAINT waiting_floor_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX waiting_floor_pkey ON public.waiting_floor USING btree (id);
GRANT INSERT, SELECT, UPDATE ON waiting_floor TO belfry_api;
GRANT INSERT, SELECT, UPDATE ON waiting_floor TO belfry_dispatcher;
GRANT INSERT, SELECT, UPDATE ON waiting_floor TO belfry_scheduler;

CREATE TABLE workspace_members (
  workspace_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role workspace_role NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  CONSTRAINT workspace_members_pkey PRIMARY KEY (workspace_id, user_id),
  CONSTRAINT workspace_members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT workspace_members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX workspace_members_pkey ON public.workspace_members USING btree (workspace_id, user_id);
CREATE INDEX workspace_members_user_id_idx ON public.workspace_members USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON workspace_members TO belfry_api;
GRANT DELETE ON workspace_members TO belfry_scheduler;
GRANT SELECT (workspace_id) ON workspace_members TO belfry_scheduler;

CREATE TABLE workspaces (
  id uuid NOT NULL,
  organization_id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  updated_at timestamp(3) with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp(3) with time zone,
  wound_down_at timestamp(3) with time zone,
  suspended_at timestamp(3) with time zone,
  keeps_responses_with_secrets boolean NOT NULL DEFAULT true,
  asymmetric_signatures boolean NOT NULL DEFAULT false,
  switch_off_days smallint NOT NULL DEFAULT 10,
  CONSTRAINT workspaces_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT workspaces_pkey PRIMARY KEY (id)
);
CREATE INDEX workspaces_organization_id_idx ON public.workspaces USING btree (organization_id);
CREATE UNIQUE INDEX workspaces_pkey ON public.workspaces USING btree (id);
CREATE INDEX workspaces_purging_idx ON public.workspaces USING btree (wound_down_at) WHERE (wound_down_at IS NOT NULL);
CREATE INDEX workspaces_suspended ON public.workspaces USING btree (id) WHERE (suspended_at IS NOT NULL);
CREATE INDEX workspaces_winding_down_idx ON public.workspaces USING btree (deleted_at) WHERE ((deleted_at IS NOT NULL) AND (wound_down_at IS NULL));
CREATE TRIGGER notify_tenants AFTER UPDATE OF suspended_at ON public.workspaces FOR EACH STATEMENT EXECUTE FUNCTION notify_tenants();
GRANT INSERT, SELECT, UPDATE ON workspaces TO belfry_api;
GRANT SELECT ON workspaces TO belfry_dispatcher;
GRANT UPDATE (id) ON workspaces TO belfry_dispatcher;
GRANT DELETE, SELECT, UPDATE ON workspaces TO belfry_scheduler;

-- views: 1

CREATE VIEW suspended_workspaces AS
 SELECT workspaces.id
   FROM workspaces
  WHERE workspaces.suspended_at IS NOT NULL
UNION
 SELECT w.id
   FROM organizations o
     JOIN workspaces w ON w.organization_id = o.id
  WHERE o.suspended_at IS NOT NULL
UNION
 SELECT w.id
   FROM users u
     JOIN memberships m ON m.user_id = u.id AND m.role = 'owner'::role
     JOIN workspaces w ON w.organization_id = m.organization_id
  WHERE u.suspended_at IS NOT NULL AND NOT (EXISTS ( SELECT
           FROM memberships older
          WHERE older.organization_id = m.organization_id AND older.role = 'owner'::role AND ((ROW(older.joined_at, older.user_id) < ROW(m.joined_at, m.user_id)))));
GRANT SELECT ON suspended_workspaces TO belfry_api;
GRANT SELECT ON suspended_workspaces TO belfry_dispatcher;
GRANT SELECT ON suspended_workspaces TO belfry_scheduler;

-- functions: 30

CREATE OR REPLACE FUNCTION public.advance_queues(ids uuid[], max_moves integer)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
DECLARE
  q queues;
  clock timestamptz;
  lead constant interval := interval '1.8 seconds';
  period interval;
  free bigint;
  used bigint;
  awake bigint;
  moved bigint;
  total bigint := 0;
  next_at timestamptz;
  oldest record;
BEGIN
  FOR q IN SELECT * FROM queues WHERE id = ANY (ids) ORDER BY id FOR UPDATE LOOP
    IF q.paused_at IS NOT NULL THEN
      UPDATE queues SET advance_at = NULL WHERE id = q.id AND advance_at IS NOT NULL;
      CONTINUE;
    END IF;
    SELECT t.id, t.execute_at INTO oldest FROM tasks t
    WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
    ORDER BY t.execute_at, t.id LIMIT 1;
    IF oldest.id IS NULL THEN
      IF q.advance_at IS NOT NULL THEN UPDATE queues SET advance_at = NULL WHERE id = q.id; END IF;
      CONTINUE;
    END IF;
    free := least(CASE WHEN q.ordered THEN 1 ELSE coalesce(q.max_concurrent, max_moves) END, max_moves);
    SELECT count(*) INTO used FROM (
      SELECT FROM tasks t
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 2
      LIMIT CASE WHEN q.ordered THEN 1 ELSE q.max_concurrent END
    ) in_flight;
    IF q.ordered OR q.max_concurrent IS NOT NULL THEN
      free := least(CASE WHEN q.ordered THEN 1 ELSE q.max_concurrent END - used, max_moves);
    END IF;
    clock := clock_timestamp()::timestamptz(3);
    IF q.ordered THEN
      -- A held task keeps its place.
      SELECT count(*) INTO awake FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) IN (0, 3)
          AND (t.execute_at, t.id) < (oldest.execute_at, oldest.id) LIMIT 1
      ) in_front;
    ELSE
      SELECT count(*) INTO awake FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 0
          AND t.execute_at <= clock AND t.due_at > clock - interval '2 seconds' AND t.due_at <= clock + lead
        LIMIT coalesce(q.max_concurrent, q.rate_count, max_moves)
      ) due;
    END IF;
    free := greatest(free - awake, 0);
    next_at := NULL;
    IF q.rate_count IS NULL THEN
      WITH chosen AS (
        SELECT t.id FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
        ORDER BY t.execute_at, t.id LIMIT free FOR UPDATE SKIP LOCKED
      )
      UPDATE tasks t SET due_at = clock, waits_for = 0 FROM chosen WHERE t.id = chosen.id;
      GET DIAGNOSTICS moved = ROW_COUNT;
      -- There may be more, and no claim of a queue without limits wakes them.
      IF moved = free AND q.max_concurrent IS NULL AND NOT q.ordered THEN next_at := clock + interval '0.2 seconds'; END IF;
    ELSE
      period := q.rate_period_ms * interval '1 millisecond';
      SELECT coalesce(sum(s.starts), 0) INTO used FROM queue_starts s WHERE s.queue_id = q.id AND s.at > clock - period;
      WITH permit AS (
        SELECT p.available_at, row_number() OVER (ORDER BY p.available_at) AS place FROM (
          SELECT free_now.available_at FROM (
            SELECT clock AS available_at FROM generate_series(1, least(q.rate_count - used, max_moves + awake))
            UNION ALL
            SELECT s.at + period FROM (
              SELECT at, sum(starts) AS starts FROM queue_starts
              WHERE queue_id = q.id AND at > clock - period AND at + period <= clock + lead GROUP BY at
            ) s CROSS JOIN generate_series(1, s.starts)
          ) free_now
          ORDER BY free_now.available_at OFFSET awake + greatest(used - q.rate_count, 0) LIMIT free
        ) p
      ),
      chosen AS (
        SELECT t.id, t.execute_at FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
        ORDER BY t.execute_at, t.id LIMIT (SELECT count(*) FROM permit) FOR UPDATE SKIP LOCKED
      ),
      placed AS (SELECT chosen.id, row_number() OVER (ORDER BY chosen.execute_at, chosen.id) AS place FROM chosen)
      UPDATE tasks t SET due_at = permit.available_at, waits_for = 0 FROM placed JOIN permit USING (place) WHERE t.id = placed.id;
      GET DIAGNOSTICS moved = ROW_COUNT;
      SELECT s.at + period INTO next_at FROM queue_starts s WHERE s.queue_id = q.id AND s.at + period > clock + lead
      GROUP BY s.at HAVING sum(s.starts) > 0 ORDER BY s.at LIMIT 1;
      next_at := CASE WHEN next_at IS NOT NULL THEN greatest(next_at - lead, clock + interval '0.2 seconds') END;
    END IF;
    IF q.advance_at IS DISTINCT FROM next_at THEN UPDATE queues SET advance_at = next_at WHERE id = q.id; END IF;
    total := total + moved;
  END LOOP;
  RETURN total;
END $function$;

CREATE OR REPLACE FUNCTION public.count_added_answers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, sum(octet_length(answer)) FROM added GROUP BY workspace_id HAVING sum(octet_length(answer)) > 0;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_answer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.is_counted := true;
  RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_changed_runs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms, task_ids, durations_ms)
  SELECT workspace_id, date_bin('1 minute', started_at, 'epoch'), status = 'failed', weight,
         array_agg(run_lag_ms(scheduled_at, started_at)), array_agg(task_id), array_agg(run_lag_ms(started_at, finished_at))
  FROM (
    SELECT -1 AS weight, * FROM old_runs UNION ALL SELECT 1, * FROM new_runs
  ) changed GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_new_runs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO run_changes (workspace_id, minute, failed, weight, lags_ms, task_ids, durations_ms)
  SELECT workspace_id, date_bin('1 minute', started_at, 'epoch'), status = 'failed', 1,
         array_agg(run_lag_ms(scheduled_at, started_at)), array_agg(task_id), array_agg(run_lag_ms(started_at, finished_at))
  FROM new_runs GROUP BY 1, 2, 3;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_removed_answers()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT workspace_id, -sum(octet_length(answer)) FROM removed WHERE is_counted
  GROUP BY workspace_id HAVING sum(octet_length(answer)) > 0;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.create_run_partitions(months_ahead integer)
 RETURNS void
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.end_mcp_attempts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  has_ended boolean := NEW.state IN ('success', 'dead');
BEGIN
  UPDATE tasks
  SET state = CASE WHEN has_ended THEN state ELSE 'cancelled' END, state_reason = CASE WHEN NOT has_ended THEN state_reason END,
      finished_at = coalesce(finished_at, clock_timestamp()), quarantined = false
  WHERE id = NEW.id AND state = NEW.state;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.end_mcp_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
BEGIN
  DELETE FROM cron_jobs j USING removed d WHERE d.mcp IS NOT NULL AND j.subscription_id = d.id;
  -- In the order in which dispatchers record attempts.
  WITH open AS MATERIALIZED (
    SELECT t.id FROM removed d JOIN task_requests r ON r.subscription_id = d.id JOIN tasks t ON t.id = r.task_id
    WHERE d.mcp IS NOT NULL AND t.state NOT IN ('success', 'dead', 'cancelled') ORDER BY t.id FOR NO KEY UPDATE OF t
  )
  UPDATE tasks t SET state = CASE t.state WHEN 'processing' THEN t.state ELSE 'cancelled' END, state_reason = 'subscription_deleted',
                     finished_at = CASE WHEN t.state <> 'processing' THEN clock_timestamp() END,
                     quarantined = false, updated_at = clock_timestamp()
  FROM open WHERE t.id = open.id;
  PERFORM store_mcp_control(jsonb_populate_record(NULL::subscriptions, to_jsonb(d)), 'End of an MCP subscription', json_build_object(
    'type', 'terminated', 'error', json_build_object('code', -32012, 'message', 'The subscription was ended at the server.')))
  FROM removed d JOIN workspaces w ON w.id = d.workspace_id
  WHERE d.mcp IS NOT NULL AND d.active AND (d.expires_at IS NULL OR d.expires_at > now()) AND w.deleted_at IS NULL;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.end_subscription_secrets()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
BEGIN
  UPDATE subscription_secrets s SET expires_at = now() + interval '30 days'
  FROM removed r WHERE s.subscription_id = r.id AND s.expires_at IS NULL;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.expire_audit_log(organization uuid, days integer, max_deleted integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
DECLARE
  deleted integer;
BEGIN
  PERFORM set_config('belfry.expires_audit_log', 'on', true);
  DELETE FROM audit_log WHERE id IN (
    SELECT id FROM audit_log
    WHERE organization_id = organization AND id < uuid_v7_floor(now() - greatest(days, 30) * interval '1 day')
    ORDER BY id LIMIT max_deleted
  );
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('belfry.expires_audit_log', '', true);
  RETURN deleted;
END
$function$;
GRANT EXECUTE ON FUNCTION expire_audit_log(uuid,integer,integer) TO belfry_scheduler;

CREATE OR REPLACE FUNCTION public.forget_queue_starts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM queue_starts WHERE queue_id = OLD.id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.lock_queues(ids uuid[])
 RETURNS TABLE(queue_id uuid, locked_at timestamp with time zone, permits bigint, is_rated boolean, is_ordered boolean, head uuid, blocked_at timestamp with time zone, blocked_id uuid)
 LANGUAGE plpgsql
AS $function$
DECLARE
  q queues;
  used bigint;
  head_at timestamptz;
BEGIN
  FOR q IN SELECT * FROM queues WHERE id = ANY (ids) ORDER BY id FOR UPDATE LOOP
    queue_id := q.id;
    permits := CASE WHEN q.paused_at IS NOT NULL THEN 0 WHEN q.ordered THEN 1 ELSE q.max_concurrent END;
    is_rated := q.rate_count IS NOT NULL;
    is_ordered := q.ordered;
    head := NULL;
    blocked_at := NULL;
    blocked_id := NULL;
    IF permits > 0 THEN
      SELECT count(*) INTO used FROM (
        SELECT FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 2
        LIMIT permits
      ) in_flight;
      permits := permits - used;
    END IF;
    locked_at := clock_timestamp()::timestamptz(3);
    IF is_rated AND permits IS DISTINCT FROM 0 THEN
      DELETE FROM queue_starts s
      WHERE s.queue_id = q.id AND s.at <= locked_at - q.rate_period_ms * interval '1 millisecond';
      SELECT coalesce(sum(s.starts), 0) INTO used FROM queue_starts s WHERE s.queue_id = q.id;
      permits := least(permits, greatest(q.rate_count - used, 0));
    END IF;
    IF permits IS DISTINCT FROM 0 THEN
      SELECT t.execute_at, t.id INTO blocked_at, blocked_id FROM tasks t
      WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 1
      ORDER BY t.execute_at, t.id LIMIT 1;
      IF q.ordered THEN
        SELECT t.execute_at, t.id INTO head_at, head FROM tasks t
        WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 0
        ORDER BY t.execute_at, t.id LIMIT 1;
        IF EXISTS (
          SELECT FROM tasks t
          WHERE t.queue_id = q.id AND t.finished_at IS NULL AND queue_phase(t.state, t.waits_for) = 3
            AND (t.execute_at, t.id) < (head_at, head)
        ) THEN
          permits := 0;
          head := NULL;
        END IF;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END $function$;

CREATE OR REPLACE FUNCTION public.lower_waiting_floor()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.notify_due_task()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  word text;
BEGIN
  IF NEW.queue_id IS NOT NULL THEN
    SELECT 'queue' INTO word FROM queues q
    WHERE q.id = NEW.queue_id AND (q.ordered OR coalesce(q.max_concurrent, q.rate_count) IS NOT NULL OR q.paused_at IS NOT NULL);
  END IF;
  PERFORM pg_notify('belfry_due_task', concat_ws(' ', (extract(epoch FROM NEW.due_at) * 1000)::bigint, NEW.id,
    NEW.workspace_id, split_part(r.url, '/', 1) || '//' || split_part(split_part(r.url, '/', 3), '?', 1),
    CASE WHEN r.url IS NOT NULL THEN word END))
  FROM (SELECT) one LEFT JOIN task_requests r ON r.task_id = NEW.id;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.notify_outbox()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NOTIFY belfry_outbox;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.notify_tenants()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NOTIFY belfry_tenants;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.queue_phase(state task_state, waits_for smallint)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT CASE WHEN waits_for = 2 THEN 3 WHEN waits_for = 1 THEN 1 WHEN state = 'processing' THEN 2 ELSE 0 END
$function$;

CREATE OR REPLACE FUNCTION public.refuse_audit_log_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit_log' AND current_setting('belfry.expires_audit_log', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'The audit log is append-only.';
END
$function$;

CREATE OR REPLACE FUNCTION public.run_lag_ms(scheduled_at timestamp with time zone, started_at timestamp with time zone)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT least(greatest(extract(epoch FROM started_at - scheduled_at) * 1000, 0), 2147483647)::integer
$function$;

CREATE OR REPLACE FUNCTION public.store_callbacks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  -- An undone claim has no run. A lost attempt ends a second time when its real outcome arrives.
  attempt_ended boolean := coalesce(NEW.run_id = OLD.run_id
    AND (OLD.state = 'processing' OR OLD.quarantined AND NEW.state_reason IS NULL), false);
BEGIN
  WITH latest AS MATERIALIZED (
    SELECT to_jsonb(u) - 'request_headers' || jsonb_build_object('cron_job_timezone', c.timezone) AS run
    FROM runs u LEFT JOIN cron_jobs c ON c.id = u.cron_job_id AND c.workspace_id = u.workspace_id
    WHERE u.task_id = NEW.id AND u.id >= uuid_v7_floor(NEW.created_at) ORDER BY u.id DESC LIMIT 1
  ),
  called AS MATERIALIZED (
    SELECT overlay(uuid_v7(clock_timestamp())::text PLACING '8' FROM 15)::uuid AS id, callback, callback -> 'retry' AS retry, given.name, r.traceparent, r.depth,
           json_build_object('event', event, 'task', to_jsonb(NEW), 'request', to_jsonb(r), 'run', (SELECT run FROM latest))::text
             AS payload,
           r.qstash::json #> ARRAY['callbacks', event] AS qstash,
           nullif(greatest(octet_length(given.name) + octet_length(callback ->> 'url') + octet_length(callback ->> 'headers')
                           - 1024, 0), 0) AS extra_bytes
    FROM task_requests r CROSS JOIN json_each(r.callbacks::json) AS c (event, callback)
    CROSS JOIN LATERAL (SELECT left(event || ' of ' || r.name, 200) AS name) given
    WHERE r.task_id = NEW.id AND CASE event WHEN 'on_attempt' THEN attempt_ended
                                            WHEN 'on_success' THEN NEW.state = 'success'
                                            WHEN 'on_failure' THEN NEW.state = 'dead' END
  ),
  timed AS MATERIALIZED (
    SELECT id, clock_timestamp() + coalesce((qstash ->> 'delayMs')::bigint, 0) * interval '1 millisecond' AS at FROM called
  ),
  inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, callback_of)
    SELECT id, NEW.workspace_id, 'callback', at, at, NEW.id FROM timed
  ),
  requested AS (
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, is_report, max_retries, backoff,
                               base_delay_ms, max_delay_ms, retry_delays, timeout_ms, traceparent, depth, qstash, extra_bytes)
    SELECT id, name, callback ->> 'url', coalesce(qstash ->> 'method', 'POST'), callback ->> 'headers', payload, true,
           coalesce((retry ->> 'max_retries')::smallint, json_array_length(retry -> 'delays_ms')),
           coalesce(retry ->> 'backoff', 'exponential')::backoff, coalesce((retry ->> 'base_delay_ms')::integer, 10000),
           coalesce((retry ->> 'max_delay_ms')::integer, 3600000), retry ->> 'delays_ms',
           (callback ->> 'timeout_ms')::integer, traceparent, depth, qstash ->> 'message', extra_bytes
    FROM called
  )
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT NEW.workspace_id, sum(octet_length(payload) + coalesce(extra_bytes, 0)) FROM called HAVING count(*) > 0;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.store_mcp_control(s subscriptions, name text, tell json)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  new_id uuid := uuid_v7(clock_timestamp());
BEGIN
  INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
  VALUES (new_id, s.workspace_id, 'event', clock_timestamp(), clock_timestamp());
  INSERT INTO task_requests (task_id, name, url, method, headers, payload, max_retries, backoff, base_delay_ms, max_delay_ms,
                             retry_delays, timeout_ms, labels, subscription_id)
  VALUES (new_id, name, s.url, 'POST', s.headers, tell::text, s.max_retries, s.backoff, s.base_delay_ms, s.max_delay_ms,
          s.retry_delays, s.timeout_ms, s.labels, s.id);
  INSERT INTO task_labels (workspace_id, label, task_id) SELECT s.workspace_id, label, new_id FROM unnest(s.labels) AS l (label);
  INSERT INTO usage_changes (workspace_id, storage_bytes) VALUES (s.workspace_id, octet_length(tell::text));
END
$function$;

CREATE OR REPLACE FUNCTION public.store_mcp_events()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
DECLARE
  happened text[] := ARRAY[CASE NEW.state WHEN 'dead' THEN '@task.dead' WHEN 'cancelled' THEN '@cron.missed' END,
                           CASE WHEN NEW.run_id = OLD.run_id AND OLD.state = 'processing' AND NOT NEW.quarantined THEN '@run.failed' END];
BEGIN
  -- Most workspaces have none, and to start the statement below costs more than to record the attempt.
  IF NOT EXISTS (SELECT FROM subscriptions WHERE workspace_id = NEW.workspace_id AND active AND topic = ANY (happened)) THEN
    RETURN NULL;
  END IF;
  WITH chosen AS MATERIALIZED (
    SELECT uuid_v7(clock_timestamp()) AS id, s.id AS subscription_id, s.url, s.headers, s.labels, s.max_retries, s.backoff,
           s.base_delay_ms, s.max_delay_ms, s.retry_delays, s.timeout_ms, r.traceparent, r.depth,
           left((s.mcp ->> 'name') || ' of ' || r.name, 200) AS name,
           json_build_object('event', 'on_failure', 'mcp', s.mcp -> 'name', 'task', to_jsonb(NEW),
                             'request', to_jsonb(r) || '{"payload": null, "callbacks": null}', 'run', (
             SELECT to_jsonb(u) - '{request_headers,response_headers,response_body}'::text[] FROM runs u
             WHERE u.task_id = NEW.id AND u.id >= uuid_v7_floor(NEW.created_at) ORDER BY u.id DESC LIMIT 1
           ))::text AS payload
    FROM subscriptions s CROSS JOIN LATERAL (SELECT * FROM task_requests WHERE task_id = NEW.id OFFSET 0) r
    WHERE s.workspace_id = NEW.workspace_id AND s.active AND s.topic = ANY (happened) AND s.paused_reason IS NULL
      AND (s.expires_at IS NULL OR s.expires_at > now()) AND to_jsonb(r) || to_jsonb(NEW) @> (s.mcp -> 'match')
      -- A task of a subscription to published events has their id, and names the subscription while that fails.
      AND (r.subscription_id IS NULL OR (NEW.event_id IS NOT NULL AND r.is_report IS NOT TRUE))
  ),
  inserted AS (
    INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, callback_of)
    SELECT id, NEW.workspace_id, 'callback', clock_timestamp(), clock_timestamp(), NEW.id FROM chosen
  ),
  requested AS (
    INSERT INTO task_requests (task_id, name, url, method, headers, payload, is_report, max_retries, backoff, base_delay_ms,
                               max_delay_ms, retry_delays, timeout_ms, traceparent, depth, labels, subscription_id)
    SELECT id, name, url, 'POST', headers, payload, true, max_retries, backoff, base_delay_ms,
           max_delay_ms, retry_delays, timeout_ms, traceparent, depth, labels, subscription_id
    FROM chosen
  ),
  labelled AS (
    INSERT INTO task_labels (workspace_id, label, task_id)
    SELECT NEW.workspace_id, label, id FROM chosen CROSS JOIN LATERAL unnest(labels) AS l (label)
  )
  INSERT INTO usage_changes (workspace_id, storage_bytes)
  SELECT NEW.workspace_id, sum(octet_length(payload)) FROM chosen HAVING count(*) > 0;
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.store_mcp_gap()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
BEGIN
  PERFORM store_mcp_control(s, 'Gap of an MCP subscription', json_build_object('type', 'gap', 'cursor', NEW.id))
  FROM task_requests r JOIN subscriptions s ON s.id = r.subscription_id
  WHERE r.task_id = NEW.id AND r.is_report AND s.mcp IS NOT NULL AND s.active AND (s.expires_at IS NULL OR s.expires_at > now())
    AND NOT EXISTS (
      SELECT FROM runs u WHERE u.workspace_id = NEW.workspace_id AND u.id = NEW.run_id AND u.response_status = 410
    )
    AND NOT EXISTS (
      SELECT FROM task_requests o JOIN tasks t ON t.id = o.task_id
      WHERE o.subscription_id = s.id AND o.name = 'Gap of an MCP subscription' AND t.state IN ('pending', 'processing', 'retrying')
    );
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.stream_audit_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
BEGIN
  INSERT INTO audit_stream_entries (organization_id, entry_id)
  SELECT s.organization_id, a.id
  FROM added a JOIN audit_streams s ON s.organization_id IN (a.organization_id, '00000000-0000-0000-0000-000000000000');
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.stream_operator_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO '$user', 'public'
AS $function$
BEGIN
  INSERT INTO audit_stream_entries (organization_id, entry_id)
  SELECT s.organization_id, a.id
  FROM added a JOIN audit_streams s ON s.organization_id = '00000000-0000-0000-0000-000000000000';
  RETURN NULL;
END
$function$;

CREATE OR REPLACE FUNCTION public.utc_month(at timestamp with time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT date_trunc('month', at AT TIME ZONE 'UTC')::date
$function$;

CREATE OR REPLACE FUNCTION public.uuid_v7(at timestamp with time zone, random uuid DEFAULT gen_random_uuid())
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$
  SELECT encode(set_bit(set_bit(
    overlay(uuid_send(random) PLACING substring(int8send((extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid
$function$;

CREATE OR REPLACE FUNCTION public.uuid_v7_floor(at timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT (lpad(to_hex(greatest(0, extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$function$;

CREATE OR REPLACE FUNCTION public.uuid_v7_time(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  SELECT to_timestamp(('x0000' || left(replace(id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)
$function$;

-- comments: 0

-- rows
alert_rounds: {"id":1,"marked_until":"a time","noticed_until":"a time"}
dispatching: {"id":1,"seen_at":"a time","ended_at":"a time"}
promotion: {"id":1,"marker":"","watermark":"a time"}
waiting_floor: {"id":1,"due_at":"a time","lease_until":"a time"}
