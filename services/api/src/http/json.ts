import { randomBytes } from 'node:crypto'

/** A piece of JSON text that goes into an answer as it is: a payload keeps its numbers, key order and spelling. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

// Random, so that no text of a caller can be taken for a place where a piece of raw JSON belongs.
const mark = randomBytes(12).toString('hex')
const places = new RegExp(`"${mark}:(\\d+)"`, 'g')

/** Serialises an answer. */
export function toJsonText(value: unknown): string {
  const raw: string[] = []
  const text = JSON.stringify(value, (_key, member) =>
    member instanceof RawJson ? `${mark}:${raw.push(member.text) - 1}` : member,
  )
  return raw.length === 0 ? text : text.replace(places, (_match, index) => raw[Number(index)] ?? 'null')
}
