import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@belfry/embedded'
import type { Fixture } from '../fixture/fixture.ts'
import { steadyLoad } from '../fixture/load.ts'
import { burst, called } from '../fixture/moments.ts'
import { startReplicaPair } from '../fixture/replica.ts'
import type { Row } from '../row.ts'

const kills = 10
const perSecond = 20
// Of tasks that respond slowly, some calls are in flight when the primary dies.
const slow = { answers: [{ status: 200, delayMs: 1_500 }], timeoutMs: 20_000, inMs: 1_000 }

/** The primary dies again and again, and the processes find the next one among the hosts of their URL. */
export const repeatedFailovers: Row[] = [
  {
    id: 'S44',
    fault: 'ten failovers to a synchronous replica; DATABASE_URL names both hosts',
    moment: 'load, M3',
    expected: 'each process finds the new primary; nothing lost, nothing repeated',
    async run(fixture) {
      const pair = await startReplicaPair(fixture, await freePort())
      const env = { DATABASE_URL: pair.url }
      await fixture.startAll({ api: { env }, scheduler: { env }, dispatcher: { env } })
      const outagesMs: number[] = []
      for (let i = 0; i < kills; i++) {
        await pair.replicate()
        outagesMs.push(await failOverUnderLoad(fixture, pair.failOver))
      }
      const sorted = outagesMs.map(Math.round).sort((a, b) => a - b)
      const accepted = fixture.creates.filter(({ status }) => status === 201).length
      fixture.notes.push(
        `${kills} kills, ${accepted} tasks accepted; creates were refused for ${sorted[0]} to ${sorted.at(-1)} ms, median ${sorted[kills / 2]} ms`,
      )
      return { latenessMs: 60_000 }
    },
  },
]

/** Returns for how long no task was accepted after the primary was killed. */
async function failOverUnderLoad(fixture: Fixture, failOver: () => Promise<void>): Promise<number> {
  const before = fixture.target.count()
  await burst(fixture, 10, slow)
  let killedAt = 0
  const striking = (async () => {
    await called(fixture, before + 5)
    killedAt = performance.now()
    await failOver()
    await untilAccepted(fixture, killedAt)
    await sleep(1_000)
  })()
  const answers = await steadyLoad(fixture, perSecond, striking)
  const accepted = answers.filter(({ status, answeredAt, tookMs }) => status === 201 && answeredAt - tookMs > killedAt)
  return Math.min(...accepted.map(({ answeredAt }) => answeredAt)) - killedAt
}

async function untilAccepted(fixture: Fixture, since: number): Promise<void> {
  const isAccepted = () =>
    fixture.creates.some(({ status, answeredAt, tookMs }) => status === 201 && answeredAt - tookMs > since)
  for (const giveUpAt = performance.now() + 60_000; !isAccepted(); ) {
    if (performance.now() > giveUpAt) throw new Error('No task was accepted within a minute of the failover.')
    await sleep(50)
  }
}
