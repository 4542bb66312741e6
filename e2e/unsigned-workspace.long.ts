import { startReceiver } from '@belfry/test-support'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { expect, it, onTestFinished } from 'vitest'
import { inMs } from './api-calls.ts'
import { startBelfry } from './belfry.ts'

it('a workspace from before signatures gets one secret for all dispatchers', async () => {
  const target = await startReceiver()
  onTestFinished(() => target.close())
  const belfry = await startBelfry('postgres', { services: ['all-in-one'] })
  onTestFinished(() => belfry.close())
  await belfry.start('dispatcher')
  await belfry.execute('DELETE FROM data_keys') // with all that they encrypt, as if they had never existed
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const body = { name: `${i}`, url: target.url(`/${i}`), method: 'POST', payload: { i }, execute_at: inMs(6000) }
      return belfry.call('POST', '/api/v1/scheduler/tasks', body)
    }),
  )
  expect(created.map(({ status }) => status)).toEqual(Array(20).fill(201))
  const received = await target.waitFor(20, 20_000)
  const { body } = await belfry.call('GET', `/api/v1/workspaces/${belfry.caller.workspaceId}/signing-secrets`)
  expect(body.data).toHaveLength(1)
  for (const request of received) {
    const entries = request.rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, request.rawHeaders[i + 1]]] : []))
    const headers = Object.fromEntries(entries) as Record<string, string>
    for (const Webhook of [StandardWebhook, SvixWebhook]) {
      expect(() => new Webhook(body.data[0].secret).verify(request.body.toString(), headers)).not.toThrow()
    }
  }
}, 60_000)
