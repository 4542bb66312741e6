import { expect, test } from 'vitest'
import { isRecent } from './find-redis-server.ts'

test.each([
  ['Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0', true],
  ['Redis server v=6.2.0 sha=00000000:0 malloc=libc bits=64', true],
  ['Valkey server v=8.1.3 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', true],
  ['Redis server v=10.0.0 sha=00000000:0', true],
  ['Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64', false],
  ['Redis server v=5.0.14 sha=00000000:0', false],
  ['', false],
  ['command not found', false],
])('judges whether %j is recent enough: %s', (line, recent) => {
  expect(isRecent(line)).toBe(recent)
})
