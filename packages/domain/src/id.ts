import { randomFillSync } from 'node:crypto'

/** The kinds of thing that have an id, by its prefix. */
export type IdKind =
  | ('org' | 'ws' | 'user' | 'task' | 'cron' | 'evt' | 'run' | 'key' | 'sec' | 'inv' | 'int' | 'sub')
  /** Work in the background. */
  | 'op'
  | 'aud'
  | 'msg'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const textLength = 26

// The tables exist for speed: an id is converted several times for each task.
const pairs = Array.from({ length: 1024 }, (_, value) => `${alphabet[value >> 5]}${alphabet[value & 31]}`)
const values = Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)))

const digits = Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0)
const places = [...'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'].flatMap((character, at) => (character === 'x' ? [at] : []))

const uuidBytes = 16
const pool = Buffer.alloc(256 * uuidBytes)
let used = pool.length

// The ids of one millisecond count up from here; a random start leaves room for 2,048 of them.
let sequenceMs = -1
let sequence = 0

/**
 * Makes a UUIDv7, lower-case with dashes. Ids sort by their time; those that one process makes in one millisecond sort in
 * the order in which they were made, 2,048 of them at least.
 */
export function newUuid(now = Date.now()): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  sequence = now === sequenceMs ? Math.min(sequence + 1, 0xfff) : pool.readUInt16BE(used + 6) & 0x7ff
  sequenceMs = now
  pool.writeUIntBE(now, used, 6)
  pool.writeUInt16BE(0x7000 | sequence, used + 6)
  pool.writeUInt8(0x80 | (pool.readUInt8(used + 8) & 0x3f), used + 8)
  const hex = pool.toString('hex', used, used + uuidBytes)
  used += uuidBytes
  return withDashes(hex)
}

/** Writes a UUID as the id that callers see: its kind and 26 characters of base32. */
export function toId(kind: IdKind, uuid: string): string {
  let text = `${kind}_${pair((digit(uuid, 0) << 4) | digit(uuid, 1))}`
  for (let i = 2; i < 32; i += 5) {
    let bits = 0
    for (let j = i; j < i + 5; j++) bits = (bits << 4) | digit(uuid, j)
    text += pair(bits >> 10) + pair(bits & 1023)
  }
  return text
}

/** Reads an id of one kind back into its UUID, and gives null for every text that `toId` cannot have written. */
export function fromId(kind: IdKind, text: string): string | null {
  const start = kind.length + 1
  if (text.length !== start + textLength || !text.startsWith(`${kind}_`)) return null
  const head = bitsOf(text, start, 2)
  if (head < 0 || head > 255) return null
  let hex = toHex(head, 2)
  for (let i = start + 2; i < text.length; i += 4) {
    const bits = bitsOf(text, i, 4)
    if (bits < 0) return null
    hex += toHex(bits, 5)
  }
  return withDashes(hex)
}

// The hexadecimal digit of a UUID that is the nth without the dashes.
function digit(uuid: string, n: number): number {
  return digits[uuid.charCodeAt(places[n] ?? 0)] ?? 0
}

function pair(value: number): string {
  return pairs[value] ?? ''
}

// Negative when one of the characters is not of the alphabet.
function bitsOf(text: string, start: number, count: number): number {
  let bits = 0
  for (let i = start; i < start + count; i++) {
    const value = values[text.charCodeAt(i)] ?? -1
    if (value < 0) return -1
    bits = (bits << 5) | value
  }
  return bits
}

function toHex(bits: number, digits: number): string {
  return bits.toString(16).padStart(digits, '0')
}

function withDashes(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
