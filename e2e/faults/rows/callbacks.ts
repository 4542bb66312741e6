import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '@belfry/testing/wait-for'
import type { Fixture } from '../fixture/fixture.ts'
import type { Row } from '../row.ts'

// A record takes some milliseconds from the response of the target.
const maxPauseMs = 15

/** A dispatcher dies between an attempt and its callbacks. */
export const callbacks: Row[] = [
  killAfterCalls({ id: 'S60', kills: 20, limit: 'in `npm test`' }),
  killAfterCalls({ id: 'S61', kills: 200, limit: 'in `npm run test:faults`' }),
]

function killAfterCalls({ id, kills, limit }: { id: string; kills: number; limit: string }): Row {
  return {
    id,
    fault: `kill -9 of ${kills} dispatchers, each up to ${maxPauseMs} ms after a call, ${limit}`,
    moment: 'M4, M5, M6',
    expected: 'each outcome has exactly one callback of each kind, and each callback arrives with its own webhook-id',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await dispatcher.stop('SIGKILL')
      for (let n = 0; n < kills; n++) await killOne(fixture, n)
      await fixture.start('dispatcher')
      await untilCallbacksArrived(fixture)
      const { lost = 0 } = (await fixture.sql<{ lost: number }>(lostText))[0] ?? {}
      const stored = await fixture.count(`tasks WHERE source = 'callback'`)
      fixture.notes.push(`${stored} callbacks, ${lost} attempts lost`)
      return { restMs: 180_000 }
    },
  }
}

const lostText = `SELECT count(*)::int AS lost FROM runs WHERE error_code = 'worker_lost'`

// Starts a dispatcher for one task that succeeds, one that fails once and one that is dead, and kills it after one of its
// calls. The others, and what it lost, are left to the next dispatchers.
async function killOne(fixture: Fixture, n: number): Promise<void> {
  const spec = { callbacks: '/callback', inMs: 800 }
  await fixture.create({ ...spec, path: `/${n}-well` })
  await fixture.create({ ...spec, path: `/${n}-once`, answers: [{ status: 500 }, { status: 200 }] })
  await fixture.create({ ...spec, path: `/${n}-dead`, answers: [{ status: 500 }], maxRetries: 0 })
  const calls = fixture.target.count()
  const dispatcher = fixture.spawn('dispatcher')
  await waitFor(
    async () => fixture.target.count(),
    count => count > calls,
    60_000,
  )
  // The pauses are spread evenly over the record of the attempt.
  await sleep(((n * 7) % 20) * (maxPauseMs / 20))
  await dispatcher.stop('SIGKILL')
}

async function untilCallbacksArrived(fixture: Fixture): Promise<void> {
  await waitFor(
    () => fixture.count(`tasks WHERE state IN ('pending', 'processing', 'retrying')`),
    open => open === 0,
    180_000,
  )
}
