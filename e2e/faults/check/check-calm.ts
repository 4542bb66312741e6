import type { Hit } from '../fixture/fixture-target.ts'
import type { Report } from './check-history.ts'
import { clockToleranceMs } from './check-task.ts'
import { groupBy } from './group-by.ts'
import { type Calm, type History, lostCode } from './history.ts'

const secondMs = 1_000

/**
 * Checks I18, what the target sees while nothing disturbs the dispatchers: the calls of a queue come at its rate and before
 * their deadlines, and a host gets no more calls at once or in a second than it may. The claims are right even when their
 * calls are not, as a call may wait after its claim.
 */
export function checkCalm({ calm, queues, tasks, hits, runs }: History, report: Report): void {
  if (calm === null) return
  const lost = new Set(runs.flatMap(({ id, errorCode }) => (errorCode === lostCode ? [id] : [])))
  const calls = hits.filter(({ runId }) => !lost.has(runId)).sort((one, other) => one.at - other.at)
  const byTask = groupBy(calls)
  for (const { id, name, rateCount, ratePeriodMs } of queues) {
    if (rateCount === null || ratePeriodMs === null) continue
    const own = tasks.filter(({ queueId }) => queueId === id).flatMap(task => byTask.get(task.id) ?? [])
    const late = findTooEarly(calm, own, rateCount, ratePeriodMs)
    if (late) report('I18', late.taskId, `was call ${rateCount + 1} of the queue ${name} in ${ratePeriodMs} ms`)
  }
  const late = calm.rate === null ? undefined : findTooEarly(calm, calls, calm.rate, secondMs)
  if (late) report('I18', late.taskId, `was call ${Number(calm.rate) + 1} of its host in a second`)
  for (const { taskId, at } of calls) {
    if (calm.concurrency === null || isDisturbed(calm, at)) continue
    const open = calls.filter(other => other.at <= at && endOf(other) > at).length
    if (open > calm.concurrency) report('I18', taskId, `was call ${open} at once of its host, of ${calm.concurrency}`)
  }
  for (const { id, expiresAt } of tasks) {
    const call = (byTask.get(id) ?? []).find(({ at }) => expiresAt !== null && at > expiresAt + calm.slackMs)
    if (call && !isDisturbed(calm, call.at)) report('I18', id, 'was called after its deadline')
  }
}

function findTooEarly(calm: Calm, calls: readonly Hit[], count: number, periodMs: number): Hit | undefined {
  const sorted = calls.toSorted((one, other) => one.at - other.at)
  return sorted.find(({ at }, i) => {
    const before = sorted[i - count]
    return before !== undefined && at - before.at < periodMs - calm.slackMs && !isDisturbed(calm, before.at, at)
  })
}

function isDisturbed({ disturbed }: Calm, from: number, until = from): boolean {
  return disturbed.some(fault => fault.from <= until && fault.until >= from)
}

function endOf({ until }: Hit): number {
  return until === null ? Number.POSITIVE_INFINITY : until - clockToleranceMs
}
