import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Postgres, startPostgres } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createPrisma } from '../src/postgres/create-prisma.ts'
import { isTransientDatabaseError } from '../src/postgres/database-errors.ts'
import { urlsOfHosts } from '../src/postgres/database-hosts.ts'
import { listen } from '../src/postgres/listen.ts'
import { openPool } from '../src/postgres/pool.ts'
import { findPrimary } from '../src/postgres/primary-client.ts'

describe('the hosts of a database URL', () => {
  it('are its own, or those between commas, with the same login, name and options', () => {
    expect(urlsOfHosts('postgresql://me:se%2Ccret@one/belfry')).toEqual(['postgresql://me:se%2Ccret@one/belfry'])
    const several = 'postgres://me:secret@one:5433,[fd00::1],10.0.0.7:5434/belfry?sslmode=require'
    expect(urlsOfHosts(`${several}&target_session_attrs=read-write`)).toEqual(
      ['one:5433', '[fd00::1]', '10.0.0.7:5434'].map(
        host => `postgres://me:secret@${host}/belfry?sslmode=require&target_session_attrs=read-write`,
      ),
    )
  })

  it.each(['one,', 'one,two:99999', 'one,two:x', 'one,two/b?target_session_attrs=any&x='])(
    'are refused in postgresql://me:hunter2@%s without the password',
    rest => expect(() => urlsOfHosts(`postgresql://me:hunter2@${rest}`)).toThrow(/^DATABASE_URL has (?!.*hunter2)/),
  )
})

describe('two hosts', () => {
  let folder: string
  let servers: [Postgres, Postgres]
  let url: string

  const nameOf = (server: Postgres) => (server.port === servers[0].port ? 'one' : 'two')
  async function run(server: Postgres, ...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString: server.url() })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  /** Makes a server read-only, as a replica is, and the other one writable. */
  async function promote(primary: Postgres): Promise<void> {
    for (const server of servers) {
      const isReadOnly = server !== primary
      await run(
        server,
        `SET default_transaction_read_only = off`,
        `ALTER DATABASE postgres SET default_transaction_read_only = ${isReadOnly}`,
      )
    }
  }
  /** Ends the sessions of a server, as its crash does. */
  const crash = (server: Postgres) =>
    run(
      server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    )

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belfry-hosts-'))
    const start = (name: string) => startPostgres({ dataDir: join(folder, name), settings: { fsync: 'off' } })
    servers = [await start('one'), await start('two')]
    for (const server of servers) {
      await run(server, 'CREATE TABLE place (name text)', `INSERT INTO place VALUES ('${nameOf(server)}')`)
      await run(server, `CREATE ROLE belfry LOGIN SUPERUSER PASSWORD 'the-same'`)
    }
    url = `postgresql://belfry:the-same@127.0.0.1:${servers[0].port},127.0.0.1:${servers[1].port}/postgres`
  })
  beforeEach(() => promote(servers[1]))
  afterAll(async () => {
    await Promise.all(servers.map(server => server.stop()))
    await rm(folder, { recursive: true, force: true })
  })

  const ask = 'SELECT name FROM place'

  it('are asked for the primary, and a pool follows it', async () => {
    expect(new URL(await findPrimary(url)).port).toBe(String(servers[1].port))
    const pool = openPool(url, { max: 3, onError: () => {} })
    onTestFinished(() => pool.end())
    expect((await pool.query(ask)).rows).toEqual([{ name: 'two' }])
    await promote(servers[0])
    await crash(servers[1])
    const seen = await waitFor(
      () =>
        pool.query(ask).then(
          ({ rows }) => rows[0].name,
          error => error,
        ),
      name => name === 'one',
    )
    expect(seen).toBe('one')
    await pool.query('INSERT INTO place SELECT 1 WHERE false')
  })

  it('are followed by Prisma and by a listener', async () => {
    const prisma = createPrisma(url)
    onTestFinished(() => prisma.$disconnect())
    const heard: string[] = []
    let connections = 0
    const listener = listen(url, ['place'], {
      onNotification: (_, payload) => heard.push(payload),
      onConnect: () => void connections++,
      onError: () => {},
    })
    onTestFinished(() => listener.close())
    expect(await prisma.$queryRawUnsafe(ask)).toEqual([{ name: 'two' }])
    await waitFor(
      async () => connections,
      count => count === 1,
    )
    await promote(servers[0])
    await crash(servers[1])
    await waitFor(
      () => prisma.$queryRawUnsafe<Array<{ name: string }>>(ask).catch(() => []),
      rows => rows[0]?.name === 'one',
    )
    await waitFor(
      async () => connections,
      count => count === 2,
    )
    await run(servers[0], `NOTIFY place, 'hello'`)
    await waitFor(
      async () => heard,
      all => all.includes('hello'),
    )
  })

  it('reject with a transient error while none accepts writes, and with a final one for a wrong password', async () => {
    await run(
      servers[1],
      'SET default_transaction_read_only = off',
      'ALTER DATABASE postgres SET default_transaction_read_only = on',
    )
    const pool = openPool(url, { max: 1, onError: () => {} })
    onTestFinished(() => pool.end())
    const error = await pool.query(ask).catch(failure => failure)
    expect(error.message).toMatch(/^No host of the database accepts writes: 127.0.0.1:\d+: it is read-only, /)
    expect(isTransientDatabaseError(error)).toBe(true)
    const refused = await findPrimary(url.replace('the-same', 'another')).catch(failure => failure)
    expect(refused.code).toBe('28P01')
    expect(isTransientDatabaseError(refused)).toBe(false)
  })

  it('may be down, except for the primary', async () => {
    const withDead = url.replace(`127.0.0.1:${servers[0].port}`, '127.0.0.1:1')
    const pool = openPool(withDead, { max: 1, onError: () => {} })
    onTestFinished(() => pool.end())
    expect((await pool.query(ask)).rows).toEqual([{ name: 'two' }])
  })
})
