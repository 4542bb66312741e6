import { expect, it } from 'vitest'
import { createLiveness } from './liveness.ts'

/** Observes once a second: of each dispatcher the beats at that second, or none when it has no row. */
function watch(beatsOf: (second: number) => Record<string, number | null>, seconds: readonly number[]) {
  let at = 0
  const liveness = createLiveness(() => at)
  return seconds.flatMap(second => {
    at = second * 1000
    const heartbeats = Object.entries(beatsOf(second)).map(([id, beats]) => ({ id, beats }))
    return liveness.observe(heartbeats).map(({ id }) => `${id} at ${second}`)
  })
}

const upTo = (last: number) => Array.from({ length: last + 1 }, (_, i) => i)

it('declares a dispatcher dead 12 seconds after its last heartbeat, and no other', () => {
  const deaths = watch(second => ({ alive: second, dead: Math.min(second, 5) }), upTo(17))
  expect(deaths).toEqual(['dead at 17'])
})

it('gives a dispatcher without a row the same time to return', () => {
  expect(watch(second => ({ a: second < 3 || second > 13 ? second : null }), upTo(30))).toEqual([])
  expect(watch(second => ({ a: second < 3 ? second : null }), upTo(15))).toEqual(['a at 15'])
})

it('starts anew after it could not look itself, as while PostgreSQL was away', () => {
  const looks = [0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]
  expect(watch(() => ({ a: 1 }), looks)).toEqual(['a at 22'])
})

it('takes a heartbeat that was set back for a sign of life, as after a restart of PostgreSQL', () => {
  expect(watch(second => ({ a: second < 8 ? 100 : 0 }), upTo(19))).toEqual([])
})
