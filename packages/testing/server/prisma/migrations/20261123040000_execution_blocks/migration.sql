-- Executions that a dispatcher may start without asking again. They count in usage.executions already, so an organization
-- has used usage.executions minus what all its dispatchers have not spent.
CREATE TABLE execution_blocks (
  month date NOT NULL,
  organization_id uuid NOT NULL REFERENCES organizations (id) ON UPDATE CASCADE ON DELETE CASCADE,
  dispatcher_id uuid NOT NULL,
  unspent bigint NOT NULL CHECK (unspent >= 0),
  execution_limit bigint,
  PRIMARY KEY (month, organization_id, dispatcher_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
