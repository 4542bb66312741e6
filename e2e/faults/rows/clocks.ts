import type { ServiceName } from '../../processes.ts'
import { findPreload } from '../find-preload.ts'
import { load } from '../fixture/load.ts'
import { burst, untilInState } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const hourS = 3_600

// Each process alone, in both directions.
const alone: Array<[string, ServiceName, number]> = [
  ['F58', 'dispatcher', hourS],
  ['S10', 'dispatcher', -hourS],
  ['S11', 'dispatcher', -1],
  ['S12', 'api', hourS],
  ['S13', 'api', -hourS],
  ['S14', 'scheduler', hourS],
  ['S15', 'scheduler', -hourS],
]

/** The clocks of machines are wrong. The clock of PostgreSQL, which decides, is right. */
export const clocks: Row[] = [
  ...alone.map(
    ([id, name, seconds]): Row => ({
      id,
      fault: `clock ${format(seconds)} on the ${name} alone`,
      moment: 'load, and after a FLUSHALL',
      expected: 'no task is called early, or more than 2 s late; tasks that Redis has lost are called within 60 s',
      needs: 'libfaketime.so.1',
      async run(fixture, seed) {
        await fixture.startAll({ [name]: shifted(seconds) })
        await load(fixture, { seed })
        await untilInState(fixture, ['success', 'dead'], 120, 60_000)
        const [first] = await fixture.sql<{ s: number }>(
          `SELECT max(extract(epoch FROM started_at - scheduled_at))::float8 AS s FROM runs WHERE attempt = 1`,
        )
        fixture.notes.push(`at most ${(first?.s ?? 0).toFixed(2)} s late before the FLUSHALL`)
        fixture.demand((first?.s ?? 60) < 2, `A task was called ${first?.s} s late.`)
        await burst(fixture, 20, { inMs: 8_000, path: '/flushed' })
        await fixture.redis.client.flushall()
        return { latenessMs: 60_000 }
      },
    }),
  ),
  {
    id: 'F59',
    fault: 'clock 1 h behind on the dispatcher and the API',
    moment: 'load',
    expected: 'execute_at is judged by PostgreSQL’s clock; no task is called early, or more than 2 s late',
    needs: 'libfaketime.so.1',
    async run(fixture, seed) {
      await fixture.startAll({ dispatcher: shifted(-hourS), api: shifted(-hourS) })
      await load(fixture, { seed })
      const past = await fixture.create({ path: '/past', inMs: -60_000 })
      fixture.demand(past.status === 400, `A past time was answered with ${past.status}.`)
      await burst(fixture, 5)
      return { latenessMs: 2_000 }
    },
  },
]

function shifted(seconds: number) {
  const env = { FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`, DONT_FAKE_MONOTONIC: '1' }
  return { env: { LD_PRELOAD: findPreload('libfaketime.so.1') ?? '', ...env } }
}

function format(seconds: number): string {
  const size = Math.abs(seconds) === hourS ? '1 h' : `${Math.abs(seconds)} s`
  return `${size} ${seconds < 0 ? 'behind' : 'ahead'}`
}
