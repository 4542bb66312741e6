import { expect, it } from 'vitest'
import { shardOf, shardPrefix } from './shards.ts'

const ids = Array.from({ length: 4000 }, (_, i) => `t${i.toString(36)}`)

it('maps a job to the same shard every time, and to the first when there is only one', () => {
  expect(ids.map(id => shardOf(id, 7))).toEqual(ids.map(id => shardOf(id, 7)))
  expect(new Set(ids.map(id => shardOf(id, 1)))).toEqual(new Set([0]))
})

it.each([2, 3, 4, 16, 64])('spreads jobs evenly over %i shards', shards => {
  const counts = Array.from({ length: shards }, () => 0)
  for (const id of ids) counts[shardOf(id, shards)] = (counts[shardOf(id, shards)] ?? 0) + 1
  expect(Math.min(...counts)).toBeGreaterThan((ids.length / shards) * 0.5)
  expect(Math.max(...counts)).toBeLessThan((ids.length / shards) * 1.6)
})

it('gives each shard its own hash tag, and the first shard that of a queue without shards', () => {
  expect([0, 1, 12].map(shard => shardPrefix('{belfry}', shard))).toEqual(['{belfry}', '{belfry:1}', '{belfry:12}'])
})
