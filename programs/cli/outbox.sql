-- The outbox of Belfry: calls and events that are committed, or rolled back, with the data they belong to. `belfry relay`
-- sends them. It needs PostgreSQL 13 or newer and the right to create a schema: no extension, no superuser.
--
-- Apply it again after an upgrade. To remove it, with the rows that are not sent yet: DROP SCHEMA belfry CASCADE;

BEGIN;

CREATE SCHEMA IF NOT EXISTS belfry;

CREATE TABLE IF NOT EXISTS belfry.outbox (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  position bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL CHECK (kind IN ('task', 'event')),
  -- The body of the request. Belfry checks it, and a refused row stays.
  body jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object'),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The Idempotency-Key of the request with this row: the id of a row alone, or a key of several rows. It stays until the
  -- response is known, because a request that is repeated under the key must have the same rows.
  batch uuid,
  -- When the request is repeated.
  due_at timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  -- Why Belfry refused the row, or why the latest request failed.
  error text,
  rejected_at timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What a relay reads of rows that it may not claim: bodies can be large. The columns are apart for outboxes of earlier versions.
ALTER TABLE belfry.outbox
  ADD COLUMN IF NOT EXISTS key text GENERATED ALWAYS AS (body ->> 'key') STORED,
  ADD COLUMN IF NOT EXISTS bytes integer NOT NULL GENERATED ALWAYS AS (octet_length(body::text)) STORED;
DROP INDEX IF EXISTS belfry.outbox_key, belfry.outbox_claimed_key;

CREATE INDEX IF NOT EXISTS outbox_new ON belfry.outbox (position) WHERE batch IS NULL AND rejected_at IS NULL;
CREATE INDEX IF NOT EXISTS outbox_due ON belfry.outbox (due_at, position) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS outbox_batch ON belfry.outbox (batch, position) WHERE batch IS NOT NULL;
-- Tasks with one key are sent in the order of their calls.
CREATE INDEX IF NOT EXISTS outbox_keys ON belfry.outbox (key, position) WHERE key IS NOT NULL AND rejected_at IS NULL;
CREATE INDEX IF NOT EXISTS outbox_claimed_keys ON belfry.outbox (key) WHERE key IS NOT NULL AND batch IS NOT NULL;

-- Calls a URL at a time, or at once if the time has come when the row is sent. `options` are the other fields of a task.
CREATE OR REPLACE FUNCTION belfry.call_at(url text, at timestamptz, payload jsonb DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS uuid LANGUAGE sql AS $$
  SELECT pg_notify('belfry_outbox', '');
  INSERT INTO belfry.outbox (kind, body)
  VALUES (
    'task',
    jsonb_build_object(
      'name', left(
        coalesce(call_at.options ->> 'method', 'POST') || ' ' || regexp_replace(call_at.url, '^https?://|[?#].*$', '', 'gi'),
        200
      ),
      'method', 'POST',
      'on_past', 'run'
    )
    || coalesce(call_at.options, '{}')
    || jsonb_build_object('url', call_at.url, 'execute_at', call_at.at)
    || CASE WHEN call_at.payload IS NULL THEN '{}' ELSE jsonb_build_object('payload', call_at.payload) END
  )
  RETURNING id
$$;

-- Publishes an event. `options` are the other fields of an event.
CREATE OR REPLACE FUNCTION belfry.publish(topic text, payload jsonb DEFAULT '{}', options jsonb DEFAULT '{}')
RETURNS uuid LANGUAGE sql AS $$
  SELECT pg_notify('belfry_outbox', '');
  INSERT INTO belfry.outbox (kind, body)
  VALUES (
    'event',
    coalesce(publish.options, '{}') || jsonb_build_object('topic', publish.topic, 'payload', publish.payload)
  )
  RETURNING id
$$;

COMMIT;
