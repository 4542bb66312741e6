import { parseJson, stringifyJson } from '@belfry/client'
import type { Receiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import fc from 'fast-check'
import { expect } from 'vitest'

/** A call, with its payload as JSON text and its time in a spelling. */
export type Call = { url: string; payload: string; headers: Record<string, string>; at: Date; spelt: string }

// As Java, PostgreSQL, Python, .NET and `date` print a time.
const spellings = [
  (text: string) => text.replace('.000Z', 'Z'),
  (text: string) => text.replace('T', ' ').replace('.000Z', '+00'),
  (text: string) => text.replace('T', ' ').replace('.000Z', '+00:00'),
  (text: string) => text.replace('.000Z', '.0000000+00:00'),
  (text: string) => text.replace('.000Z', ',000000000+0000'),
]

const odd = fc.constantFrom('\0', '\ud83d', '\udc00', '😀', 'é', '"', '\\', '/', '\u2028', '{', ' ', "'", '<')
const text = fc.string({ unit: odd, maxLength: 8 })
const digits = fc.constantFrom(
  '12345678901234567890',
  '-9007199254740993',
  '0.12345678901234567890',
  '1e+21',
  '-0.5',
  '7',
)

type GeneratedCall = { texts: Record<string, string>; numbers: string[]; header: string; spelling: number }

/** A call without its target and time. */
export const generatedCall: fc.Arbitrary<GeneratedCall> = fc.record({
  texts: fc.dictionary(text, text, { maxKeys: 3 }),
  numbers: fc.array(digits, { minLength: 1, maxLength: 4 }),
  header: fc.string({
    unit: fc.constantFrom('a', '"', 'é', 'ÿ', '{', '}', ';', '\\', '%'),
    minLength: 1,
    maxLength: 8,
  }),
  spelling: fc.nat(spellings.length - 1),
})

/** Returns a generated call to a target, at a time. */
export function callOf({ texts, numbers, header, spelling }: GeneratedCall, url: string, at: Date): Call {
  return {
    url,
    payload: stringifyJson({ texts, numbers: numbers.map(parseJson) }),
    headers: { 'X-Same': header, 'Content-Encoding': 'identity' },
    at,
    spelt: spellings[spelling]?.(at.toISOString()) ?? '',
  }
}

/** Waits until the target has received a call, and expects its bytes. */
export async function expectReceived(target: Receiver, call: Call, { hasTime }: { hasTime: boolean }): Promise<void> {
  const received = () => target.requests.filter(request => target.url(request.target) === call.url)
  await waitFor(
    async () => received().length,
    length => length > 0,
    30_000,
  )
  const [request] = received()
  const lines = request?.rawHeaders ?? []
  const values = new Map(
    lines.flatMap((line, i) => (i % 2 === 0 ? [[line.toLowerCase(), lines[i + 1]]] : [])) as [string, string][],
  )
  const shown = {
    body: request?.body.toString('latin1'),
    header: values.get('x-same'),
    type: values.get('content-type'),
    encoding: values.get('content-encoding'),
    ...(hasTime ? { at: values.get('x-belfry-scheduled-at') } : {}),
  }
  const expected = {
    body: Buffer.from(call.payload).toString('latin1'),
    header: call.headers['X-Same'],
    type: 'application/json',
    encoding: 'identity',
    ...(hasTime ? { at: call.at.toISOString() } : {}),
  }
  expect([call.url, shown]).toEqual([call.url, expected])
}
