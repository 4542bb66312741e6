import { randomBytes } from 'node:crypto'

// Random, so that no text of a caller can be taken for a place where a piece of raw JSON belongs.
const mark = randomBytes(12).toString('hex')
const places = new RegExp(`"${mark}:(\\d+)"`, 'g')
// Of the answer that is being serialised. Told by toJSON and not by a replacer, which would be called for every member.
let raw: string[] = []

/** A piece of JSON text that goes into an answer as it is: a payload keeps its numbers, key order and spelling. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toJSON(): string {
    return `${mark}:${raw.push(this.text) - 1}`
  }
}

/** Serialises an answer. */
export function toJsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  raw = []
  const text = JSON.stringify(value)
  const pieces = raw
  return pieces.length === 0 ? text : text.replace(places, (_match, index) => pieces[Number(index)] ?? 'null')
}
