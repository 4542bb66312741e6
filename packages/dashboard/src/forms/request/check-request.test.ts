import { expect, it } from 'vitest'
import { checkRequest } from './check-request.ts'
import { draftOf } from './request-draft.ts'

const objects = (members: number) => JSON.stringify(Array.from({ length: members }, () => ({ a: 1 })))

it.each([
  ['as many members as the API accepts', objects(10_000), undefined],
  ['more members', objects(10_001), 'The JSON has more than 10000 object members.'],
  ['too many levels', `${'['.repeat(32)}${']'.repeat(32)}`, 'The JSON is nested deeper than 31 levels.'],
  ['256 KiB', `"${'x'.repeat(256 * 1024 - 2)}"`, undefined],
  ['more than 256 KiB', `"${'x'.repeat(256 * 1024 - 1)}"`, 'The payload is larger than 256 KiB.'],
  ['a fault', '{"a":', 'Incomplete JSON. A closing bracket, brace or quote is missing.'],
])('a payload with %s', (_, payload, problem) => {
  expect(checkRequest({ ...draftOf(), url: 'https://example.com/', payload }).payload).toBe(problem)
})
