import { expect, it } from 'vitest'
import { RawJson, toJsonText } from './raw-json.ts'

it('puts raw JSON into an answer as it is', () => {
  const payload = '{"big": 12345678901234567890, "price": 1.10, "a": 1, "a": 2, "smile": "😀", "$&": "$1"}'
  expect(toJsonText({ id: 'task_1', payload: new RawJson(payload), rest: [new RawJson('1e400')] })).toBe(
    `{"id":"task_1","payload":${payload},"rest":[1e400]}`,
  )
})

it('serialises an answer without raw JSON as usual', () => {
  expect(toJsonText({ a: 'x', b: null })).toBe('{"a":"x","b":null}')
})
