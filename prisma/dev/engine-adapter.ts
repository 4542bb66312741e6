import { PrismaPg } from '@prisma/adapter-pg'
import { ColumnTypeEnum, DriverAdapterError, type SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { describePosition } from '../src/migrate/apply-migration.ts'

// The one-letter type in which the catalogs keep enumerations such as pg_constraint.contype.
const charOid = 18
const textOid = 25

/** Connects Prisma's own adapter, with fixes for the migration engine. */
export async function connectEngineAdapter(databaseUrl: string): Promise<SqlDriverAdapter> {
  const adapter = await new PrismaPg(databaseUrl).connect()
  const pool = adapter.underlyingDriver()
  const send = pool.query.bind(pool)
  const charColumns = declareCharAsText(pool, send)
  let ended: Promise<void> | undefined
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    async queryRaw(query) {
      const result = await adapter.queryRaw(query)
      const isChar = charColumns.get(result.rows)
      const columnTypes = result.columnTypes.map((type, i) => (isChar?.[i] ? ColumnTypeEnum.Character : type))
      return { ...result, columnTypes }
    },
    executeRaw: query => adapter.executeRaw(query),
    executeScript: script => executeScript(send, script),
    startTransaction: level => adapter.startTransaction(level),
    getConnectionInfo: () => adapter.getConnectionInfo(),
    // The engine may dispose of it too, and a pool can end only once.
    dispose() {
      ended ??= adapter.dispose()
      return ended
    },
  }
}

// PrismaPg rejects the type "char", which the catalogs use. So this declares such columns as text, and the map records them
// by their rows: the engine needs their real type, or it panics.
function declareCharAsText(pool: pg.Pool, send: pg.Pool['query']): WeakMap<unknown[][], boolean[]> {
  const charColumns = new WeakMap<unknown[][], boolean[]>()
  Object.assign(pool, {
    async query(config: pg.QueryArrayConfig) {
      const result = await send(config)
      const isChar = result.fields.map(field => field.dataTypeID === charOid)
      charColumns.set(result.rows, isChar)
      for (const field of result.fields) if (field.dataTypeID === charOid) field.dataTypeID = textOid
      return result
    },
  })
  return charColumns
}

// PrismaPg splits a script at each semicolon, even within a function, and runs the parts on different connections. Sent
// as a whole, the script is one transaction. PrismaPg also maps errors to kinds: the engine does not know all of them,
// and its messages for the others are less precise than PostgreSQL's.
async function executeScript(send: pg.Pool['query'], script: string): Promise<void> {
  try {
    await send(script)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    throw new DriverAdapterError({
      kind: 'postgres',
      code: '',
      severity: error.severity ?? '',
      message: error.message + describePosition(script, error.position),
      detail: error.detail,
      column: error.column,
      hint: error.hint,
    })
  }
}
