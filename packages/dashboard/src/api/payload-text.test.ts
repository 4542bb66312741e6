import { describe, expect, it } from 'vitest'
import { PayloadText, parseResponse, toBodyText } from './payload-text.ts'

const payload = '{ "id": 12345678901234567890, "n": 1.10, "a": 1, "a": 2 }'

describe('a payload', () => {
  it('is sent as the typed text', () => {
    expect(toBodyText({ name: 'A', payload: new PayloadText(payload) })).toBe(`{"name":"A","payload":${payload}}`)
    expect(toBodyText({ payload: new PayloadText('1') })).toBe('{"payload":1}')
    expect(toBodyText({ payload: { a: 1 } })).toBe('{"payload":{"a":1}}')
    expect(toBodyText([1])).toBe('[1]')
  })

  it('is received as the stored text', () => {
    expect(parseResponse(`{"id":"a","payload":${payload}}`)).toEqual({ id: 'a', payload: new PayloadText(payload) })
    expect(parseResponse('{"payload":null}')).toEqual({ payload: null })
    expect(parseResponse('[1]')).toEqual([1])
    expect(parseResponse('{"data":[{"payload":1}]}')).toEqual({ data: [{ payload: 1 }] })
  })
})
