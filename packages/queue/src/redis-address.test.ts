import { expect, it } from 'vitest'
import { parseRedisAddress } from './redis-address.ts'

it('parses the nodes, the credentials and the encryption of a cluster', () => {
  expect(parseRedisAddress('rediss+cluster://me:a%40b@one:7000,two,[fd00::1]:7002')).toEqual({
    nodes: [
      { host: 'one', port: 7000 },
      { host: 'two', port: 6379 },
      { host: 'fd00::1', port: 7002 },
    ],
    isCluster: true,
    isEncrypted: true,
    username: 'me',
    password: 'a@b',
  })
})

it('parses a single Redis, whose URL may have a database and options', () => {
  const address = parseRedisAddress('redis://:secret@redis:6380/2?family=6')
  expect(address).toMatchObject({ nodes: [{ host: 'redis', port: 6380 }], isCluster: false, password: 'secret' })
  expect(address.username).toBeUndefined()
})

it('finds the host before options with an @, and the default port for an empty one', () => {
  expect(parseRedisAddress('redis://redis:6380/2?password=a@b').nodes).toEqual([{ host: 'redis', port: 6380 }])
  expect(parseRedisAddress('rediss://me:secret@redis?name=a@b')).toMatchObject({
    nodes: [{ host: 'redis', port: 6379 }],
    password: 'secret',
  })
  expect(parseRedisAddress('redis://redis:').nodes).toEqual([{ host: 'redis', port: 6379 }])
  expect(parseRedisAddress('redis:///run/redis.sock?name=a@b').nodes).toEqual([])
})

it.each([
  'redis+cluster://a/b',
  'http://redis',
  'redis://a:1,b:2',
  'redis+cluster://a:x',
  'redis+cluster://a,,b',
  'redis://a:99999',
])('refuses %j', text => expect(() => parseRedisAddress(text)).toThrow(/^must be redis:/))

it('does not repeat a password', () => {
  expect(() => parseRedisAddress('redis://:hunter2@a:1,b:2')).toThrow(/^(?!.*hunter2)/s)
})
