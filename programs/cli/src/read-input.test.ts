import { expect, it } from 'vitest'
import type { Context } from './context.ts'
import { readInput } from './read-input.ts'

const text = '[{"cron":"0 9 * * *","label":"Übersicht"}]\n'
const wide = Buffer.from(`\ufeff${text}`, 'utf16le')

it.each([
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
  ['UTF-16, as PowerShell writes it', wide],
  ['big-endian UTF-16', Buffer.from(wide).swap16()],
])('reads %s', async (_, bytes) => {
  expect(await read(bytes)).toBe(text)
})

it.each([
  ['UTF-8', Buffer.from(text, 'latin1')],
  ['UTF-16LE', wide.subarray(0, -1)],
])('refuses bytes that are not %s', async (encoding, bytes) => {
  await expect(read(bytes)).rejects.toThrow(`Standard input is not ${encoding} text.`)
})

function read(bytes: Buffer): Promise<string> {
  async function* stdin() {
    yield bytes.subarray(0, 1)
    yield bytes.subarray(1)
  }
  return readInput({ stdin: stdin() } as Pick<Context, 'stdin'> as Context, '-')
}
