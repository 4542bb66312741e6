import { describe, expect, it } from 'vitest'
import { PayloadText } from '../../api/payload-text.ts'
import { checkRequest } from './check-request.ts'
import { bodyOf, changesOf, draftOf } from './request-draft.ts'

const good = { ...draftOf(), url: 'https://example.com/hook' }

describe('the draft of a request', () => {
  it('is checked by the rules of the API', () => {
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

  it('becomes a body, and comes back from one', () => {
    const draft = { ...good, headers: [{ id: 0, name: ' X-A ', value: '1' }], payload: '{"a":1}' }
    const body = bodyOf(draft)
    expect(body).toMatchObject({ headers: { 'X-A': '1' }, payload: { text: '{"a":1}' }, timeout_ms: 30_000 })
    expect(changesOf(bodyOf(draftOf(body)), body)).toEqual({})
  })

  it('sends only the changed fields of a stored request', () => {
    const stored = { ...bodyOf(good), name: 'A', payload: null, id: 'x' }
    expect(changesOf({ ...bodyOf(good), name: 'B' }, stored)).toEqual({ name: 'B' })
    const payload = (text: string) => ({ payload: new PayloadText(text) })
    expect(changesOf(payload('{ "a": 12345678901234567890 }'), payload('{"a":12345678901234567890}'))).toEqual({})
    expect(changesOf(payload('{"a":12345678901234567891}'), payload('{"a":12345678901234567890}'))).toEqual(
      payload('{"a":12345678901234567891}'),
    )
  })

  it('keeps the headers of a callback when its URL changes, and removes it without one', () => {
    const onSuccess = { url: 'https://example.com/a', headers: { A: '1' }, timeout_ms: 1000 }
    const stored = { ...bodyOf(good), on_success: onSuccess }
    const draft = draftOf(stored)
    expect(changesOf(bodyOf(draft), stored)).toEqual({})
    const withUrl = (url: string) => ({
      ...draft,
      callbacks: { ...draft.callbacks, on_success: { url, stored: onSuccess } },
    })
    const moved = { ...onSuccess, url: 'https://example.com/b' }
    expect(changesOf(bodyOf(withUrl(' https://example.com/b')), stored)).toEqual({ on_success: moved })
    expect(changesOf(bodyOf(withUrl('')), stored)).toEqual({ on_success: null })
    expect(checkRequest(withUrl('example.com'))['on_success.url']).toMatch(/absolute/)
  })

  it('keeps the bytes of a raw body until there is a payload', () => {
    const raw = { payload_base64: 'AP8=', content_type: 'image/png' }
    const draft = draftOf({ ...bodyOf(good), ...raw })
    expect(bodyOf(draft)).toMatchObject(raw)
    expect(changesOf(bodyOf(draft), { ...bodyOf(good), ...raw })).toEqual({})
    const headers = [{ id: 0, name: 'content-type', value: 'image/gif' }]
    expect(bodyOf({ ...draft, headers })).not.toHaveProperty('content_type')
    expect(bodyOf({ ...draft, payload: '1' })).not.toHaveProperty('payload_base64')
  })
})
