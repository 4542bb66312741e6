import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Fixture } from '../fixture/fixture.ts'
import type { Row } from '../row.ts'

// A record takes some milliseconds from the response of the target.
const maxPauseMs = 15
// A start takes much longer than the rest, so several dispatchers start at once.
const perRound = 4

/** A dispatcher dies between an attempt and its callbacks. */
export const callbacks: Row[] = [
  killAfterCalls({ id: 'S60', kills: 20 }), // short enough for CI
  killAfterCalls({ id: 'S61', kills: 200 }),
]

function killAfterCalls({ id, kills }: { id: string; kills: number }): Row {
  return {
    id,
    fault: `kill -9 of ${kills} dispatchers, each up to ${maxPauseMs} ms after a call`,
    moment: 'M4, M5, M6',
    expected: 'each outcome has exactly one callback of each kind, and each callback arrives with its own webhook-id',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await dispatcher.stop('SIGKILL')
      for (let round = 0; round < kills / perRound; round++) await killRound(fixture, round)
      await fixture.start('dispatcher')
      await untilCallbacksArrived(fixture)
      const { lost = 0 } = (await fixture.sql<{ lost: number }>(lostText))[0] ?? {}
      const stored = await fixture.count(`tasks WHERE source = 'callback'`)
      fixture.notes.push(`${stored} callbacks, ${lost} attempts lost`)
      // Each round waits until the deaths of the one before are noticed.
      return { restMs: 180_000, latenessMs: 400_000 }
    },
  }
}

const lostText = `SELECT count(*)::int AS lost FROM runs WHERE error_code = 'worker_lost'`

// Starts dispatchers, with tasks that succeed, fail once or end dead, and kills each dispatcher after another
// call. The next round gets the remaining tasks and the lost ones.
async function killRound(fixture: Fixture, round: number): Promise<void> {
  const spec = { callbacks: '/callback', inMs: 1_000 }
  const created = Array.from({ length: perRound }, (_, i) => [
    fixture.create({ ...spec, path: `/${round}-${i}-well` }),
    fixture.create({ ...spec, path: `/${round}-${i}-once`, answers: [{ status: 500 }, { status: 200 }] }),
    fixture.create({ ...spec, path: `/${round}-${i}-dead`, answers: [{ status: 500 }], maxRetries: 0 }),
  ])
  await Promise.all(created.flat())
  const dispatchers = Array.from({ length: perRound }, () => fixture.spawn('dispatcher'))
  for (const [i, dispatcher] of dispatchers.entries()) {
    const calls = fixture.target.count()
    await waitFor(
      async () => fixture.target.count(),
      count => count > calls,
      60_000,
    )
    // The pauses are spread evenly over the record of the attempt.
    await sleep((((round * perRound + i) * 7) % 20) * (maxPauseMs / 20))
    await dispatcher.stop('SIGKILL')
  }
}

async function untilCallbacksArrived(fixture: Fixture): Promise<void> {
  await waitFor(
    () => fixture.count(`tasks WHERE state IN ('pending', 'processing', 'retrying')`),
    open => open === 0,
    180_000,
  )
}
