import { expect, it } from 'vitest'
import { listenerOfUrl, parseListeners } from './parse-listener.ts'

it.each([
  ['postgresql://me:secret@db.internal/belfry', 'db.internal', 5432],
  ['postgres://db:6543/belfry?sslmode=require', 'db', 6543],
  ['postgresql:///belfry?host=10.0.0.5&port=6000', '10.0.0.5', 6000],
  ['redis://:secret@localhost', 'localhost', 6379],
  ['rediss://[fd00::1]:7000/1', 'fd00::1', 7000],
  ['smtp://mail.internal', 'mail.internal', 587],
  ['smtps://mail.internal', 'mail.internal', 465],
  ['https://belfry.example', 'belfry.example', 443],
  ['http://localhost:3000', 'localhost', 3000],
])('finds the place of %s', (url, host, port) => {
  expect(listenerOfUrl(url)).toEqual({ host, port })
})

it.each(['', 'nonsense', 'postgresql:///belfry', 'postgresql:///belfry?host=/var/run/postgresql', 'gopher://x'])(
  'finds none in "%s"',
  url => expect(listenerOfUrl(url)).toBeNull(),
)

it('reads places between commas', () => {
  expect(parseListeners('')).toEqual([])
  expect(parseListeners(' api:3000, 10.0.0.5:80,[fd00::1]:443 ')).toEqual([
    { host: 'api', port: 3000 },
    { host: '10.0.0.5', port: 80 },
    { host: 'fd00::1', port: 443 },
  ])
})

it.each(['api', 'api:', ':80', 'api:0', 'api:99999', 'http://api:80', 'api:80/x', 'fd00::1:80', 'me@api:80', ''])(
  'names the malformed entry "%s"',
  entry => expect(() => parseListeners(`ok:1,${entry}`)).toThrow(`"${entry}"`),
)
