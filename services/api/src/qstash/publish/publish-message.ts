import type { Reply } from '../../http/reply.ts'
import { readQuota } from '../../quotas/quotas.ts'
import { type Call, headersOf, readBody } from '../call.ts'
import { storeSchedule } from '../schedules.ts'
import { type Publication, preparePublication, storePrepared } from './publish.ts'

/** `POST /v2/publish/{destination}` */
export async function publishMessage(call: Call): Promise<Reply> {
  const [destination = ''] = call.params
  return publish(call, { destination, headers: headersOf(call), body: await readBody(call) })
}

/** `POST /v2/enqueue/{queue}/{destination}` */
export async function enqueueMessage(call: Call): Promise<Reply> {
  const [queue, destination = ''] = call.params
  return publish(call, { destination, headers: headersOf(call), body: await readBody(call), queue })
}

async function publish(call: Call, publication: Publication): Promise<Reply> {
  if (publication.headers['upstash-cron']) return storeSchedule(call, publication)
  const quota = await readQuota(call.ctx, call.caller.organizationId)
  const prepared = await preparePublication(call, quota, publication)
  const published = await storePrepared(call, prepared)
  const [first] = published
  const isRepeated = published.every(({ deduplicated }) => deduplicated)
  return { status: isRepeated ? 202 : 201, body: prepared.isGroup ? published : first }
}
