import { expect, it } from 'vitest'
import { fillRequest, secretNamesOf } from './fill-request.ts'

const parts = {
  url: 'https://example.com/{{ secrets.A }}',
  headers: { X: '{{ secrets.B }}', Y: '{{ secrets.A }}' },
  body: '{"{{ secrets.KEY }}":"{{ secrets.C }}"}',
  isJson: true,
}

it('needs each name once, and none that stands in a key', () => {
  expect(secretNamesOf(parts)).toEqual(['A', 'B', 'C'])
  expect(secretNamesOf({ ...parts, isJson: false })).toEqual(['A', 'B', 'KEY', 'C'])
  expect(secretNamesOf({ url: 'https://example.com/', headers: {}, body: null, isJson: true })).toEqual([])
})

const secret = (value: string, ...allowedHosts: string[]) =>
  ({ value, allowedHosts: allowedHosts.length === 0 ? null : allowedHosts }) as const

it('sends a secret only to the hosts that it is bound to, also when another secret is the host', () => {
  const one = { url: 'https://{{ secrets.HOST }}/', headers: { X: '{{ secrets.A }}' }, body: null, isJson: true }
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
