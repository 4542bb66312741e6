import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, callApi, inMs, signUp } from '../api-calls.ts'
import { startSteadyPosts } from '../scaling/steady-posts.ts'
import { addedSql, deploy, hasPreviousRelease } from './previous-release.ts'
import { openUpgradeStage, type UpgradeStage } from './stage.ts'

const tasks = '/api/v1/scheduler/tasks'
const queuePath = '/api/v1/scheduler/queues/held'

describe.runIf(hasPreviousRelease())('a rollback to the previous release, under load', () => {
  let stage: UpgradeStage
  beforeAll(async () => {
    stage = await openUpgradeStage()
  }, 180_000)
  afterAll(() => stage?.close())

  it('delivers every accepted task once, also the tasks of a queue that was paused by the new version', async () => {
    const { database, target, sql, start } = stage
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()]
    const [firstUrl, newUrl, backUrl, againUrl] = ports.map(port => `http://127.0.0.1:${port}`) as [
      string,
      string,
      string,
      string,
    ]
    const arrive = (count: number) => target.waitFor(target.requests.length + count, 90_000)
    const accepted: string[] = []
    const loads: Array<Promise<void>> = []
    const load = (url: string, caller: Caller, name: string) => {
      const posts = startSteadyPosts(url, caller, target, 5_000, name)
      return async () => {
        const stopping = posts.stop()
        loads.push(stopping)
        await stopping
        accepted.push(...posts.accepted)
      }
    }

    // The previous release with data.
    const first = await start('previous', ports[0] as number)
    const caller = await signUp(firstUrl)
    const secretPath = `/api/v1/workspaces/${caller.workspaceId}/secrets/TOKEN`
    expect((await callApi(firstUrl, caller, 'PUT', secretPath, { value: 'old-secret' })).status).toBe(201)
    const stopFirst = load(firstUrl, caller, 'first')
    await arrive(20)

    // The upgrade.
    expect((await deploy('this', database.url)).sort()).toEqual(addedSql())
    const fresh = await start('this', ports[1] as number)
    const stopNew = load(newUrl, caller, 'new')
    await stopFirst()
    expect(await Promise.all(first.map(service => service.stop('SIGTERM')))).toEqual([0, 0, 0])
    const newcomer = await signUp(newUrl)
    const stopNewcomer = load(newUrl, newcomer, 'newcomer')
    const queued = await createQueued(newUrl, caller, target.url)
    await arrive(40)
    await waitFor(
      async () => (await callApi(newUrl, caller, 'GET', queuePath)).body.waiting,
      waiting => waiting === 10,
    )
    await sleep(3_000) // claimed once, and blocked

    // Back to the previous release, on the new tables.
    const back = await start('previous', ports[2] as number)
    const stopBack = load(backUrl, caller, 'back')
    await Promise.all([stopNew(), stopNewcomer()])
    expect(await Promise.all(fresh.map(service => service.stop('SIGTERM')))).toEqual([0, 0, 0])
    const withSecret = {
      ...{ name: 'secret', url: target.url('/secret'), method: 'POST', execute_at: inMs(1_500) },
      headers: { authorization: '{{ secrets.TOKEN }}' },
    }
    expect((await callApi(backUrl, caller, 'POST', tasks, withSecret)).status).toBe(201)
    await arrive(40)
    for (const path of [tasks, '/api/v1/scheduler/runs', '/api/v1/scheduler/cronjobs']) {
      for (const who of [caller, newcomer]) {
        const { status, text } = await callApi(backUrl, who, 'GET', `${path}?limit=100`)
        expect([path, status], text).toEqual([path, 200])
      }
    }
    await stopBack()
    await waitFor(
      async () => accepted.filter(path => target.requestsTo(path).length === 0),
      missing => missing.length === 0,
      60_000,
    )
    expect(target.requestsTo('/secret').map(({ rawHeaders }) => rawHeaders.includes('old-secret'))).toEqual([true])
    expect(await Promise.all(back.map(service => service.stop('SIGTERM')))).toEqual([0, 0, 0])

    expect(target.requests.filter(({ path }) => queued.includes(path))).toEqual([])

    // Forward again: the tasks of the queue are delivered.
    const again = await start('this', ports[3] as number)
    expect((await callApi(againUrl, caller, 'POST', `${queuePath}/resume`)).status).toBe(200)
    await waitFor(
      async () => (await sql.query(`SELECT id FROM tasks WHERE state <> 'success'`)).rows,
      unfinished => unfinished.length === 0,
      60_000,
    )
    expect(target.requests.map(({ path }) => path).sort()).toEqual([...accepted, ...queued, '/secret'].sort())
    await Promise.all(again.map(service => service.stop('SIGTERM')))
  }, 500_000)
})

// Tasks of a paused queue. They are blocked before the rollback.
async function createQueued(url: string, caller: Caller, urlOf: (path: string) => string): Promise<string[]> {
  const settings = await callApi(url, caller, 'PUT', queuePath, { max_concurrent: 1 })
  expect([settings.status, settings.text]).toEqual([expect.toBeOneOf([200, 201]), expect.any(String)])
  expect((await callApi(url, caller, 'POST', `${queuePath}/pause`)).status).toBe(200)
  const paths = Array.from({ length: 10 }, (_, i) => `/queued-${i}`)
  for (const path of paths) {
    const task = { name: path, url: urlOf(path), method: 'POST', execute_at: inMs(1_500), queue: 'held' }
    const created = await callApi(url, caller, 'POST', tasks, task)
    expect([created.status, created.text]).toEqual([201, expect.any(String)])
  }
  return paths
}
