import { expect, it } from 'vitest'
import { previewRequest } from './preview-request.ts'
import { emptyRequest } from './request-draft.ts'

it('the preview says what is sent, with references in the place of secrets', () => {
  const draft = {
    ...emptyRequest,
    url: 'https://example.com/{{ secrets.PATH }}',
    headers: [{ id: 1, name: 'user-agent', value: 'Mine' }],
    payload: '{ "a": 1 }',
  }
  const text = previewRequest(draft, { taskId: null, scheduledAt: new Date('2026-12-01T08:00:00Z') })
  const lines = text.split('\n')
  expect(lines[0]).toBe('POST https://example.com/{{ secrets.PATH }}')
  expect(lines).toContain('user-agent: Mine')
  expect(lines).not.toContain('User-Agent: Belfry/<version>')
  expect(lines).toContain('Content-Type: application/json')
  expect(lines).toContain('X-Belfry-Scheduled-At: 2026-12-01T08:00:00.000Z')
  expect(lines.slice(-2)).toEqual(['', '{ "a": 1 }'])
})

it('a JSON string for another content type goes out as its text', () => {
  const headers = [{ id: 1, name: 'Content-Type', value: 'text/plain' }]
  const text = previewRequest({ ...emptyRequest, headers, payload: '"hello"' }, { taskId: null, scheduledAt: null })
  expect(text.endsWith('\n\nhello')).toBe(true)
})
