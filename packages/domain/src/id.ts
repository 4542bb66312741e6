import { randomFillSync } from 'node:crypto'

/** The kinds of ids, by their prefix. */
export type IdKind =
  | ('org' | 'ws' | 'user' | 'task' | 'cron' | 'evt' | 'run' | 'key' | 'sec' | 'inv' | 'int' | 'sub')
  /** A background operation. */
  | 'op'
  /** A session. */
  | 'ses'
  /** A passkey. */
  | 'pk'
  /** A federated credential. */
  | 'fed'
  | 'aud'
  | 'msg'
  /** A dead letter and a schedule of the QStash interface. */
  | ('dlq' | 'scd')

/** The UUID of nothing. It sorts before every other UUID. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const hexDigits = '0123456789abcdef'
const dash = 0x2d
const underscore = 0x5f

// Each task converts several ids, so conversion writes characters into one buffer.
const written = Buffer.alloc(64)
const letterCodes = codesOf(alphabet)
const hexCodes = codesOf(hexDigits)
const letterValues = valuesOf(alphabet)
const hexValues = valuesOf(hexDigits)
for (const [value, digit] of [...hexDigits.toUpperCase()].entries()) hexValues[digit.charCodeAt(0)] = value
const places = [...'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'].flatMap((character, at) => (character === 'x' ? [at] : []))
const dashes = [8, 13, 18, 23]
const uuidLength = 36
const versionAt = 14
const textLength = 26

const uuidBytes = 16
const pool = Buffer.alloc(256 * uuidBytes)
let used = pool.length

// The ids of one millisecond count up from a random start that leaves at least 2,048 of them.
let sequenceMs = -1
let sequence = 0

/**
 * Returns a new UUIDv7, lower-case with dashes. Ids sort by time. Up to 2,048 ids that one process makes in the same
 * millisecond sort in creation order.
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
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Returns whether a UUID is of a callback: `store_callbacks` gives these version 8 in place of 7, so a pause lets them pass. */
export function isCallbackId(uuid: string): boolean {
  return uuid[versionAt] === '8'
}

/** Returns the time in a UUIDv7, in epoch milliseconds. */
export function timeOfUuid(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

/** Returns a UUID that no later one of a time sorts before, like `uuid_v7_floor`. */
export function firstUuidAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** Formats a UUID as a public id: its kind and 26 characters of base32. */
export function toId(kind: IdKind, uuid: string): string {
  const start = kind.length + 1
  for (let i = 0; i < kind.length; i++) written[i] = kind.charCodeAt(i)
  written[start - 1] = underscore
  writeLetters((hexAt(uuid, 0) << 4) | hexAt(uuid, 1), start, 2)
  for (let n = 2, at = start + 2; n < 32; n += 5, at += 4) {
    let bits = 0
    for (let i = n; i < n + 5; i++) bits = (bits << 4) | hexAt(uuid, i)
    writeLetters(bits, at, 4)
  }
  return written.toString('latin1', 0, start + textLength)
}

/** Parses a public id of one kind into its UUID; returns null for text that `toId` does not produce. */
export function fromId(kind: IdKind, text: string): string | null {
  const start = kind.length + 1
  if (text.length !== start + textLength || !text.startsWith(kind) || text.charCodeAt(start - 1) !== underscore) {
    return null
  }
  const head = bitsOf(text, start, 2)
  if (head < 0 || head > 255) return null
  writeHex(head, 0, 2)
  for (let n = 2, at = start + 2; n < 32; n += 5, at += 4) {
    const bits = bitsOf(text, at, 4)
    if (bits < 0) return null
    writeHex(bits, n, 5)
  }
  for (const at of dashes) written[at] = dash
  return written.toString('latin1', 0, uuidLength)
}

// Returns the nth hexadecimal digit of a UUID, dashes not counted.
function hexAt(uuid: string, n: number): number {
  return hexValues[uuid.charCodeAt(places[n] ?? 0)] ?? 0
}

function writeLetters(bits: number, at: number, count: number): void {
  for (let i = 0; i < count; i++) written[at + i] = letterCodes[(bits >> (5 * (count - 1 - i))) & 31] ?? 0
}

function writeHex(bits: number, n: number, count: number): void {
  for (let i = 0; i < count; i++) written[places[n + i] ?? 0] = hexCodes[(bits >> (4 * (count - 1 - i))) & 15] ?? 0
}

// Returns a negative number when a character is not in the alphabet.
function bitsOf(text: string, start: number, count: number): number {
  let bits = 0
  for (let i = start; i < start + count; i++) {
    const value = letterValues[text.charCodeAt(i)] ?? -1
    if (value < 0) return -1
    bits = (bits << 5) | value
  }
  return bits
}

function codesOf(characters: string): number[] {
  return Array.from(characters, character => character.charCodeAt(0))
}

function valuesOf(characters: string): number[] {
  return Array.from({ length: 128 }, (_, code) => characters.indexOf(String.fromCharCode(code)))
}
