import { setTimeout as sleep } from 'node:timers/promises'
import type { Fixture } from '../fixture/fixture.ts'
import type { Operation } from './plan.ts'

// Slots become free one after another, each for a task that was claimed before.
const maxBurstMs = 600

/** Makes every call of a plan at its moment, and waits for the last answer. */
export async function runLoad(
  fixture: Fixture,
  operations: readonly Operation[],
  { beganAt, aheadMs }: { beganAt: number; aheadMs: () => number },
): Promise<void> {
  const ids = new Map<string, string>()
  const dueAts = new Map<string, number>()
  const lanes = new Map<string, Promise<unknown>>()
  const inFlight = new Set<Promise<unknown>>()

  async function perform(operation: Operation): Promise<unknown> {
    switch (operation.does) {
      case 'create': {
        const { path, inMs = 0 } = operation.task
        // A repeated request has the same body.
        const executeAt = dueAts.get(path) ?? Math.round(Date.now() + aheadMs() + inMs)
        dueAts.set(path, executeAt)
        const { id } = await fixture.create({ ...operation.task, executeAt })
        return id !== null && ids.set(path, id)
      }
      case 'burst': {
        const executeAt = Math.round(Date.now() + aheadMs() + operation.inMs)
        const { path, count, caller } = operation
        const answers = (i: number) => [{ status: 200, delayMs: (i * 37) % maxBurstMs }]
        const specs = Array.from({ length: count }, (_, i) => ({ path: `${path}-${i}`, answers: answers(i) }))
        return fixture.createMany(specs.map(spec => ({ ...spec, executeAt, caller, timeoutMs: 5_000 })))
      }
      case 'cancel':
      case 'stop': {
        const id = ids.get(operation.path)
        return id !== undefined && fixture[operation.does](id)
      }
      case 'change': {
        const id = ids.get(operation.path)
        return id !== undefined && fixture.change(id, operation.to)
      }
      case 'pause':
      case 'resume':
        return fixture.operateQueue(operation.queue, operation.does)
      case 'bulk':
        return fixture.bulk(operation.action, operation.name, operation.perSecond)
      case 'create cron job':
        return fixture.createCronJob(operation.cron)
      default: {
        // The id of a cron job whose POST was not answered is unknown; it stays as it is.
        const job = fixture.cronJobs.find(({ path }) => path === operation.path)
        if (!job?.id) return
        if (operation.does === 'operate cron job') return fixture.operate(job, operation.kind)
        return fixture.reschedule(job, operation.everyMinutes)
      }
    }
  }

  for (const operation of operations) {
    await sleep(Math.max(0, beganAt + operation.at - performance.now()))
    const { lane } = operation
    const before = lanes.get(lane ?? '') ?? Promise.resolve()
    const done = before.then(() => perform(operation)).finally(() => inFlight.delete(done))
    done.catch(() => {}) // rejects below
    inFlight.add(done)
    if (lane !== undefined) lanes.set(lane, done)
  }
  await Promise.all(inFlight)
}
