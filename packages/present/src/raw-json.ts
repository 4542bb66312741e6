import { randomBytes } from 'node:crypto'

// Marks the places of raw JSON. Random, so a caller's text cannot contain it.
const mark = randomBytes(12).toString('hex')
// The pieces of the response that is being serialized. `toJSON` adds them: a replacer would be called for every member.
let pieces: string[] = []

/** JSON text that goes into a response unchanged: a payload keeps its numbers, key order and formatting. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toJSON(): string {
    pieces.push(this.text)
    return mark
  }
}

export function toJsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  pieces = []
  const text = JSON.stringify(value)
  if (pieces.length === 0) return text
  let whole = ''
  let from = 0
  for (const piece of pieces) {
    const at = text.indexOf(mark, from) // the places are in the order of the pieces
    whole += text.slice(from, at - 1) + piece
    from = at + mark.length + 1
  }
  return whole + text.slice(from)
}
