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

it('names every secret that is missing, and shows the value of none', () => {
  const outcome = fillRequest(parts, secretNamesOf(parts), new Map([['A', 'a value']]))
  expect(outcome).toMatchObject({ kind: 'failure', code: 'secret_missing' })
  const { message } = outcome as { message: string }
  expect(message).toContain('{{ secrets.B }} and no {{ secrets.C }}')
  expect(message).not.toContain('a value')
})
