import { expect, it, onTestFinished, vi } from 'vitest'
import { inspectDatabase } from '../src/postgres/inspect-database.ts'
import { openPool } from '../src/postgres/pool.ts'
import { warnOfUnfitDatabase } from '../src/postgres/retry-database.ts'
import { useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()

// The servers of tests need not survive a crash.
it('finds unsafe settings of the server, and of the own role', async () => {
  const found = await inspectDatabase(db.pool)
  expect(found.map(finding => finding.split(':', 1)[0])).toEqual([
    'fsync is off',
    'full_page_writes is off',
    'synchronous_commit is off',
  ])
  const { rows } = await db.pool.query<{ name: string }>('SELECT current_database() AS name')
  await db.pool.query(`ALTER DATABASE "${rows[0]?.name}" SET synchronous_commit = on`)
  const { connectionString = '' } = db.pool.options
  const fresh = openPool(connectionString, { max: 1, onError: () => {} })
  onTestFinished(() => fresh.end())
  expect((await inspectDatabase(fresh)).join()).not.toContain('synchronous_commit')
})

it('logs one line, and a connection error when the server does not answer', async () => {
  const warn = vi.fn()
  await warnOfUnfitDatabase(db.pool, { warn })
  expect(warn.mock.calls).toEqual([[{ advice: expect.arrayContaining([]) }, 'database.unfit']])
  warn.mockClear()
  const away = openPool('postgres://127.0.0.1:1/none', { max: 1, onError: () => {} })
  onTestFinished(() => away.end())
  await warnOfUnfitDatabase(away, { warn })
  expect(warn.mock.calls.map(([, event]) => event)).toEqual(['connection.error'])
})
