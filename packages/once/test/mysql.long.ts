import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasMariadb, startMariadb } from '@belfry/test-support/servers'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/mysql2'
import { Kysely, sql as kyselySql, MysqlDialect } from 'kysely'
import { createPool, type Pool, type RowDataPacket } from 'mysql2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mysql, once } from '../src/index.ts'
import { createEffects, type Receive, testReceive } from './receive.ts'

/** How each library for MySQL does the work of a webhook once. */
const libraries: Record<string, (pool: Pool) => Receive> = {
  mysql2: pool => async (id, work) => {
    const connection = await pool.promise().getConnection()
    try {
      await connection.beginTransaction()
      const answer = await once(
        (text, ...values) => connection.query(text.join('?'), values),
        id,
        () => work(text => connection.query(text)),
        mysql,
      )
      await connection.commit()
      return answer
    } catch (error) {
      await connection.rollback()
      throw error
    } finally {
      connection.release()
    }
  },
  Drizzle: pool => {
    const db = drizzle(pool)
    return (id, work) =>
      db.transaction(tx =>
        once(
          (...query) => tx.execute(drizzleSql(...query)),
          id,
          () => work(text => tx.execute(text)),
          mysql,
        ),
      )
  },
  Kysely: pool => {
    const db = new Kysely({ dialect: new MysqlDialect({ pool }) })
    return (id, work) =>
      db.transaction().execute(tx =>
        once(
          (...query) => kyselySql(...query).execute(tx),
          id,
          () => work(text => kyselySql.raw(text).execute(tx)),
          mysql,
        ),
      )
  },
}

describe.skipIf(!hasMariadb)('MySQL, which requires mariadbd', () => {
  let server: Awaited<ReturnType<typeof startMariadb>>
  let pool: Pool
  beforeAll(async () => {
    server = await startMariadb(await mkdtemp(join(tmpdir(), 'belfry-mariadb-')))
    pool = createPool({ uri: server.url, connectionLimit: 30 })
    await pool.promise().query(createEffects)
    await pool.promise().query(mysql.createTable)
  })
  afterAll(async () => {
    await pool?.promise().end()
    await server?.stop()
  })
  const rowsOf = async (text: string, values: unknown[] = []) =>
    (await pool.promise().query<RowDataPacket[]>(text, values))[0]

  describe.each(Object.entries(libraries))('%s', (_name, open) => {
    let receive: Receive
    beforeAll(async () => {
      for (const table of ['effects', 'received_webhooks']) await pool.promise().query(`TRUNCATE ${table}`)
      receive = open(pool)
    })

    testReceive(
      () => receive,
      async id => (await rowsOf('SELECT 1 FROM effects WHERE id = ?', [id])).length,
    )
  })

  it('forgets ids that are older than some days', async () => {
    await rowsOf('TRUNCATE received_webhooks')
    for (const days of [29, 31])
      await rowsOf(`INSERT INTO received_webhooks (id, received_at) VALUES (${days}, now() - INTERVAL ${days} DAY)`)
    await rowsOf(mysql.deleteOlderThan(30))
    expect((await rowsOf('SELECT id FROM received_webhooks')).map(({ id }) => String(id))).toEqual(['29'])
  })
})
