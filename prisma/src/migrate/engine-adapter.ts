import { PrismaPg } from '@prisma/adapter-pg'
import { ColumnTypeEnum, DriverAdapterError, type SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import pg from 'pg'

// The one-letter type in which the catalogs keep enumerations such as pg_constraint.contype.
const charOid = 18
const textOid = 25

/** Connects Prisma's own adapter, mended where the migration engine trips over it. */
export async function connectEngineAdapter(databaseUrl: string): Promise<SqlDriverAdapter> {
  const adapter = await new PrismaPg(databaseUrl).connect()
  const pool = adapter.underlyingDriver()
  const send = pool.query.bind(pool)
  const charColumns = disguiseCharColumns(pool, send)
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
    // The engine may do so itself, and a pool ends only once.
    dispose() {
      ended ??= adapter.dispose()
      return ended
    },
  }
}

// PrismaPg refuses the type "char", without which the engine cannot read the catalogs. So it is shown text, and the map
// remembers by the rows of which columns the engine must be told the truth: taking them for text, it panics.
function disguiseCharColumns(pool: pg.Pool, send: pg.Pool['query']): WeakMap<unknown[][], boolean[]> {
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

// PrismaPg splits the script at every semicolon, even inside a function, and runs the pieces on any connections. Sent
// whole, it is one transaction. It also sorts errors into kinds, not all of which the engine knows; for those that it
// knows, by kind or by code, it has poorer words than PostgreSQL.
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

function describePosition(script: string, position: string | undefined): string {
  if (position === undefined) return ''
  return ` (line ${script.slice(0, Number(position)).split('\n').length})`
}
