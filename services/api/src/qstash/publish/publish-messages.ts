import { takeTurns } from '@belfry/domain/slices'
import { requireRight } from '../../auth/authorize.ts'
import { Reply } from '../../http/reply.ts'
import { readQuota } from '../../quotas/quotas.ts'
import { orRefusal } from '../../tasks/create-task.ts'
import { type Call, on, type Publication, type QstashRoutes, readJson, readPublication } from '../call.ts'
import { badRequest } from '../qstash-error.ts'
import { storeSchedule } from '../schedules.ts'
import { refuseWorkflow } from './message-options.ts'
import { type Prepared, preparePublication, storePublications } from './publish.ts'

/**
 * The rest of the path after an expression is a destination, which must stay as it was sent, with its double slashes, its escapes
 * and its query.
 */
export const publishRoutes: QstashRoutes = [
  [/^\/publish\/./, { post: on('task.create', publishMessage) }],
  [/^\/enqueue\/([^/]+)\/./, { post: on('task.create', publishMessage) }],
  ['/batch', { post: on('task.create', publishBatch) }],
]

async function publishMessage(call: Call<'task.create'>): Promise<Reply> {
  const publication = { ...(await readPublication(call)), ...(call.name !== '' && { queue: call.name }) }
  if (publication.headers['upstash-cron']) {
    return storeSchedule({ ...call, caller: requireRight(call.caller, 'cron_job.write') }, publication)
  }
  const prepared = await preparePublication(call, await readQuota(call.ctx, call.caller.organizationId), publication)
  const [published = []] = await storePublications(call, [prepared])
  const isRepeated = published.every(({ deduplicated }) => deduplicated)
  return new Reply({ status: isRepeated ? 202 : 201, body: prepared.isGroup ? published : published[0] })
}

const maxBytes = 5 * 1024 * 1024
const maxMessages = 1000

/**
 * Publishes several messages. A refused message does not affect the others, except in a workflow: its client would take the
 * answer of the batch for a run that has started.
 */
async function publishBatch(call: Call<'task.create'>) {
  const items = await readJson(call, maxBytes)
  if (!Array.isArray(items)) throw badRequest('the body is not a JSON array of messages')
  if (items.length > maxMessages) throw badRequest(`at most ${maxMessages} messages are allowed`)
  for (const { headers } of items.map(Object)) refuseWorkflow(readHeaders(headers))
  const quota = await readQuota(call.ctx, call.caller.organizationId)
  const prepared: Array<Prepared | { error: string }> = []
  // One after the other, so their ids have the order of the batch.
  const turn = takeTurns()
  for (const item of items) {
    const one = await orRefusal(() => preparePublication(call, quota, readItem(item)))
    prepared.push('code' in one ? { error: one.message } : one)
    await turn()
  }
  const published = await storePublications(
    call,
    prepared.flatMap(one => ('error' in one ? [] : [one])),
  )
  return prepared.map(one => {
    if ('error' in one) return one
    const answers = published.shift() ?? []
    return one.isGroup ? answers : answers[0]
  })
}

function readItem(item: unknown): Publication {
  const { destination, headers, body, queue } = Object(item) as Record<string, unknown>
  if (typeof destination !== 'string') throw badRequest('a message has no destination')
  if (body !== undefined && body !== null && typeof body !== 'string')
    throw badRequest('the body of a message is not a string')
  return {
    destination,
    headers: readHeaders(headers),
    body: Buffer.from(body ?? ''),
    ...(typeof queue === 'string' && queue !== '' && { queue }),
  }
}

// Some clients send a list of values for each name.
function readHeaders(headers: unknown): Record<string, string> {
  const entries = Object.entries(Object(headers) as Record<string, unknown>)
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : String(value ?? '')]),
  )
}
