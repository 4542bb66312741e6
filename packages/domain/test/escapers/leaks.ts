import fc from 'fast-check'
import { createRedactor } from '../../src/secrets/redact.ts'
import { secretReference } from '../../src/secrets/secret-reference.ts'
import { checkSecretValue } from '../../src/secrets/secret-value.ts'
import type { Escaped, Escapers } from './escapers.ts'

const printable = fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code))
const letters = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789')
const marks = fc.constantFrom(...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~ ')
const latin = fc.integer({ min: 0xa1, max: 0xff }).map(code => String.fromCharCode(code))
const blanks = fc.constantFrom('\t', '\n', '\r\n', ' ', '  ', '\u00a0', '=', '\\')
const size = { minLength: 4, maxLength: 48 }

/** Values of secrets of every shape: passwords, keys in base64, words of any script, lines. fast-check needs a second for URLs. */
const secretValue = () =>
  fc
    .oneof(
      fc.string({ ...size, unit: printable }),
      fc.string({ ...size, unit: marks }),
      fc.string({ ...size, unit: fc.oneof(letters, marks) }),
      fc.string({ ...size, unit: fc.oneof(letters, latin, marks) }),
      fc.string({ ...size, unit: 'grapheme' }),
      fc.string({ ...size, unit: fc.oneof(letters, blanks) }),
      fc.uint8Array({ minLength: 6, maxLength: 40 }).map(bytes => Buffer.from(bytes).toString('base64')),
      fc.tuple(fc.webUrl(), letters).map(([url, letter]) => url.replace('//', `//${letter}:p%40ss'+&@`)),
    )
    // No program writes a value with a NUL, and PHP takes `\n\r` for one line end.
    .filter(text => checkSecretValue(text) === null && !text.includes('\0') && !text.includes('\n\r'))

/** Returns values of secrets. */
export function sampleValues(count: number, seed: number): string[] {
  return fc.sample(secretValue(), { numRuns: count, seed })
}

/** A value that a response shows, in spite of redaction, as an escaper writes it. */
export type Leak = { value: string; escaper: string; escaped: string; redacted: string }

const put = secretReference('S')
// html/template writes this in place of a value that would run as a program.
const refused = 'ZgotmplZ'

/** Returns the values that redaction does not hide in what the escapers make of them. */
export async function leaksOf(escapers: Escapers, values: readonly string[]): Promise<Leak[]> {
  const all = escapers.escape([shortest, ...values])
  if (all.length !== values.length + 1)
    throw new Error(`${escapers.name} wrote ${all.length - 1} of ${values.length} values.`)
  const [around = {}, ...escaped] = all
  return (await Promise.all(values.map((value, i) => leaksOfOne(value, escaped[i] ?? {}, around)))).flat()
}

/** @param around - What the escapers make of `shortest`: the text around a value is about as long. */
export async function leaksOfOne(value: string, texts: Escaped, around: Escaped): Promise<Leak[]> {
  const { text } = createRedactor([{ name: 'S', value }])
  const leaks = Object.entries(texts).map(async ([escaper, escaped]) => {
    if (escaped.includes(refused)) return []
    const redacted = await text(`before ${escaped} after`)
    const rest = redacted.replaceAll(put, '').length - 'before  after'.length
    const isHidden = redacted.includes(put) && rest <= (around[escaper] ?? '').length + maxMore
    return isHidden ? [] : [{ value, escaper, escaped, redacted }]
  })
  return (await Promise.all(leaks)).flat()
}

/** The shortest value of a secret. */
export const shortest = 'xxxx'

// Quotes, and the digits of base64 that also hold bits of another byte.
const maxMore = 12
