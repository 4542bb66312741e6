import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { type InputColumn, inputRows, inputValues } from '../src/postgres/statement-input.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()

async function roundTrip<T>(column: InputColumn<T>, items: readonly T[]): Promise<unknown[]> {
  const { rows } = await db.pool.query(inputRows([column]), inputValues([column], items))
  return rows.map(row => row[column[0]])
}

const ids = Array.from({ length: 50 }, () => randomUUID())
const times = [Date.UTC(1970), Date.UTC(1999, 11, 31) + 1, Date.UTC(2000), Date.UTC(2026, 10, 22) + 7, Date.UTC(2260)]

it.each<[string, InputColumn<never>, readonly unknown[]]>([
  ['uuid', ['it', 'uuid', (item: string) => item], ids],
  [
    'text',
    ['it', 'text', (item: string) => item],
    ['', 'NULL', '{"a":"b\\"}', 'grüße 🚀', '\u0001', '𝟘'.repeat(100_000)],
  ],
  ['bytea', ['it', 'bytea', (item: Buffer) => item], [Buffer.alloc(0), Buffer.from([0, 255, 92, 34])]],
  ['bool', ['it', 'bool', (item: boolean) => item], [true, false]],
  ['int2', ['it', 'int2', (item: number) => item], [-32_768, -1, 0, 200, 32_767]],
  ['int4', ['it', 'int4', (item: number) => item], [-(2 ** 31), -1, 0, 2 ** 31 - 1]],
  ['float8', ['it', 'float8', (item: number) => item], [-0.5, 0, 1 / 3, 2 ** 53, 1e300]],
  ['timestamptz', ['it', 'timestamptz', (item: Date) => item], times.map(time => new Date(time))],
  ['task_state', ['it', 'task_state', (item: 'dead') => item], ['pending', 'dead', 'success']],
])('%s and NULL arrive unchanged', async (_type, column, items) => {
  const some = [null, ...items, undefined] as never[]
  expect(await roundTrip(column, some)).toEqual([null, ...items, null])
  expect(await roundTrip(column, [])).toEqual([])
})

it('int8 arrives unchanged', async () => {
  const items = [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n]
  expect(await roundTrip<bigint>(['it', 'int8', item => item], items)).toEqual(items.map(String))
})

it('keeps the columns of a row together', async () => {
  const columns: ReadonlyArray<InputColumn<number>> = [
    ['id', 'uuid', n => ids[n]],
    ['name', 'text', n => (n % 3 ? `${n}` : null)],
    ['state', 'task_state', n => (n % 2 ? 'dead' : 'pending')],
  ]
  const { rows } = await db.pool.query(inputRows(columns), inputValues(columns, [...ids.keys()]))
  expect(rows).toEqual(ids.map((id, n) => ({ id, name: n % 3 ? `${n}` : null, state: n % 2 ? 'dead' : 'pending' })))
})

it.each(['', 'x', `${ids[0]?.slice(0, 35)}g`, `${ids[0]?.slice(0, 35)}ä`, `${ids[0]}00`])(
  'refuses %j for a UUID',
  text => {
    expect(() => inputValues([['id', 'uuid', (item: string) => item]], [text])).toThrow('is not a UUID')
  },
)

it('sends more bytes than the buffer holds that arrays are written to', async () => {
  const bodies = Array.from({ length: 40 }, (_, n) => Buffer.alloc(64 * 1024, n))
  const rows = (await roundTrip<Buffer>(['it', 'bytea', item => item], bodies)) as Buffer[]
  expect(rows).toHaveLength(40)
  expect(rows.every((row, n) => row.equals(bodies[n] ?? Buffer.alloc(0)))).toBe(true)
})
