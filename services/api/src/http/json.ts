import { randomBytes } from 'node:crypto'

// Random, so that no text of a caller can be taken for a place where a piece of raw JSON belongs.
const mark = randomBytes(12).toString('hex')
// Of the answer that is being serialised. Told by toJSON and not by a replacer, which would be called for every member.
let pieces: string[] = []

/** A piece of JSON text that goes into an answer as it is: a payload keeps its numbers, key order and spelling. */
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

/** Serialises an answer. */
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
