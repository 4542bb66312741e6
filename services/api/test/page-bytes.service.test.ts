import { expect, it } from 'vitest'
import { aTaskBody, type Caller, useApi } from './setup.ts'

const api = useApi({ QSTASH_API: 'on' })
const count = 12
const payload = 'x'.repeat(250_000)
const key = (caller: Caller) => ({ 'X-Api-Key': caller.apiKey })

/** Reads all pages of a list; returns the ids of each. */
async function readPages(caller: Caller, path: string): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await api.send('GET', `${path}${more}`, undefined, key(caller))
    expect(status).toBe(200)
    pages.push(body.data.map(({ id }: { id: string }) => id))
    cursor = body.next_cursor
  }
  return pages
}

it('a page of tasks or cron jobs ends at 2 MB of payloads, and its cursor leads to the rest', async () => {
  const caller = await api.signUp()
  const tasks: string[] = []
  const jobs: string[] = []
  for (let i = 0; i < count; i++) {
    const name = i % 2 === 0 ? 'even' : 'odd'
    const task = await api.send('POST', '/api/v1/scheduler/tasks', aTaskBody({ name, payload }), key(caller))
    const { execute_at: _, ...target } = aTaskBody({ name, payload })
    const job = await api.send('POST', '/api/v1/scheduler/cronjobs', { ...target, cron: '0 0 1 1 *' }, key(caller))
    expect([task.status, job.status]).toEqual([201, 201])
    tasks.unshift(task.body.id)
    jobs.unshift(job.body.id)
  }
  const some = tasks[5] ?? ''
  await api.send('POST', `/api/v1/scheduler/tasks/${some}/cancel`, undefined, key(caller))

  for (const [path, ids] of [
    ['/api/v1/scheduler/tasks?limit=100', tasks],
    ['/api/v1/scheduler/tasks?limit=100&state=pending&state=cancelled', tasks],
    ['/api/v1/scheduler/tasks?limit=5', tasks],
    ['/api/v1/scheduler/tasks?limit=100&name=even', tasks.filter((_, i) => i % 2 === 1)],
    ['/api/v1/scheduler/cronjobs?limit=100', jobs],
    ['/api/v1/scheduler/cronjobs?limit=100&name=odd', jobs.filter((_, i) => i % 2 === 0)],
  ] as const) {
    const pages = await readPages(caller, path)
    expect(pages.flat(), path).toEqual(ids)
    for (const page of pages) expect(page.length, path).toBeLessThanOrEqual(8)
  }
  const response = await fetch(`${api.url}/api/v1/scheduler/tasks/export?format=jsonl`, { headers: key(caller) })
  const exported = (await response.text()).trimEnd().split('\n')
  expect(exported.map(line => JSON.parse(line).id)).toEqual(tasks)
})

it('pages of events and the list of schedules of the QStash interface have all of them, too', async () => {
  const caller = await api.signUp()
  const call = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const options = { method, headers: { Authorization: `Bearer ${caller.apiKey}`, ...headers }, ...(body && { body }) }
    const response = await fetch(api.url + path, options)
    return JSON.parse(await response.text())
  }
  const messages: string[] = []
  const schedules: string[] = []
  for (let i = 0; i < count; i++) {
    const delayed = { 'Upstash-Delay': '1h' }
    messages.unshift((await call('POST', '/v2/publish/https://example.com/', payload, delayed)).messageId)
    const timed = { 'Upstash-Cron': '0 0 1 1 *' }
    schedules.unshift((await call('POST', '/v2/schedules/https://example.com/', payload, timed)).scheduleId)
  }
  const listed: string[] = []
  for (let cursor = ''; ; ) {
    const page = await call('GET', `/v2/events${cursor}`)
    expect(page.events.length).toBeLessThanOrEqual(3)
    for (const { messageId, body } of page.events) {
      listed.push(messageId)
      expect(Buffer.from(body, 'base64')).toHaveLength(payload.length)
    }
    if (page.cursor === undefined) break
    cursor = `?cursor=${page.cursor}`
  }
  expect(listed).toEqual(messages)
  const all = await call('GET', '/v2/schedules')
  expect(all.map(({ scheduleId }: { scheduleId: string }) => scheduleId)).toEqual(schedules)
})
