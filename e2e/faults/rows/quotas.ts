import type { Fixture } from '../fixture/fixture.ts'
import { burst, called, lasting } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const executionLimit = 150

/** An organization reaches its limit of executions while dispatchers come and go. */
export const quotas: Row[] = [
  {
    id: 'F72',
    fault: 'the quota is reached in the middle, with three dispatchers',
    moment: 'load',
    expected: `of 300 tasks exactly ${executionLimit} are sent, the others cancelled with the reason`,
    executionLimit,
    async run(fixture) {
      await fixture.startAll()
      await Promise.all([fixture.start('dispatcher'), fixture.start('dispatcher')])
      await burst(fixture, 300, { caller: 2, inMs: 12_000 })
      await demandAllSpent(fixture)
      return {}
    },
  },
  {
    id: 'S38',
    fault: 'one dispatcher is killed and one stopped just before the quota is reached',
    moment: 'M1, M2, M3',
    expected: `exactly ${executionLimit} executions are counted; none is lost with a process, none is given twice`,
    executionLimit,
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      const [second] = await Promise.all([fixture.start('dispatcher'), fixture.start('dispatcher')])
      const slow = { answers: [{ status: 200, delayMs: 700 }], timeoutMs: 5_000, caller: 2 } as const
      await burst(fixture, 120, { ...slow, inMs: 8_000, path: '/first' })
      await called(fixture, 50)
      await Promise.all([dispatcher.stop('SIGKILL'), second.stop('SIGTERM')])
      await lasting(3_000)
      await burst(fixture, 120, { ...slow, inMs: 6_000, path: '/second' })
      await demandAllSpent(fixture)
      return { restMs: 90_000 }
    },
  },
  {
    id: 'S39',
    fault: 'the limited tasks of a dispatcher are undone by its SIGTERM, six times',
    moment: 'prefetched claims',
    expected: 'undone claims are refunded: all tasks are executed, each counted once',
    executionLimit: 400,
    async run(fixture) {
      let { dispatcher } = await fixture.startAll()
      const slow = { answers: [{ status: 200, delayMs: 900 }], timeoutMs: 5_000, caller: 2 } as const
      await burst(fixture, 400, { ...slow, inMs: 14_000 })
      for (let i = 0; i < 6; i++) {
        await called(fixture, 40 * (i + 1))
        const next = await fixture.start('dispatcher')
        await dispatcher.stop('SIGTERM')
        dispatcher = next
      }
      await demandAllSpent(fixture)
      return {}
    },
  },
]

// The checker compares the counts; here every execution must also be used.
async function demandAllSpent(fixture: Fixture): Promise<void> {
  const limit = fixture.executionLimit ?? 0
  await called(fixture, limit, 120_000)
  await lasting(3_000)
  const [seen] = await fixture.sql<{ executed: number; refused: number }>(
    `SELECT count(*) FILTER (WHERE attempts > 0)::int AS executed,
            count(*) FILTER (WHERE state_reason = 'monthly_execution_limit')::int AS refused FROM tasks`,
  )
  fixture.notes.push(`${seen?.executed} executed, ${seen?.refused} refused`)
  fixture.demand(seen?.executed === limit, `${seen?.executed} tasks were executed; the limit is ${limit}.`)
}
