import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Postgres } from '@belfry/embedded'
import pg from 'pg'
import { repositoryRoot } from './child-process.ts'

/** A database of one round. */
export type Database = {
  url: string
  pool: pg.Pool
  close(): Promise<void>
}

const template = 'bench_template'
const workspaces = 8

/** Creates the database that each round starts with a copy of: Belfry's tables and some workspaces. */
export async function createTemplate(postgres: Postgres): Promise<void> {
  await execute(postgres.url(), `CREATE DATABASE ${template}`)
  const env = { ...process.env, DATABASE_URL: postgres.url(template) }
  await promisify(execFile)(process.execPath, [join(repositoryRoot, 'prisma/dist/main.mjs'), 'deploy'], { env })
  await execute(
    postgres.url(template),
    `WITH organization AS (
       INSERT INTO organizations (id, name, slug, tier) VALUES (uuid_v7(now()), 'Bench', 'bench', 'unicorn') RETURNING id
     )
     INSERT INTO workspaces (id, organization_id, name)
     SELECT uuid_v7(now()), organization.id, 'Workspace ' || n FROM organization, generate_series(1, ${workspaces}) n`,
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
  const database = connectTo(postgres.url(name))
  return {
    ...database,
    async close() {
      await database.close()
      await execute(postgres.url(), `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/** Opens a database that stays when it is closed. */
export function connectTo(url: string): Database {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {}) // the pool replaces an idle connection that broke
  return { url, pool, close: () => pool.end() }
}

/** Returns the only row of a statement. */
export async function readRow<Row extends pg.QueryResultRow>(
  { pool }: Pick<Database, 'pool'>,
  statement: string,
  values: unknown[] = [],
): Promise<Row> {
  const [row] = (await pool.query<Row>(statement, values)).rows
  if (!row) throw new Error(`No row: ${statement}`)
  return row
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
