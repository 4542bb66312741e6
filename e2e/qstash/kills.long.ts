import { setTimeout as sleep } from 'node:timers/promises'
import { startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { expect, it } from 'vitest'
import { startBelfry } from '../belfry.ts'

const publishers = 4
const kills = 3

it('delivers every accepted message and its callback, while processes are killed', async () => {
  const target = await startReceiver()
  const belfry = await startBelfry('postgres', { env: { QSTASH_API: 'on' } })
  try {
    await belfry.start('dispatcher')
    const accepted: string[] = []
    let isPublishing = true
    const publish = async () => {
      const headers = {
        Authorization: `Bearer ${belfry.caller.apiKey}`,
        'Upstash-Callback': target.url('/callback'),
        'Upstash-Retry-Delay': '500',
        'Upstash-Retries': '20',
      }
      while (isPublishing) {
        const path = `${belfry.url}/v2/publish/${target.url('/work')}`
        const response = await fetch(path, { method: 'POST', headers, body: 'x' }).catch(() => null)
        if (response?.status === 201) accepted.push(((await response.json()) as { messageId: string }).messageId)
        await sleep(5)
      }
    }
    const publishing = Array.from({ length: publishers }, publish)
    for (let i = 0; i < kills; i++) {
      for (const name of ['api', 'dispatcher'] as const) {
        await sleep(700 + Math.random() * 600)
        const victim = belfry.services.findLast(service => service.name === name)
        await victim?.stop('SIGKILL')
        await belfry.start(name)
      }
    }
    isPublishing = false
    await Promise.all(publishing)
    const open = async () => belfry.execute('SELECT count(*)::int AS n FROM tasks WHERE finished_at IS NULL')
    await waitFor(open, ([row]) => row?.n === 0, 120_000)
    const delivered = new Set(
      target.requestsTo('/work').map(({ rawHeaders }) => headerOf(rawHeaders, 'upstash-message-id')),
    )
    const calledBack = new Set(
      target.requestsTo('/callback').map(({ body }) => JSON.parse(body.toString()).sourceMessageId),
    )
    expect(accepted.length).toBeGreaterThan(50)
    expect(accepted.filter(id => !delivered.has(id))).toEqual([])
    expect(accepted.filter(id => !calledBack.has(id))).toEqual([])
    const dead = await belfry.execute(`SELECT count(*)::int AS n FROM tasks WHERE state <> 'success'`)
    expect(dead).toEqual([{ n: 0 }])
  } finally {
    await belfry.close()
    await target.close()
  }
}, 240_000)

function headerOf(rawHeaders: readonly string[], name: string): string {
  return rawHeaders[rawHeaders.findIndex(other => other.toLowerCase() === name) + 1] ?? ''
}
