import { PrismaPg } from '@prisma/adapter-pg'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Kysely, sql as kyselySql, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { once, onceInPool } from '../src/index.ts'
import type { Receive } from './receive.ts'

// Belfry's own: its models do not matter here. A package may not import the files of another one.
const generated = new URL('../../../prisma/src/generated/client.ts', import.meta.url)
const { PrismaClient }: { PrismaClient: new (options: { adapter: PrismaPg }) => Prisma } = await import(generated.href)

type Prisma = { $transaction<Result>(work: (tx: PrismaTransaction) => Promise<Result>): Promise<Result> }
type PrismaTransaction = {
  $queryRaw(text: TemplateStringsArray, ...values: unknown[]): Promise<unknown>
  $executeRawUnsafe(text: string): Promise<number>
}

/** How each library for PostgreSQL does the work of a webhook once. */
export const postgresLibraries: Record<string, (pool: pg.Pool, url: string) => Receive> = {
  pg: pool => (id, work) => onceInPool(pool, id, client => work(text => client.query(text))),
  Prisma: (_pool, url) => {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: 30 }) })
    return (id, work) =>
      prisma.$transaction(tx =>
        once(
          (...query) => tx.$queryRaw(...query),
          id,
          () => work(text => tx.$executeRawUnsafe(text)),
        ),
      )
  },
  Drizzle: pool => {
    const db = drizzle(pool)
    return (id, work) =>
      db.transaction(tx =>
        once(
          (...query) => tx.execute(drizzleSql(...query)),
          id,
          () => work(text => tx.execute(text)),
        ),
      )
  },
  Kysely: pool => {
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
    return (id, work) =>
      db.transaction().execute(tx =>
        once(
          (...query) => kyselySql(...query).execute(tx),
          id,
          () => work(text => kyselySql.raw(text).execute(tx)),
        ),
      )
  },
}
