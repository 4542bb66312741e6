import { expect, it } from 'vitest'
import { returnPath } from './return-path.ts'

it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/sign-in', null])(
  'signing in never leads to %s',
  text => {
    expect(returnPath(text)).toBe('/')
  },
)

it('signing in leads back to where one was', () => {
  expect(returnPath('/acme/w/ws_1/tasks?state=dead')).toBe('/acme/w/ws_1/tasks?state=dead')
})
