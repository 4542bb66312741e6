import type { Run } from '@belfry/contract/run'
import { expect, it } from 'vitest'
import { callSteps } from './timing.tsx'

type Times = [dns: number | null, connect: number | null, tls: number | null, firstByte: number | null]

const none: Times = [null, null, null, null]

function shown(
  [dns, connect, tls, firstByte]: Times,
  url = 'https://example.com/',
  duration = 100,
): string | undefined {
  const timings = { dns_ms: dns, connect_ms: connect, tls_ms: tls, first_byte_ms: firstByte }
  const steps = callSteps({ timings, url, duration_ms: duration } as Run)
  return steps?.map(({ id, ms, isIncomplete }) => `${id} ${ms}${isIncomplete ? '!' : ''}`).join(', ')
}

it.each<[string, Times, string?]>([
  ['dns 4, connect 11, tls 25, firstByte 42, reading 18', [4, 11, 25, 42]],
  ['dns 4, connect 11, firstByte 42, reading 43', [4, 11, null, 42], 'http://example.com/'],
  ['firstByte 42, reading 58', [null, null, null, 42]],
  ['firstByte 101, reading 0', [null, null, null, 101]],
  ['firstByte 100!', none],
  ['dns 4, connect 96!', [4, null, null, null]],
  ['dns 4, connect 11, tls 85!', [4, 11, null, null]],
  ['dns 4, connect 11, firstByte 85!', [4, 11, null, null], 'http://example.com/'],
  ['dns 4, connect 11, tls 25, firstByte 60!', [4, 11, 25, null], '{{ secrets.URL }}'],
])('shows %s', (text, times, url) => {
  expect(shown(times, url)).toBe(text)
})

it('shows no steps of a run without timings', () => {
  expect(callSteps({ timings: null, url: 'https://example.com/', duration_ms: 100 } as Run)).toBeNull()
})
