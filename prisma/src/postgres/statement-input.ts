/** A column of a statement's input rows: its name, its SQL type, and the value of an item. Undefined counts as NULL. */
export type InputColumn<Item> = readonly [name: string, type: string, of: (item: Item) => unknown]

/**
 * Returns the input rows of a statement, as a query. Each column is one of the first parameters, an array. So the statement
 * is the same for any number of rows, and PostgreSQL prepares and plans it once.
 */
export function inputRows<Item>(columns: ReadonlyArray<InputColumn<Item>>): string {
  const arrays = columns.map(([, type], i) => `$${i + 1}::${hasBinaryForm(type) ? '' : 'text[]::'}${type}[]`)
  return `SELECT * FROM unnest(${arrays.join(', ')}) AS input (${columns.map(([name]) => name).join(', ')})`
}

/** Returns the parameters for `inputRows`. Enumerations, whose oids differ between databases, are arrays of texts. */
export function inputValues<Item>(columns: ReadonlyArray<InputColumn<Item>>, items: readonly Item[]): Buffer[] {
  return columns.map(([, type, of]) => toBinaryArray(hasBinaryForm(type) ? type : 'text', items, of))
}

/** Returns one array for each of some fields of rows: the parameters of `unnest`. */
export function arraysOf<Row>(rows: readonly Row[], ...fields: Array<keyof Row>): unknown[][] {
  return fields.map(field => rows.map(row => row[field]))
}

// PostgreSQL's binary format of arrays, written by hand: docs/decisions/0021-send-arrays-in-binary-form.md has the figures.

type Encoding<T> = {
  oid: number
  maxBytes(value: T): number
  /** Writes a value as the type's receive function reads it, and returns its length in bytes. */
  write(to: Buffer, value: T, at: number): number
}

const notADigit = 0x80

const encodings = {
  bool: encoding<boolean>(16, 1, (to, value, at) => to.writeUInt8(value ? 1 : 0, at)),
  bytea: { oid: 17, maxBytes: value => value.length, write: writeBytes } satisfies Encoding<Uint8Array>,
  int8: encoding<bigint>(20, 8, (to, value, at) => to.writeBigInt64BE(value, at)),
  int2: encoding<number>(21, 2, (to, value, at) => to.writeInt16BE(value, at)),
  int4: encoding<number>(23, 4, (to, value, at) => to.writeInt32BE(value, at)),
  text: {
    oid: 25,
    maxBytes: value => value.length * 3,
    write: (to, value, at) => to.write(value, at),
  } satisfies Encoding<string>,
  float8: encoding<number>(701, 8, (to, value, at) => to.writeDoubleBE(value, at)),
  timestamptz: encoding<Date>(1184, 8, writeInstant),
  uuid: encoding<string>(2950, 16, writeUuid),
}

function hasBinaryForm(type: string): type is keyof typeof encodings {
  return type in encodings
}

const keptBytes = 256 * 1024
// Arrays are written here, one at a time, and copied when their length is known.
let draft = Buffer.allocUnsafeSlow(keptBytes)

/**
 * Returns an array of an SQL type as PostgreSQL's `array_recv` reads it; null and undefined become NULL. node-postgres sends
 * a parameter that is a Buffer in binary form.
 * @param of - Returns the value of an item: a `Date` for timestamptz, a `bigint` for int8, bytes for bytea, otherwise what the
 * name says.
 */
function toBinaryArray<Item>(type: keyof typeof encodings, items: readonly Item[], of: (item: Item) => unknown) {
  const { oid, maxBytes, write } = encodings[type] as Encoding<unknown> // the column names the type of its values
  let at = 0
  // The number of dimensions, whether there are NULLs, the type, the length, and the index of the first element.
  for (const word of [1, 1, oid, items.length, 1]) at = draft.writeInt32BE(word, at)
  for (const item of items) {
    const value = of(item)
    if (value === null || value === undefined) {
      at = reserve(at + 4).writeInt32BE(-1, at)
    } else {
      const to = reserve(at + 4 + maxBytes(value))
      const bytes = write(to, value, at + 4)
      at = to.writeInt32BE(bytes, at) + bytes
    }
  }
  const array = Buffer.from(draft.subarray(0, at))
  if (draft.length > keptBytes) draft = Buffer.allocUnsafeSlow(keptBytes)
  return array
}

function reserve(bytes: number): Buffer {
  if (bytes > draft.length) {
    const longer = Buffer.allocUnsafeSlow(2 * bytes)
    draft.copy(longer)
    draft = longer
  }
  return draft
}

function encoding<T>(oid: number, bytes: number, write: (to: Buffer, value: T, at: number) => void): Encoding<T> {
  return {
    oid,
    maxBytes: () => bytes,
    write(to, value, at) {
      write(to, value, at)
      return bytes
    },
  }
}

function writeBytes(to: Buffer, value: Uint8Array, at: number): number {
  to.set(value, at)
  return value.length
}

const digits = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(value) ? notADigit : value
})
// Where the bytes of a UUID begin in its text.
const pairs = Uint8Array.from([0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34])

function writeUuid(to: Buffer, value: string, at: number): void {
  let seen = value.length === 36 ? 0 : notADigit
  for (let i = 0; i < 16; i++) {
    const from = pairs[i] ?? 0
    const high = digits[value.charCodeAt(from)] ?? notADigit
    const low = digits[value.charCodeAt(from + 1)] ?? notADigit
    seen |= high | low
    to[at + i] = (high << 4) | low
  }
  if (seen & notADigit) throw new TypeError(`${value} is not a UUID.`)
}

const epochOfPostgres = Date.UTC(2000, 0)
const word = 2 ** 32

// Microseconds since 2000, in two words: a number cannot hold all of them exactly.
function writeInstant(to: Buffer, value: Date, at: number): void {
  const ms = value.getTime() - epochOfPostgres
  const high = Math.floor(ms / word)
  const low = (ms - high * word) * 1000
  const carry = Math.floor(low / word)
  to.writeInt32BE(high * 1000 + carry, at)
  to.writeUInt32BE(low - carry * word, at + 4)
}
