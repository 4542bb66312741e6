import { expect, it } from 'vitest'
import { paths, returnPath } from './paths.ts'

it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/sign-in', null])(
  'sign-in never leads to %s',
  text => {
    expect(returnPath(text)).toBe('/')
  },
)

it('sign-in leads back to the previous page', () => {
  expect(returnPath('/acme/w/ws_1/tasks?state=dead')).toBe('/acme/w/ws_1/tasks?state=dead')
})

it('a token in a fragment stays in the fragment, which no server receives', () => {
  expect(paths.signIn(paths.invitation('token'))).toBe('/sign-in?return=%2Finvitations#token')
  expect(paths.register('/')).toBe('/register')
})
