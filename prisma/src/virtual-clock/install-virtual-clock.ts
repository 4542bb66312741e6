import pg from 'pg'
import { withClient } from '../postgres/with-client.ts'

/**
 * Installs the virtual clock in a migrated database, for all connections that open later: functions of the schema
 * `virtual_clock` hide PostgreSQL's own functions. The URL must name the database's owner.
 */
export async function installVirtualClock(databaseUrl: string): Promise<void> {
  await withClient({ connectionString: databaseUrl }, client => client.query(installStatements()))
}

/** Opens PostgreSQL's part of the virtual clock: every statement of the database that asks for the time gets this one. */
export async function openVirtualClock(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const text = `UPDATE virtual_clock.state SET frozen_at = to_timestamp($1::float8 / 1000), shift = $2 * interval '1 millisecond'`
  return {
    /** Sets the clock. `frozenAt`: epoch milliseconds, or null while it runs `shiftMs` ahead of the machine. */
    async set({ frozenAt, shiftMs }: { frozenAt: number | null; shiftMs: number }): Promise<void> {
      await client.query({ name: 'set_clock', text, values: [frozenAt, shiftMs] })
    },
    close: (): Promise<void> => client.end(),
  }
}

function clockFunction(name: string, volatility: 'STABLE' | 'VOLATILE'): string {
  return `
    CREATE OR REPLACE FUNCTION virtual_clock.${name}() RETURNS timestamptz LANGUAGE plpgsql ${volatility} AS $clock$
    BEGIN
      RETURN (SELECT coalesce(s.frozen_at, pg_catalog.${name}() + s.shift) FROM virtual_clock.state s);
    END $clock$;`
}

// `public` stays first, so new tables belong to it. Defaults and triggers name their functions since they were created,
// and CURRENT_TIMESTAMP is not a function, so both are created again.
const searchPath = 'public, virtual_clock, pg_catalog'
function installStatements(): string {
  return `
  CREATE SCHEMA IF NOT EXISTS virtual_clock;
  GRANT USAGE ON SCHEMA virtual_clock TO PUBLIC;
  CREATE UNLOGGED TABLE IF NOT EXISTS virtual_clock.state (frozen_at timestamptz, shift interval NOT NULL);
  GRANT SELECT ON virtual_clock.state TO PUBLIC;
  DELETE FROM virtual_clock.state;
  INSERT INTO virtual_clock.state VALUES (NULL, '0');
  ${clockFunction('now', 'STABLE')}
  ${clockFunction('transaction_timestamp', 'STABLE')}
  ${clockFunction('statement_timestamp', 'STABLE')}
  ${clockFunction('clock_timestamp', 'VOLATILE')}
  DO $install$
  DECLARE
    found record;
  BEGIN
    EXECUTE format('ALTER DATABASE %I SET search_path = ${searchPath}', current_database());
    PERFORM set_config('search_path', '${searchPath}', true);
    FOR found IN
      SELECT d.adrelid::regclass AS relation, a.attname AS name, pg_get_expr(d.adbin, d.adrelid) AS expression
      FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      WHERE a.attgenerated = '' AND pg_get_expr(d.adbin, d.adrelid) ~ '(pg_catalog\\.(now|clock_timestamp)\\(\\)|CURRENT_TIMESTAMP)'
    LOOP
      EXECUTE format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', found.relation, found.name,
        replace(replace(found.expression, 'pg_catalog.', ''), 'CURRENT_TIMESTAMP', 'now()'));
    END LOOP;
    FOR found IN
      SELECT t.tgrelid::regclass AS relation, t.tgname AS name, pg_get_triggerdef(t.oid) AS definition FROM pg_trigger t
      WHERE NOT t.tgisinternal AND pg_get_triggerdef(t.oid) ~ 'pg_catalog\\.(now|clock_timestamp)\\(\\)'
    LOOP
      EXECUTE format('DROP TRIGGER %I ON %s', found.name, found.relation);
      EXECUTE replace(found.definition, 'pg_catalog.', '');
    END LOOP;
    FOR found IN
      SELECT p.oid::regprocedure AS signature FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace AND p.prokind IN ('f', 'p')
        AND EXISTS (SELECT FROM unnest(p.proconfig) setting WHERE setting LIKE 'search_path=%')
    LOOP
      EXECUTE format('ALTER ROUTINE %s SET search_path = ${searchPath}', found.signature);
    END LOOP;
  END $install$;`
}
