import { expect, it } from 'vitest'
import { createContext } from './context.ts'

function warningsFor(url: string): string {
  let printed = ''
  const stderr = {
    write(text: string) {
      printed += text
    },
  }
  const streams = { stdout: { write() {} }, stderr }
  const io = { ...streams, stdin: (async function* () {})(), signal: new AbortController().signal }
  const { belfry } = createContext({ ...io, env: { BELFRY_API_KEY: 'bf_key', BELFRY_URL: url } }, {})
  belfry()
  belfry()
  return printed
}

it.each(['http://belfry.example', 'http://10.0.0.1:3000', 'http://localhost.example'])(
  'warns once before a key is sent unencrypted to %s',
  url => {
    expect(warningsFor(url)).toBe(`Warning: the credential is sent unencrypted to ${url}. Use https.\n`)
  },
)

it.each(['https://belfry.example', 'http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
  'does not warn of %s',
  url => {
    expect(warningsFor(url)).toBe('')
  },
)
