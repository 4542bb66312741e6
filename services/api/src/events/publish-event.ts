import { publishEventBody, publishedEvent, type Task } from '@belfry/contract'
import { insertTasks, type NewTask } from '@belfry/db'
import { AppError, memberText, newUuid, toId } from '@belfry/domain'
import { creation, type Work } from '../http/creation.ts'
import { accepted, type Reply } from '../http/reply.ts'
import { refuseLargePayload } from '../quotas/refuse-large-payload.ts'
import { refuseOverQuota } from '../quotas/refuse-over-quota.ts'
import { type Creating, withinLimit } from '../quotas/within-limit.ts'
import { continueTrace } from '../tasks/continue-trace.ts'
import { inspectTarget } from '../tasks/inspect-target.ts'
import { presentNewTask } from '../tasks/present-task.ts'
import { toStoredRequest } from '../tasks/stored-request.ts'
import { isStored } from '../tasks/stored-task.ts'
import { toDueTask } from '../tasks/to-due-task.ts'
import { findTargets } from './find-targets.ts'

// What one request may make the database write and the answer repeat.
const mostBytes = 16 * 1024 * 1024

export const publishEvent = creation({
  right: 'event.publish',
  summary: 'Publish an event: call its target, or every matching subscription, at once',
  answer: { status: 202, body: publishedEvent },
  refusals: ['quota_exceeded'],
  body: publishEventBody,
  storesOneTask: body => body.target_url !== undefined,
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
    const [first] = tasks
    const answer = (presented: Task[]) => accepted({ id: toId('evt', eventId), topic: body.topic, tasks: presented })
    return withinLimit(work, caller, 'pendingTasks', tasks.length, async creating =>
      first && tasks.length === 1
        ? storeOne(work, creating, first, answer)
        : answer(await storeMany(work, creating, tasks)),
    )
  },
})

async function storeOne(
  work: Work,
  { storeTask }: Creating,
  task: NewTask,
  answer: (presented: Task[]) => Reply,
): Promise<Reply> {
  const { stored, reply } = await storeTask(task, createdAt => answer([presentNewTask(task, createdAt)]))
  work.enqueue([toDueTask(task, stored.executeAt)], stored.now.getTime())
  return reply
}

async function storeMany(work: Work, { db }: Creating, tasks: NewTask[]): Promise<Task[]> {
  if (tasks.length === 0) return []
  const inserted = await insertTasks(db, tasks)
  const stored = new Map(inserted.filter(isStored).map(row => [row.id, row]))
  work.enqueue(
    tasks.flatMap(task => {
      const row = stored.get(task.id)
      return row ? [toDueTask(task, row.executeAt)] : []
    }),
    inserted[0]?.now.getTime() ?? work.clock.now(),
  )
  return tasks.flatMap(task => {
    const row = stored.get(task.id)
    return row ? [presentNewTask(task, row.createdAt.toISOString())] : []
  })
}

function tooLarge(targets: number): AppError {
  const detail = `The payload goes to ${targets} subscriptions; together that may be at most ${mostBytes} bytes.`
  return new AppError('payload_too_large', `${detail} Send a reference instead of the data.`)
}
