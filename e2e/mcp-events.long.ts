import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'
import { aClientOfEvents, type ClientOfEvents } from './client-of-events.ts'

const kills = 100
const names = ['api', 'scheduler', 'dispatcher'] as const

describe('the subscriptions of an MCP client', () => {
  let belfry: Belfry
  let client: ClientOfEvents
  beforeAll(async () => {
    belfry = await startBelfry('postgres')
    client = await aClientOfEvents(`${belfry.url}/mcp`, { 'X-Api-Key': String(belfry.caller.apiKey) })
  })
  afterAll(async () => {
    await client?.close()
    await belfry?.close()
  })

  const end = (which: ReadonlyArray<(typeof names)[number]>, signal: 'SIGKILL' | 'SIGTERM') => {
    const ending = which.map(name => belfry.services.findLast(service => service.name === name)?.stop(signal))
    return Promise.all(ending)
  }
  const start = (which: ReadonlyArray<(typeof names)[number]>) => Promise.all(which.map(name => belfry.start(name)))

  it('survive a restart of every process, with their reminders and their secrets', async () => {
    const at = inMs(20_000)
    const { id } = await client.subscribe('reminder.due', { at, note: 'Still there' })
    const topic = await client.subscribe('topic', { topic: 'restarted' })
    await end(names, 'SIGTERM')
    await start(names)
    const [reminder] = await client.received(id, 1)
    expect(Number(reminder?.at) - Date.parse(at)).toBeLessThan(1_000)
    await belfry.call('POST', '/api/events', { topic: 'restarted', payload: {} })
    await client.received(topic.id, 1)
    for (const one of [id, topic.id]) {
      expect((await client.events.refresh({ id: one })).id).toBe(one)
      await client.events.unsubscribe({ id: one })
    }
  })

  it(`receive each event, by one id, although processes are killed ${kills} times before the delivery`, async () => {
    const { id } = await client.subscribe('topic', { topic: 'killed' })
    const ids: string[] = []
    for (let n = 0; n < kills; n++) {
      const { status, body } = await belfry.call('POST', '/api/events', { topic: 'killed', payload: { n } })
      expect(status).toBe(202)
      ids.push(body.tasks[0].id)
      const killed = n % 10 === 0 ? names : (['dispatcher'] as const)
      await end(killed, 'SIGKILL')
      await start(killed)
    }
    const received = await client.received(id, kills, 180_000)
    expect(received.map(({ event }) => event.eventId).sort()).toEqual(ids.sort())
  })
})
