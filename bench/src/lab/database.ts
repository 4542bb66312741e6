import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Postgres } from '@belfry/embedded'
import pg from 'pg'
import { repositoryRoot } from './child-process.ts'

/** A database of one round. Its disposal closes its connections. */
export type Database = AsyncDisposable & { url: string; pool: pg.Pool }

const template = 'bench_template'
const workspaces = 8
/** A key of one of the workspaces, with all rights. */
export const apiKey = `bf_${'0'.repeat(32)}2wjyrI`

/**
 * Creates the database that each round starts with a copy of: Belfry's tables and some workspaces.
 * @param root - The checkout whose migrations are applied.
 */
export async function createTemplate(postgres: Postgres, name = template, root = repositoryRoot): Promise<void> {
  await execute(postgres.url(), `CREATE DATABASE ${name}`)
  const env = { ...process.env, DATABASE_URL: postgres.url(name) }
  await promisify(execFile)(process.execPath, [join(root, 'prisma/dist/main.mjs'), 'deploy'], { env })
  await execute(
    postgres.url(name),
    `INSERT INTO organizations (id, name, slug, tier) VALUES (uuid_v7(now()), 'Bench', 'bench', 'unicorn');
     INSERT INTO workspaces (id, organization_id, name)
     SELECT uuid_v7(now()), o.id, 'Workspace ' || n FROM organizations o, generate_series(1, ${workspaces}) n;
     INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_by)
     SELECT id, id, 'Bench', 'bf_', sha256('${apiKey}'), id FROM workspaces LIMIT 1`,
  )
}

/** Copies a database that has no connections. Default: the template. */
export async function createDatabase(postgres: Postgres, name: string, from = template): Promise<void> {
  await execute(postgres.url(), `CREATE DATABASE ${name} TEMPLATE ${from}`)
}

/** Opens a copy of a database. The copy is dropped when it is closed. */
export async function openDatabase(postgres: Postgres, from = template): Promise<Database> {
  const name = `round_${randomUUID().replaceAll('-', '')}`
  await createDatabase(postgres, name, from)
  const { url, pool } = connectTo(postgres.url(name))
  return {
    url,
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end()
      await execute(postgres.url(), `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/** Opens a database that stays when it is closed. */
export function connectTo(url: string): Database {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {}) // the pool replaces an idle connection that broke
  return { url, pool, [Symbol.asyncDispose]: () => pool.end() }
}

/** Returns the first value of the first row of a statement. */
export async function readValue<Value>({ pool }: Database, text: string, values: unknown[] = []): Promise<Value> {
  const { rows } = await pool.query<[Value]>({ text, values, rowMode: 'array' })
  if (!rows[0]) throw new Error(`No row: ${text}`)
  return rows[0][0]
}

async function execute(url: string, statement: string): Promise<void> {
  await using database = connectTo(url)
  await database.pool.query(statement)
}
