import { expect, it } from 'vitest'
import { verbIn } from './palette-search.ts'

it('a verb before a name acts on the results, and no other word does', () => {
  expect(verbIn('pause mail')).toEqual({ verb: 'pause', rest: 'mail' })
  expect(verbIn(' Resume api.example.com')).toEqual({ verb: 'resume', rest: 'api.example.com' })
  expect(verbIn('pause')).toEqual({ verb: undefined, rest: 'pause' })
  expect(verbIn('paused queue')).toEqual({ verb: undefined, rest: 'paused queue' })
})
