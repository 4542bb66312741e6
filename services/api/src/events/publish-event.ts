import { publishEventBody, publishedEvent } from '@belfry/contract'
import { type InsertedTask, insertTasks, type NewTask } from '@belfry/db'
import { AppError, memberText, newUuid, toId } from '@belfry/domain'
import { creation, type Work } from '../http/creation.ts'
import { accepted } from '../http/reply.ts'
import { refuseLargePayload } from '../quotas/refuse-large-payload.ts'
import { refuseOverQuota } from '../quotas/refuse-over-quota.ts'
import { type Creating, withinLimit } from '../quotas/within-limit.ts'
import { continueTrace } from '../tasks/continue-trace.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { presentTask } from '../tasks/present-task.ts'
import { toStoredRequest } from '../tasks/stored-request.ts'
import { isStored, toTaskRow } from '../tasks/stored-task.ts'
import { findTargets } from './find-targets.ts'

// What one request may make the database write and the answer repeat.
const mostBytes = 16 * 1024 * 1024

export const publishEvent = creation({
  right: 'event.publish',
  summary: 'Publish an event: call its target, or every matching subscription, at once',
  answer: { status: 202, body: publishedEvent },
  refusals: ['quota_exceeded'],
  body: publishEventBody,
  inspect: (ctx, body) => inspectTarget(ctx, body, 'target_url'),
  async handle(work, { caller, body: { target_url: url, ...body }, bodyText, request }) {
    await refuseOverQuota(work, caller.organizationId, 'at_once')
    const payload = memberText(bodyText, ['payload']) ?? null
    await refuseLargePayload(work, caller.organizationId, payload)
    const targets =
      url === undefined
        ? await findTargets(work.db, caller.workspaceId, body)
        : [toStoredRequest({ ...body, url, method: 'POST' }, bodyText)]
    if (targets.length * Buffer.byteLength(payload ?? '') > mostBytes) throw tooLarge(targets.length)
    const eventId = newUuid()
    const tasks = targets.map(
      (target): NewTask => ({
        ...target,
        payload,
        id: newUuid(),
        workspaceId: caller.workspaceId,
        source: 'event',
        executeAt: null,
        name: body.topic,
        topic: body.topic,
        eventId,
        replayOf: null,
      }),
    )
    continueTrace(request, tasks)
    const inserted = await withinLimit(work, caller, 'pendingTasks', tasks.length, creating => store(creating, tasks))
    return accepted({ id: toId('evt', eventId), topic: body.topic, tasks: present(work, tasks, inserted) })
  },
})

async function store({ db, insertTask }: Creating, tasks: readonly NewTask[]): Promise<InsertedTask[]> {
  const [first, ...others] = tasks
  if (!first) return []
  return others.length === 0 ? [await insertTask(first)] : insertTasks(db, tasks)
}

function present(work: Work, tasks: readonly NewTask[], inserted: readonly InsertedTask[]) {
  const byId = new Map(inserted.filter(isStored).map(row => [row.id, row]))
  const rows = tasks.flatMap(task => {
    const stored = byId.get(task.id)
    return stored ? [toTaskRow(task, stored)] : []
  })
  const presented = rows.map(presentTask)
  work.enqueue(
    presented.map(({ id }, i) => ({ id, dueAt: rows[i]?.dueAt.getTime() ?? 0 })),
    inserted[0]?.now.getTime() ?? work.clock.now(),
  )
  return presented
}

function tooLarge(targets: number): AppError {
  const detail = `The payload goes to ${targets} subscriptions; together that may be at most ${mostBytes} bytes.`
  return new AppError('payload_too_large', `${detail} Send a reference instead of the data.`)
}
