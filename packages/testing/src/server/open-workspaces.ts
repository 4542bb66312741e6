import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Servers } from './start-servers.ts'

/** The workspaces of a server for tests, of which each test gets a new one. */
export type Workspaces = {
  /** Returns the clock to the time of the machine, deletes everything, and creates a workspace. */
  next(): Promise<{ url: string; apiKey: string }>
  close(): Promise<void>
}

/** Opens the workspaces of a server that has none. */
export async function openWorkspaces({ url, databaseUrl }: Pick<Servers, 'url' | 'databaseUrl'>): Promise<Workspaces> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {}) // PostgreSQL has ended: the next statement fails
  await client.connect()
  const email = 'tests@belfry.local'
  const account = { email, password: randomBytes(12).toString('hex'), name: 'Tests' }
  const { token } = await post(url, '/api/v1/auth/register', account)
  await client.query(rememberStatements)
  return {
    async next() {
      await post(url, '/api/test/clock/reset', {})
      await client.query(emptyStatements)
      const organization = await post(url, '/api/v1/organizations', { name: 'Tests' }, token)
      const path = `/api/v1/organizations/${organization.id}/workspaces`
      const workspace = await post(url, path, { name: 'Test' }, token)
      const { key } = await post(url, `/api/v1/workspaces/${workspace.id}/api-keys`, { name: 'Test' }, token)
      return { url, apiKey: key }
    },
    close: () => client.end(),
  }
}

// The responses of the API, of which each call uses a part.
type Created = { id: string; key: string; token: string }

async function post(url: string, path: string, body: unknown, token?: string): Promise<Created> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${path} failed with ${response.status}: ${text}`)
  return JSON.parse(text)
}

const ownTables = `('_prisma_migrations', 'dispatchers', 'schedulers', 'sends', 'sql_definitions')`

// The account, and rows that a migrated database has, such as the watermark of the promotion.
const rememberStatements = `
  DO $$
  DECLARE
    name text;
    filled boolean;
  BEGIN
    FOR name IN SELECT relname FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT relispartition AND relname NOT IN ${ownTables}
    LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', name) INTO filled;
      IF filled THEN EXECUTE format('CREATE TABLE virtual_clock.%I AS TABLE public.%1$I', name); END IF;
    END LOOP;
  END $$`

// Without triggers and foreign keys, the order of the tables does not matter.
const emptyStatements = `
  DO $$
  DECLARE
    name text;
    filled boolean;
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR name IN SELECT relname FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname NOT IN ${ownTables}
    LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', name) INTO filled;
      IF filled THEN EXECUTE format('DELETE FROM public.%I', name); END IF;
    END LOOP;
    FOR name IN SELECT relname FROM pg_class
      WHERE relnamespace = 'virtual_clock'::regnamespace AND relkind = 'r' AND relname <> 'state'
    LOOP
      EXECUTE format('INSERT INTO public.%I SELECT * FROM virtual_clock.%1$I', name);
    END LOOP;
  END $$`
