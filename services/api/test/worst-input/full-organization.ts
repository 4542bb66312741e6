import { fromId } from '@belfry/domain/id'
import { anOrganization, type TestOrganization } from '../organization.ts'
import { storeRuns } from '../run-rows.ts'
import { aTaskBody, type TestApi } from '../setup.ts'
import { worstValues } from './worst-values.ts'

const count = 30
const longUrl = `https://example.com/${'x'.repeat(2_000)}`

/** An organization whose lists have the largest objects, and the ids of some of them, by the names of parameters. */
export type FullOrganization = {
  organization: TestOrganization
  headers: Record<string, string>
  ids: Record<string, string>
}

/** Makes an organization whose lists and exports are as large as they may be. */
export async function aFullOrganization(api: TestApi): Promise<FullOrganization> {
  const organization = await anOrganization(api, 'unlimited')
  const { id: org, workspaceId: ws, owner } = organization
  const headers = { ...owner.session, 'X-Workspace-Id': ws }
  const ids: Record<string, string> = { org, ws }
  const create = async (path: string, body: unknown, as: Record<string, string> = headers) => {
    const { status, text, body: created } = await api.send('POST', path, body, as)
    if (status >= 300) throw new Error(`${path}: ${text}`)
    return created
  }
  const { 'X-Api-Key': key } = await organization.apiKey()
  const asMessage = { Authorization: `Bearer ${key}` }
  const [payload] = worstValues
  const headersOf8Kb = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`X-Long-${i}`, 'x'.repeat(1_000)]))
  for (let i = 0; i < count; i++) {
    const body = aTaskBody({ payload, url: longUrl, name: `${i}`.padEnd(200, 'x') })
    const { execute_at: _, ...target } = body
    const task = await create('/api/v1/scheduler/tasks', body)
    const dead = await create('/api/v1/scheduler/tasks', body)
    const job = await create('/api/v1/scheduler/cronjobs', { ...target, cron: '* * * * *' })
    const sub = await create('/api/v1/scheduler/subscriptions', {
      topic: `topic.${i}`,
      url: longUrl,
      headers: headersOf8Kb,
    })
    const message = await create('/v2/publish/https://example.com/', payload, { ...asMessage, 'Upstash-Delay': '1h' })
    const schedule = await create('/v2/schedules/https://example.com/', payload, {
      ...asMessage,
      'Upstash-Cron': '0 0 1 1 *',
    })
    Object.assign(ids, { task: task.id, dead: dead.id, cronjob: job.id, sub: sub.id })
    Object.assign(ids, { message: message.messageId, schedule: schedule.scheduleId })
    const end = `UPDATE tasks SET state = 'dead', attempts = 1, finished_at = now() WHERE id = $1`
    await api.db.query(end, [fromId('task', dead.id)])
    await storeRuns(
      api.db,
      Array.from({ length: 10 }, () => ({
        workspaceId: fromId('ws', ws) ?? '',
        taskId: fromId('task', dead.id) ?? '',
        status: 'failed' as const,
        responseStatus: 500,
        responseBody: Buffer.alloc(65_536, 'x'),
      })),
    )
  }
  const endpoints = Array.from({ length: 900 }, (_, i) => ({ url: `https://example.com/${i}` }))
  await create('/v2/topics/a-group/endpoints', { endpoints }, asMessage)
  return { organization, headers, ids }
}
