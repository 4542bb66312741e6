import { toRefusal } from '../../http/problem.ts'
import { ok, type Reply } from '../../http/reply.ts'
import { type Quota, readQuota } from '../../quotas/quotas.ts'
import { type Call, readJson } from '../call.ts'
import { badRequest, QstashError } from '../qstash-error.ts'
import { refuseWorkflow } from './message-options.ts'
import { type Publication, type Published, preparePublication, storePrepared } from './publish.ts'

const maxBytes = 5 * 1024 * 1024
const maxMessages = 1000
const atOnce = 50

type Answer = Published | Published[] | { error: string }

/**
 * `POST /v2/batch`. A message that is refused does not affect the others, except one of a workflow: its client would take the
 * answer of the batch for a run that has started.
 */
export async function batch(call: Call): Promise<Reply> {
  const items = await readJson(call, maxBytes)
  if (!Array.isArray(items)) throw badRequest('the body is not a JSON array of messages')
  if (items.length > maxMessages) throw badRequest(`at most ${maxMessages} messages are allowed`)
  for (const { headers } of items.map(Object)) refuseWorkflow(readHeaders(headers))
  const quota = await readQuota(call.ctx, call.caller.organizationId)
  const answers: Answer[] = []
  for (let i = 0; i < items.length; i += atOnce) {
    answers.push(...(await publishPart(call, quota, items.slice(i, i + atOnce))))
  }
  return ok(answers)
}

// Each message is prepared before the next one, so their ids have the order of the batch. Then one statement stores those of
// many messages.
async function publishPart(call: Call, quota: Quota, items: readonly unknown[]): Promise<Answer[]> {
  const storing: Array<Promise<Answer>> = []
  for (const item of items) {
    const prepared = await settle(() => preparePublication(call, quota, readItem(item)))
    if ('error' in prepared) {
      storing.push(Promise.resolve(prepared))
      continue
    }
    const stored = settle(async () => {
      const published = await storePrepared(call, prepared)
      const [first] = published
      return prepared.isGroup || !first ? published : first
    })
    // A later message of the batch may repeat this one.
    if (prepared.messages.some(({ hash }) => hash !== null)) await stored
    storing.push(stored)
  }
  return Promise.all(storing)
}

async function settle<T>(run: () => Promise<T>): Promise<T | { error: string }> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof QstashError) return { error: error.message }
    const refusal = toRefusal(error)
    if (refusal.code === 'internal' || refusal.code === 'unavailable') throw error
    return { error: refusal.message }
  }
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
