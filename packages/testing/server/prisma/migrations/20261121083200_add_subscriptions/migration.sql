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
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX subscriptions_workspace_id_id_idx ON subscriptions (workspace_id, id DESC);
-- An event is looked up by every pattern that its topic matches.
CREATE INDEX subscriptions_topic_idx ON subscriptions (workspace_id, topic) WHERE active;
