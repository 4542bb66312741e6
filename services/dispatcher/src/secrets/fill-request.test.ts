import { expect, it } from 'vitest'
import { fillRequest, secretNamesOf } from './fill-request.ts'

const parts = {
  url: 'https://example.com/{{ secrets.A }}',
  headers: { X: '{{ secrets.B }}', Y: '{{ secrets.A }}' },
  body: '{"{{ secrets.KEY }}":"{{ secrets.C }}"}',
  format: 'json' as const,
}

it('needs each name once, and none that stands in a key', () => {
  expect(secretNamesOf(parts)).toEqual(['A', 'B', 'C'])
  expect(secretNamesOf({ ...parts, format: 'text' as const })).toEqual(['A', 'B', 'KEY', 'C'])
  expect(secretNamesOf({ url: 'https://example.com/', headers: {}, body: null, format: 'json' as const })).toEqual([])
})

const secret = (value: string, ...allowedHosts: string[]) =>
  ({ value, allowedHosts: allowedHosts.length === 0 ? null : allowedHosts }) as const

it('sends a secret only to the hosts that it is bound to, also when another secret is the host', () => {
  const one = {
    url: 'https://{{ secrets.HOST }}/',
    headers: { X: '{{ secrets.A }}' },
    body: null,
    format: 'json' as const,
  }
  const fill = (host: string) =>
    fillRequest(
      one,
      ['HOST', 'A'],
      new Map([
        ['HOST', secret(host)],
        ['A', secret('a value', 'api.example.com')],
      ]),
    )
  expect(fill('api.example.com')).toMatchObject({ url: 'https://api.example.com/', headers: { X: 'a value' } })
  const refused = fill('evil.example')
  expect(refused).toMatchObject({ kind: 'failure', code: 'secret_not_allowed' })
  expect((refused as { message: string }).message).toContain('{{ secrets.A }}')
  expect(JSON.stringify(refused)).not.toMatch(/a value|evil/)
})

it('names every secret that is missing, and shows the value of none', () => {
  const outcome = fillRequest(parts, secretNamesOf(parts), new Map([['A', { value: 'a value', allowedHosts: null }]]))
  expect(outcome).toMatchObject({ kind: 'failure', code: 'secret_missing' })
  const { message } = outcome as { message: string }
  expect(message).toContain('{{ secrets.B }} and no {{ secrets.C }}')
  expect(message).not.toContain('a value')
})

const repeated = (count: number, format: 'json' | 'form' | 'text' = 'json') => ({
  url: 'https://example.com/',
  headers: {},
  body: `[${Array(count).fill('"{{secrets.A}}"').join()}]`,
  format,
})

it('a request whose secrets would make it larger than 1 MiB is not built', () => {
  const value = `${'\n'.repeat(4_000)}last`
  const secrets = new Map([['A', secret(value)]])
  const fill = (count: number, format?: 'json' | 'form' | 'text') =>
    fillRequest(repeated(count, format), ['A'], secrets)
  expect(fill(130, 'json')).toMatchObject({ body: expect.stringContaining('last"]') })
  expect(fill(260, 'text')).toMatchObject({ body: expect.stringContaining('last"]') })
  expect(fill(86, 'form')).toMatchObject({ body: expect.stringContaining('%0Alast') })
  // In JSON a line end takes two bytes, in a form three.
  for (const outcome of [fill(132), fill(263, 'text'), fill(88, 'form'), fill(14_000)]) {
    expect(outcome).toMatchObject({
      kind: 'failure',
      code: 'secret_invalid',
      message: expect.stringMatching(/1048576/),
    })
  }
  const inHeader = { ...repeated(0), headers: { X: '{{secrets.A}}'.repeat(300) } }
  expect(fillRequest(inHeader, ['A'], secrets)).toMatchObject({ message: expect.stringMatching(/1048576/) })
})

it('a payload of more than 512 KiB may double', () => {
  const parts = { ...repeated(100), body: `["${'x'.repeat(1024 * 1024)}","{{secrets.A}}"]` }
  expect(fillRequest(parts, ['A'], new Map([['A', secret('a value')]]))).toMatchObject({
    body: expect.stringContaining('a value'),
  })
})

it('the secrets of a request may have 16,384 characters together', () => {
  const secrets = new Map(['A', 'B', 'C'].map(name => [name, secret('x'.repeat(8_192))]))
  expect(fillRequest(repeated(1), ['A', 'B'], secrets)).toMatchObject({ body: expect.stringContaining('x') })
  expect(fillRequest(repeated(1), ['A', 'B', 'C'], secrets)).toMatchObject({
    code: 'secret_invalid',
    message: expect.stringContaining('24576'),
  })
})
