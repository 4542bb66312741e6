import { randomBytes } from 'node:crypto'
import { databaseUrl, execute, templateName } from './template-database.ts'
import { testServers } from './test-servers.ts'

export type TestDatabase = {
  url: string
  /** Removes the database despite open connections. */
  drop(): Promise<void>
}

/** Creates a migrated database for one test. */
export function createTestDatabase(): Promise<TestDatabase> {
  return create(templateName)
}

/** Creates an empty database for one test. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('template0')
}

async function create(template: string): Promise<TestDatabase> {
  const { postgresUrl } = testServers()
  const name = `test_${randomBytes(8).toString('hex')}`
  await execute(postgresUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  return {
    url: databaseUrl(postgresUrl, name),
    drop: () => execute(postgresUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}
