import { join } from 'node:path'
import { mysql, once, onceInPool, onceInRedis, postgres, type Run, sqlite } from '@belfry/once'
import { hasMariadb, startMariadb, startRedis } from '@belfry/test-support/servers'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { createPool, type RowDataPacket } from 'mysql2/promise'
import pg from 'pg'
import type { Effect } from './count-effects.ts'

/** A database in which a receiver has its effects. */
export type Store = {
  /** Starts and prepares it. Returns its URL for the receiver. @param shopUrl - A PostgreSQL that exists anyway. */
  open(folder: string, shopUrl: string): Promise<{ url: string; close(): Promise<unknown> }>
  /** Returns how the receiver handles the order of a webhook. */
  handle(url: string): (id: string, order: number) => unknown
  /** Returns how often each order was handled. */
  effects(url: string): Promise<Effect[]>
}

const createEffects = 'CREATE TABLE effects (number integer NOT NULL)'
const insertEffect = 'INSERT INTO effects (number) VALUES '
const countEffects = 'SELECT number, count(*) AS times FROM effects GROUP BY number'

type Counted = { number: number; times: number }

const toEffects = (rows: readonly Counted[]) =>
  rows.map(({ number, times }) => ({ order: Number(number), times: Number(times) }))

const inPostgres: Omit<Store, 'handle'> = {
  async open(_folder, url) {
    const pool = new pg.Pool({ connectionString: url })
    await pool.query(`${postgres.createTable}; ${createEffects}`)
    await pool.end()
    return { url, close: async () => {} }
  },
  async effects(url) {
    const pool = new pg.Pool({ connectionString: url })
    const { rows } = await pool.query<Counted>(countEffects)
    await pool.end()
    return toEffects(rows)
  },
}

export type StoreName = 'pg' | 'sqlite' | 'mysql' | 'redis' | 'none'

export const stores: Record<StoreName, Store> = {
  pg: {
    ...inPostgres,
    handle(url) {
      const pool = new pg.Pool({ connectionString: url })
      return (id, order) => onceInPool(pool, id, client => client.query(`${insertEffect}($1)`, [order]).then(() => {}))
    },
  },

  /** Without once(): has double effects, which shows that the proof finds them. */
  none: {
    ...inPostgres,
    handle(url) {
      const pool = new pg.Pool({ connectionString: url })
      return (_id, order) => pool.query(`${insertEffect}($1)`, [order])
    },
  },

  sqlite: {
    async open(folder) {
      const url = join(folder, 'effects.db')
      const db = new Database(url)
      db.exec(`PRAGMA journal_mode = WAL; ${createEffects}; ${sqlite.createTable}`)
      db.close()
      return { url, close: async () => {} }
    },
    handle(url) {
      const db = new Database(url, { timeout: 5_000 })
      const insert = db.prepare(`${insertEffect}(?)`)
      const run: Run<unknown[]> = (text, ...values) => db.prepare(text.join('?')).all(...values)
      const receive = db.transaction((id: string, order: number) => once(run, id, () => void insert.run(order), sqlite))
      return receive.immediate
    },
    effects: async url => toEffects(new Database(url).prepare(countEffects).all() as Counted[]),
  },

  mysql: {
    async open(folder) {
      if (!hasMariadb) throw new Error('There is no mariadbd: install mariadb-server-core.')
      const { url, stop } = await startMariadb(join(folder, 'mariadb'))
      const pool = createPool(url)
      for (const statement of [createEffects, mysql.createTable]) await pool.query(statement)
      await pool.end()
      return { url, close: stop }
    },
    handle(url) {
      const pool = createPool(url)
      return async (id, order) => {
        const connection = await pool.getConnection()
        try {
          await connection.beginTransaction()
          await once(
            (text, ...values) => connection.query(text.join('?'), values),
            id,
            () => connection.query(`${insertEffect}(?)`, [order]).then(() => {}),
            mysql,
          )
          await connection.commit()
        } catch (error) {
          await connection.rollback()
          throw error
        } finally {
          connection.release()
        }
      }
    },
    async effects(url) {
      const pool = createPool(url)
      const [rows] = await pool.query<Array<RowDataPacket & Counted>>(countEffects)
      await pool.end()
      return toEffects(rows)
    },
  },

  redis: {
    async open(folder) {
      const { url, stop } = await startRedis({ dataDir: join(folder, 'effects'), persist: true })
      return { url, close: stop }
    },
    handle(url) {
      const redis = new Redis(url)
      return (id, order) =>
        onceInRedis(([name, ...args]) => redis.call(name, ...args), id, [['HINCRBY', 'effects', String(order), '1']])
    },
    async effects(url) {
      const redis = new Redis(url)
      const effects = await redis.hgetall('effects')
      redis.disconnect()
      return toEffects(
        Object.entries(effects).map(([number, times]) => ({ number: Number(number), times: Number(times) })),
      )
    },
  },
}
