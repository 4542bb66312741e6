import { describe, expect, it } from 'vitest'
import { PayloadText } from '../../api/payload-text.ts'
import { checkRequest } from './check-request.ts'
import { bodyOf, changesOf, draftOf, emptyRequest } from './request-draft.ts'

const good = { ...emptyRequest, url: 'https://example.com/hook' }

describe('the fields of a request', () => {
  it('are checked by the rules of the API', () => {
    expect(checkRequest(good)).toEqual({})
    const bad = {
      ...good,
      url: 'example.com',
      headers: [{ id: 1, name: 'Host', value: 'x' }],
      payload: '{',
      maxRetries: '1.5',
      maxDelaySeconds: '5',
      timeoutSeconds: '',
    }
    expect(Object.keys(checkRequest(bad)).sort()).toEqual([
      ...['headers', 'payload', 'retry.max_delay_ms', 'retry.max_retries', 'timeout_ms', 'url'],
    ])
    const twice = { ...good, headers: ['X-A', 'x-a'].map((name, id) => ({ id, name, value: '1' })) }
    expect(checkRequest(twice).headers).toMatch(/twice/)
  })

  it('become a body, and come back from one', () => {
    const draft = { ...good, headers: [{ id: 0, name: ' X-A ', value: '1' }], payload: '{"a":1}' }
    const body = bodyOf(draft)
    expect(body).toMatchObject({ headers: { 'X-A': '1' }, payload: { text: '{"a":1}' }, timeout_ms: 30_000 })
    expect(changesOf(bodyOf(draftOf(body)), body)).toEqual({})
  })

  it('of an edited one, only what was changed is sent', () => {
    const stored = { ...bodyOf(good), name: 'A', payload: null, id: 'x' }
    expect(changesOf({ ...bodyOf(good), name: 'B' }, stored)).toEqual({ name: 'B' })
    const payload = (text: string) => ({ payload: new PayloadText(text) })
    expect(changesOf(payload('{ "a": 12345678901234567890 }'), payload('{"a":12345678901234567890}'))).toEqual({})
    expect(changesOf(payload('{"a":12345678901234567891}'), payload('{"a":12345678901234567890}'))).toEqual(
      payload('{"a":12345678901234567891}'),
    )
  })
})
