import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Postgres } from '@belfry/embedded'
import pg from 'pg'
import { repositoryRoot } from './places.ts'

/** A database of one round. */
export type Database = {
  url: string
  pool: pg.Pool
  close(): Promise<void>
}

const template = 'bench_template'
const workspaces = 8

/** Makes the database that each round starts with a copy of: Belfry's tables and a handful of workspaces. */
export async function createTemplate(postgres: Postgres): Promise<void> {
  await execute(postgres.url(), `CREATE DATABASE ${template}`)
  await migrate(postgres.url(template))
  await execute(
    postgres.url(template),
    `WITH organization AS (
       INSERT INTO organizations (id, name, slug, tier) VALUES (uuid_v7(now()), 'Bench', 'bench', 'unicorn') RETURNING id
     )
     INSERT INTO workspaces (id, organization_id, name)
     SELECT uuid_v7(now()), organization.id, 'Workspace ' || n FROM organization, generate_series(1, ${workspaces}) n`,
  )
}

/** Brings a database to the schema of this checkout. */
async function migrate(url: string): Promise<void> {
  const program = join(repositoryRoot, 'prisma/dist/main.mjs')
  await promisify(execFile)(process.execPath, [program, 'deploy'], { env: { ...process.env, DATABASE_URL: url } })
}

/** Makes a copy of a database that nobody is connected to. Default: of the template. */
export async function createDatabase(postgres: Postgres, name: string, from = template): Promise<void> {
  await execute(postgres.url(), `CREATE DATABASE ${name} TEMPLATE ${from}`)
}

/** Opens a copy that goes when it is closed. */
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
  // What the bench itself asks is not counted.
  const options = '-c pg_stat_statements.track=none'
  const pool = new pg.Pool({ connectionString: url, max: 2, options })
  pool.on('error', () => {}) // an idle connection that broke is replaced
  return { url, pool, close: () => pool.end() }
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
