/**
 * A period without a clock change in a zone. `jumpMs` is the clock change at its start: positive when forward, 0 at a
 * chunk boundary.
 */
export type ZonePiece = { fromMs: number; toMs: number; offsetMs: number; jumpMs: number }

const dayMs = 86_400_000
// Time is computed in chunks, so an occurrence in a distant year is as cheap as one tomorrow.
const chunkMs = 60 * dayMs
// From 1900 to 2100 no zone changes its clocks twice within less than a week.
const sampleMs = 5 * dayMs
const maxKeptChunks = 50_000
const maxZoneLength = 64

const chunks = new Map<string, ZonePiece[]>()
const formats = new Map<string, Intl.DateTimeFormat>()

// ICU also knows names of Java 1.1, such as ART for Cairo, and names that the database had once.
const otherNames = /^([a-z]{3}|systemv\/.*|us\/pacific-new|canada\/east-saskatchewan)$/i
const shortNames = /^(utc|gmt|uct|est|mst|hst|cet|met|eet|wet|prc|roc|rok)$/i

/** Returns whether a name is in the IANA time zone database. */
export function isTimeZone(name: string): boolean {
  if (name.length > maxZoneLength || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  if (otherNames.test(name) && !shortNames.test(name)) return false
  try {
    formatOf(name)
    return true
  } catch {
    return false // Intl throws for unknown names
  }
}

/** Returns the piece of a zone's time that contains an instant. */
export function pieceAt(zone: string, instantMs: number): ZonePiece {
  const pieces = chunkOf(zone, Math.floor(instantMs / chunkMs))
  const piece = pieces.findLast(({ fromMs }) => fromMs <= instantMs)
  if (!piece) throw new Error(`The time zone ${zone} has no offset at ${instantMs}.`)
  return piece
}

/** Returns whether a local time within a piece occurs again after it, because clocks go back. */
export function occursAgain(zone: string, { toMs, offsetMs }: ZonePiece, localMs: number): boolean {
  return localMs >= toMs + offsetMs + pieceAt(zone, toMs).jumpMs
}

function chunkOf(zone: string, number: number): ZonePiece[] {
  const key = `${zone.toLowerCase()} ${number}`
  const known = chunks.get(key)
  if (known) return known
  const pieces = scan(formatOf(zone), number * chunkMs, (number + 1) * chunkMs)
  if (chunks.size === maxKeptChunks) chunks.clear()
  chunks.set(key, pieces)
  return pieces
}

function scan(format: Intl.DateTimeFormat, fromMs: number, toMs: number): ZonePiece[] {
  const pieces: ZonePiece[] = []
  let offsetMs = offsetAt(format, fromMs)
  let piece = { fromMs, toMs, offsetMs, jumpMs: offsetMs - offsetAt(format, fromMs - 1000) }
  for (let at = fromMs + sampleMs; at <= toMs; at += sampleMs) {
    const next = offsetAt(format, at === toMs ? at - 1000 : at)
    if (next === offsetMs) continue
    const changeMs = findChange(format, at - sampleMs, at)
    pieces.push({ fromMs: piece.fromMs, toMs: changeMs, offsetMs: piece.offsetMs, jumpMs: piece.jumpMs })
    piece = { fromMs: changeMs, toMs, offsetMs: next, jumpMs: next - offsetMs }
    offsetMs = next
  }
  return [...pieces, piece]
}

// Clocks change on whole seconds.
function findChange(format: Intl.DateTimeFormat, beforeMs: number, afterMs: number): number {
  const before = offsetAt(format, beforeMs)
  let low = beforeMs / 1000
  let high = afterMs / 1000
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(format, middle * 1000) === before) low = middle
    else high = middle
  }
  return high * 1000
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const key = zone.toLowerCase() // Intl ignores case: one entry for all spellings
  const known = formats.get(key)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' })
  formats.set(key, format)
  return format
}

function offsetAt(format: Intl.DateTimeFormat, instantMs: number): number {
  const parts = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instantMs))
  const [sign, hours = '0', minutes = '0', seconds = '0'] = parts?.slice(1) ?? []
  return (sign === '-' ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))
}
