import { expect, it } from 'vitest'
import { returnPath } from './paths.ts'

it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/sign-in', null])(
  'sign-in never leads to %s',
  text => {
    expect(returnPath(text)).toBe('/')
  },
)

it('sign-in leads back to the previous page', () => {
  expect(returnPath('/acme/w/ws_1/tasks?state=dead')).toBe('/acme/w/ws_1/tasks?state=dead')
})
