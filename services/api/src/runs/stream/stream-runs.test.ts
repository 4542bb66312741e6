import { newUuid } from '@belfry/domain/id'
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

it('a stream whose listener is slow ends at 2 MB of events', async () => {
  const listeners: Listener[] = []
  const listen = (_: string, listener: Listener) => {
    listeners.push(listener)
    return () => {}
  }
  const ctx = { runTails: { listen } } as unknown as Context
  const start = async () => {
    const over = new AbortController().signal
    const events = runEvents(ctx, { workspaceIds: ['one'], after: undefined, check: async () => {}, over })
    expect((await events.next()).value).toBe('retry: 2000\n\n')
    return events
  }
  const [quick, slow] = [await start(), await start()]
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
