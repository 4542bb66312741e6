import type { Backoff, RunStatus, TaskSource, TaskState } from '../generated/enums.ts'

/** What a value of each SQL type is here. */
type Values = {
  uuid: string
  text: string
  bytea: Uint8Array
  bool: boolean
  int2: number
  int4: number
  int8: bigint
  float8: number
  timestamptz: Date
  backoff: Backoff
  run_status: RunStatus
  task_source: TaskSource
  task_state: TaskState
}
type Enumeration = 'backoff' | 'run_status' | 'task_source' | 'task_state'
type Type = keyof Values

/** A column of the rows that a statement gets: its name, its SQL type, and what an item has there; undefined counts as NULL. */
export type InputColumn<Item> = {
  [T in Type]: readonly [name: string, type: T, of: (item: Item) => Values[T] | null | undefined]
}[Type]

/**
 * Writes the rows that a statement gets, as a query. Each column is one of its first parameters, so that the statement is
 * the same for any number of rows, and is prepared and planned once.
 */
export function inputRows<Item>(columns: ReadonlyArray<InputColumn<Item>>): string {
  const arrays = columns.map(([, type], i) => `$${i + 1}::${type}[]`)
  return `SELECT * FROM unnest(${arrays.join(', ')}) AS input (${columns.map(([name]) => name).join(', ')})`
}

/** The parameters for `inputRows`. */
export function inputValues<Item>(
  columns: ReadonlyArray<InputColumn<Item>>,
  items: readonly Item[],
): Array<Buffer | string> {
  return columns.map(([, type, of]) => {
    if (type in encodings) return toBinary(encodings[type as 'text'], items, of as (item: Item) => string | null)
    return `{${items.map(item => of(item) ?? 'NULL').join()}}` // names of enumerations need no quotes
  })
}

type Encoding<T extends Type> = {
  /** Of the type in pg_type. */
  oid: number
  mostBytes(value: Values[T]): number
  /** Tells how many bytes it wrote. */
  write(to: Buffer, value: Values[T], at: number): number
}

// As PostgreSQL's receive functions read them. Enumerations have other oids in each database, so they go as texts.
const encodings: { [T in Exclude<Type, Enumeration>]: Encoding<T> } = {
  bool: { oid: 16, mostBytes: () => 1, write: (to, value, at) => to.writeUInt8(value ? 1 : 0, at) - at },
  bytea: { oid: 17, mostBytes: value => value.length, write: writeBytes },
  int8: { oid: 20, mostBytes: () => 8, write: (to, value, at) => to.writeBigInt64BE(value, at) - at },
  int2: { oid: 21, mostBytes: () => 2, write: (to, value, at) => to.writeInt16BE(value, at) - at },
  int4: { oid: 23, mostBytes: () => 4, write: (to, value, at) => to.writeInt32BE(value, at) - at },
  text: { oid: 25, mostBytes: value => value.length * 3, write: (to, value, at) => to.write(value, at) },
  float8: { oid: 701, mostBytes: () => 8, write: (to, value, at) => to.writeDoubleBE(value, at) - at },
  timestamptz: { oid: 1184, mostBytes: () => 8, write: writeInstant },
  uuid: { oid: 2950, mostBytes: () => 16, write: writeUuid },
}

const usualBytes = 256 * 1024
// Arrays are written here, one at a time, and copied when their length is known.
let draft = Buffer.allocUnsafeSlow(usualBytes)

function reserve(bytes: number): Buffer {
  if (bytes > draft.length) {
    const longer = Buffer.allocUnsafeSlow(2 * bytes)
    draft.copy(longer)
    draft = longer
  }
  return draft
}

// node-postgres sends what is a Buffer in the binary format. It saves escaping texts here and parsing them there.
function toBinary<T extends Type, Item>(
  encoding: Encoding<T>,
  items: readonly Item[],
  of: (item: Item) => Values[T] | null | undefined,
): Buffer {
  let at = 0
  const header = [1, 1, encoding.oid, items.length, 1] // dimensions, NULLs or none, type, length, index of the first
  for (const word of header) at = draft.writeInt32BE(word, at)
  for (const item of items) {
    const value = of(item)
    if (value === null || value === undefined) {
      at = reserve(at + 4).writeInt32BE(-1, at)
    } else {
      const to = reserve(at + 4 + encoding.mostBytes(value))
      const bytes = encoding.write(to, value, at + 4)
      at = to.writeInt32BE(bytes, at) + bytes
    }
  }
  const array = Buffer.from(draft.subarray(0, at))
  if (draft.length > usualBytes) draft = Buffer.allocUnsafeSlow(usualBytes)
  return array
}

function writeBytes(to: Buffer, value: Uint8Array, at: number): number {
  to.set(value, at)
  return value.length
}

// Where each byte stands in the text.
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const digits = new Int8Array(128).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = digits[digit.toUpperCase().charCodeAt(0)] = value
}

function writeUuid(to: Buffer, value: string, at: number): number {
  let signs = 0
  for (let i = 0; i < 16; i++) {
    const place = places[i] ?? 0
    const byte = ((digits[value.charCodeAt(place)] ?? -1) << 4) | (digits[value.charCodeAt(place + 1)] ?? -1)
    signs |= byte
    to[at + i] = byte
  }
  if (signs < 0) throw new TypeError(`${value} is not a UUID.`)
  return 16
}

const epochOfPostgres = Date.UTC(2000, 0)

// Microseconds, which a double holds exactly for three centuries.
function writeInstant(to: Buffer, value: Date, at: number): number {
  const microseconds = (value.getTime() - epochOfPostgres) * 1000
  to.writeInt32BE(Math.floor(microseconds / 2 ** 32), at)
  to.writeUInt32BE(((microseconds % 2 ** 32) + 2 ** 32) % 2 ** 32, at + 4)
  return 8
}
