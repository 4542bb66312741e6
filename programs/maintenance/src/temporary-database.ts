import { randomBytes } from 'node:crypto'
import { withClient } from '@belfry/db/postgres/with-client'

/** Makes a database on a server that is dropped with its scope. Its name is the prefix and some random digits. */
export async function temporaryDatabase(serverUrl: string, prefix: string) {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`
  await runStatement(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`)
  return {
    url: Object.assign(new URL(serverUrl), { pathname: name }).href,
    [Symbol.asyncDispose]: async () => void (await runStatement(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)),
  }
}

/** Runs a statement on a new connection, and returns the first value of its result, if it has one. */
export async function runStatement(url: string, statement: string): Promise<unknown> {
  return withClient({ connectionString: url }, async client => {
    const { rows } = await client.query({ text: statement, rowMode: 'array' })
    return rows[0]?.[0]
  })
}
