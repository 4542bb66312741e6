import { expect, it } from 'vitest'
import { draftOf } from './request-draft.ts'
import { requestText } from './request-text.ts'

it('shows the request with references instead of secrets', () => {
  const draft = {
    ...draftOf(),
    url: 'https://example.com/{{ secrets.PATH }}',
    headers: [{ id: 1, name: 'user-agent', value: 'Mine' }],
    payload: '{ "a": 1 }',
  }
  const text = requestText(draft, { taskId: null, scheduledAt: '2026-12-01T08:00:00.000Z' })
  const lines = text.split('\n')
  expect(lines[0]).toBe('POST https://example.com/{{ secrets.PATH }}')
  expect(lines).toContain('user-agent: Mine')
  expect(lines).not.toContain('User-Agent: Belfry/<version>')
  expect(lines).toContain('Content-Type: application/json')
  expect(lines).toContain('X-Belfry-Scheduled-At: 2026-12-01T08:00:00.000Z')
  expect(lines.slice(-2)).toEqual(['', '{ "a": 1 }'])
})

it('sends a JSON string as its text for another content type', () => {
  const headers = [{ id: 1, name: 'Content-Type', value: 'text/plain' }]
  const text = requestText({ ...draftOf(), headers, payload: '"hello"' }, { taskId: null, scheduledAt: null })
  expect(text.endsWith('\n\nhello')).toBe(true)
})
