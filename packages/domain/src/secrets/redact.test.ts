import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import Handlebars from 'handlebars'
import { describe, expect, it } from 'vitest'
import { createRedactor } from './redact.ts'

const shown = '{{ secrets.S }}'

const inBase64 = (value: string, before: number, after: number) =>
  Buffer.concat([Buffer.alloc(before, 'x'), Buffer.from(value), Buffer.alloc(after, 'y')]).toString('base64')

/** The ways in which a target may echo a value. */
const echoes: Record<string, (value: string) => string> = {
  plain: value => value,
  'percent-encoded': encodeURIComponent,
  'percent-encoded in lower case': value => encodeURIComponent(value).replace(/%../g, hex => hex.toLowerCase()),
  'percent-encoded as a path': encodeURI,
  'as a form': value => new URLSearchParams({ v: value }).toString().slice(2),
  'fully percent-encoded': value => Buffer.from(value).toString('hex').replace(/../g, '%$&'),
  'in JSON': value => JSON.stringify(value).slice(1, -1),
  'in JSON with slashes escaped': value => JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'),
  'in JSON in ASCII': value => inAscii(JSON.stringify(value).slice(1, -1)),
  'in JSON in JSON': value => JSON.stringify(JSON.stringify(value)).slice(3, -3),
  'in HTML': value =>
    value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  'in HTML by Handlebars': value => Handlebars.escapeExpression(value),
  "in HTML by Go's html/template": value =>
    value.replace(
      /[&<>"'+]/g,
      character => ({ '"': '&#34;', "'": '&#39;', '+': '&#43;' })[character] ?? inName(character),
    ),
  'in HTML by PHP': value => value.replace(/[&<>"']/g, character => (character === "'" ? '&#039;' : inName(character))),
  'in HTML with all characters as numbers': value =>
    Array.from(value, c => `&#x${c.codePointAt(0)?.toString(16)};`).join(''),
  'in HTML with accents as names': value =>
    value.replaceAll('&', '&amp;').replaceAll('ë', '&euml;').replaceAll('Ü', '&Uuml;'),
  'in HTML, percent-encoded': value => encodeURIComponent(value.replaceAll('&', '&amp;').replaceAll("'", '&#x27;')),
  'percent-encoded twice': value => encodeURIComponent(encodeURIComponent(value)),
  'percent-encoded three times': value => encodeURIComponent(encodeURIComponent(encodeURIComponent(value))),
  'as a shell argument': value => value.replaceAll("'", "'\\''"),
  'as a shell argument of Python': value => value.replaceAll("'", `'"'"'`),
  'as a string of SQL': value => value.replaceAll("'", "''"),
  'as a field of CSV': value => value.replaceAll('"', '""'),
  'as a string of JavaScript': value =>
    value.replace(/[\0-\x7f]/g, c => (/\w/.test(c) ? c : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)),
  'in octal': value => Array.from(Buffer.from(value), byte => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  'quoted-printable': value =>
    Array.from(Buffer.from(value), byte => {
      return byte > 32 && byte < 127 && byte !== 61
        ? String.fromCharCode(byte)
        : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
      .join('')
      .replace(/.{10}(?!$)(?=[^=])(?<!=.?)/g, '$&=\r\n'),
  'base64 twice': value => inBase64(inBase64(value, 1, 4), 2, 2),
  'base64 in lines': value => inBase64(value, 2, 2).replace(/.{5}/g, '$&\r\n'),
  'base64 of JSON': value => Buffer.from(JSON.stringify({ value })).toString('base64url'),
  'base64 of a form': value => inBase64(encodeURIComponent(value), 1, 1),
  base64: value => inBase64(value, 0, 0),
  'base64 of more, at 1': value => inBase64(value, 1, 1),
  'base64 of more, at 2': value => inBase64(value, 2, 5),
  'base64 of more, at 3': value => inBase64(value, 3, 2),
  'base64 for URLs': value => inBase64(value, 4, 0).replaceAll('+', '-').replaceAll('/', '_'),
  'base64, percent-encoded': value => encodeURIComponent(inBase64(value, 2, 0)),
  hex: value => Buffer.from(value).toString('hex'),
  'hex in capitals': value => Buffer.from(value).toString('hex').toUpperCase(),
}

const awkward = [
  's3cr3t-value',
  'a b+c/d=e&f?g#h%25',
  '"quoted\\" \\\\ back',
  "it's <b>&amp;</b>",
  'tëst-Ünïcode-日本-😀',
  'line\none\ttwo\r\n',
  '%%%%25',
  'aaaaaaaa',
]

it.each(['toUpperCase', 'toLowerCase'] as const)(
  'a value of 12 characters is found after %s, a shorter one is not',
  async to => {
    const hide = (value: string) => createRedactor([{ name: 'S', value }]).text(`x ${value[to]()} y`)
    expect(await hide('Sk-Live-Abfj')).toBe(`x ${'Sk-Live-Abfj'[to]()} y`)
    expect(await hide('Sk-Live/Abfj0')).toBe(`x ${shown} y`)
    expect(
      await createRedactor([{ name: 'S', value: 'Sk-Live/Abfj0' }]).text(encodeURIComponent('Sk-Live/Abfj0'[to]())),
    ).toBe(shown)
  },
)

describe.each(Object.entries(echoes))('a value that is echoed %s', (name, echo) => {
  it.each(awkward)('is redacted: %j', async value => {
    const redactor = createRedactor([{ name: 'S', value }])
    // In base64 the adjacent bytes share characters with it.
    const text = `before:${echo(value)}:after`
    const redacted = await redactor.text(text)
    expect(redacted).toContain(shown)
    expect(redacted).not.toContain(echo(value))
    if (!name.startsWith('base64')) expect(redacted).toBe(`before:${shown}:after`)
    expect((await redactor.bytes(Buffer.from(text), false)).toString()).toBe(redacted)
  })
})

describe('redaction', () => {
  it('finds any value in any text, in each spelling', async () => {
    const values = fc
      .string({ minLength: 4, maxLength: 60, unit: 'grapheme' })
      .filter(value => value.trim().length >= 4)
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.string(),
        fc.string(),
        fc.constantFrom(...Object.values(echoes)),
        async (value, a, b, echo) => {
          const redacted = await createRedactor([{ name: 'S', value }]).bytes(
            Buffer.from(`${a}${echo(value)}${b}`),
            false,
          )
          expect(redacted.toString()).toContain(shown)
        },
      ),
      { numRuns: propertyRuns(500) },
    )
  })

  it('leaves no character of the value in base64, after any bytes', async () => {
    const redactor = createRedactor([{ name: 'S', value: 'password' }])
    expect(await redactor.text(Buffer.from('password').toString('base64'))).toBe(`${shown}=`)
    expect(await redactor.text(Buffer.from('user:password').toString('base64'))).toBe(`dXNlcj${shown}==`)
    expect(await redactor.text(Buffer.from('me:password!').toString('base64'))).toBe(`bWU6${shown}h`)
  })

  it('leaves all other bytes unchanged, including invalid text', async () => {
    const redactor = createRedactor([{ name: 'S', value: 'secret value' }])
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7 + (i >> 8)) % 256))
    expect(await redactor.bytes(bytes, false)).toEqual(bytes)
    expect(await redactor.text('secret  value, sécret value, 日本')).toBe('secret  value, sécret value, 日本')
    expect(await redactor.text('日本 secret value')).toBe(`日本 ${shown}`)
  })

  it('finds a value that a header carried in Latin-1', async () => {
    const redactor = createRedactor([{ name: 'S', value: 'clé-privée' }])
    expect((await redactor.bytes(Buffer.from('x clé-privée y', 'latin1'), false)).toString()).toBe(`x ${shown} y`)
    expect(await redactor.text(Buffer.from('clé-privée').toString('latin1'))).toBe(shown)
  })

  it('prefers the longer of two values with the same start', async () => {
    const redactor = createRedactor([
      { name: 'SHORT', value: 'abcd' },
      { name: 'LONG', value: 'abcdef' },
    ])
    expect(await redactor.text('abcdef abcde')).toBe('{{ secrets.LONG }} {{ secrets.SHORT }}e')
  })

  it.each(['plain', 'percent-encoded', 'in JSON in ASCII', 'base64', 'hex'] as const)(
    'leaves out the beginning of a value at which bytes were cut, %s',
    async name => {
      const value = 'héllo "secret" world'
      const redactor = createRedactor([{ name: 'S', value }])
      const echo = Buffer.from(echoes[name]?.(value) ?? '')
      for (let length = 1; length < echo.length; length++) {
        const cut = Buffer.concat([Buffer.from('####'), echo.subarray(0, length)])
        expect((await redactor.bytes(cut, true)).toString()).toBe('####')
        // A complete response may end like this.
        expect(await redactor.bytes(cut, false)).toEqual(cut)
      }
      expect((await redactor.bytes(Buffer.concat([Buffer.from('##'), echo]), true)).toString()).toMatch(
        /^##\{\{ secrets.S \}\}=*$/,
      )
    },
  )

  it('ends soon for a crafted text that resembles the value at every position, and removes all of it', async () => {
    const redactor = createRedactor([{ name: 'S', value: `${'a'.repeat(8000)}b` }])
    expect((await redactor.bytes(Buffer.alloc(propertyRuns(65_536, 16_384), 'a'), true)).toString()).toBe(shown)
    expect(await redactor.bytes(Buffer.from(`${'a'.repeat(20)} `.repeat(100)), false)).toHaveLength(2100)
  })
})

function inName(character: string): string {
  return { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[character] ?? character
}

function inAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
