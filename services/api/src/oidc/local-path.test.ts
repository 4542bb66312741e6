import { expect, it } from 'vitest'
import { localPath } from './sign-in.ts'

it.each([
  ['/acme/w/ws_1?state=dead#top', '/acme/w/ws_1?state=dead#top'],
  ['/', '/'],
  ['', '/'],
  ['acme', '/'],
  ['https://other.example/', '/'],
  ['//other.example', '/'],
  ['/\\other.example', '/'],
  ['/\t/other.example', '/'],
  ['\\\\other.example', '/'],
  ['/.//other.example', '/other.example'],
  ['/a/..//other.example', '/other.example'],
  ['javascript:alert(1)', '/'],
])('of %j is %j', (text, path) => {
  expect(localPath(text, 'https://belfry.example')).toBe(path)
})
