import { newUuid, toId } from '@belfry/domain/id'
import type { RunRow } from '@belfry/present/run-row'
import { expect, it } from 'vitest'
import type { Context } from '../../context.ts'
import type { Listener } from './follow-runs.ts'
import { runEvents } from './stream-runs.ts'

const aRun = (): RunRow => ({
  id: newUuid(),
  workspaceId: newUuid(),
  taskId: newUuid(),
  taskName: 'a task',
  source: 'task',
  cronJobId: null,
  cronJobTimezone: null,
  topic: null,
  labels: null,
  attempt: 1,
  status: 'success',
  scheduledAt: new Date(),
  startedAt: new Date(),
  finishedAt: new Date(),
  waitedFor: null,
  timings: null,
  url: `https://example.com/${'x'.repeat(2_000)}`,
  method: 'GET',
  responseStatus: 200,
  errorCode: null,
  errorMessage: null,
})

/** Returns the listeners of streams, and a function that starts one. */
function aTail() {
  const listeners: Listener[] = []
  const listen = (_: string, listener: Listener) => {
    listeners.push(listener)
    return () => {}
  }
  const ctx = { runTails: { listen } } as unknown as Context
  const start = async (...workspaceIds: string[]) => {
    const over = new AbortController().signal
    const events = runEvents(ctx, { workspaceIds, after: undefined, check: async () => {}, over })
    expect((await events.next()).value).toBe('retry: 2000\n\n')
    return events
  }
  return { listeners, start }
}

it('a stream names its place before its first run', async () => {
  const { listeners, start } = aTail()
  const events = await start('one')
  const upTo = newUuid()
  listeners[0]?.({ runs: [], omitted: 0, upTo })
  expect((await events.next()).value).toBe(`id: ${toId('run', upTo)}\n\n`)
  await events.return(undefined)
})

it('the last of several events has the place, up to where the runs of all workspaces are complete', async () => {
  const { listeners, start } = aTail()
  const events = await start('one', 'two')
  const [older, newer] = [newUuid(Date.now() - 60_000), newUuid()]
  const [one, two] = listeners
  one?.({ runs: [aRun()], omitted: 0, upTo: newer })
  expect((await events.next()).value).toMatch(/^event: run\ndata: /)
  one?.({ runs: [aRun()], omitted: 0, upTo: newer })
  two?.({ runs: [], omitted: 3, upTo: older })
  const { value } = await events.next()
  const place = `id: ${toId('run', older)}\nevent: omitted\ndata: {"count":3}\n\n`
  expect(value).toMatch(/^event: run\n/)
  expect(String(value).split('id: ')).toHaveLength(2)
  expect(value).toContain(place)
  await events.return(undefined)
})

it('a stream whose listener is slow ends at 2 MB of events', async () => {
  const { listeners, start } = aTail()
  const [quick, slow] = [await start('one'), await start('one')]
  let read = 0
  for (let i = 0; i < 5; i++) {
    const runs = Array.from({ length: 200 }, aRun)
    for (const listener of listeners) listener({ runs, omitted: 0, upTo: newUuid() })
    read += String((await quick.next()).value).split('event: run').length - 1
  }
  expect(read).toBe(1_000)
  expect(await slow.next()).toEqual({ done: true, value: undefined })
  await quick.return(undefined)
})
