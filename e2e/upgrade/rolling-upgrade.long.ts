import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callApi, inMs, signUp } from '../api-calls.ts'
import { type SteadyPosts, startSteadyPosts } from '../scaling/steady-posts.ts'
import { addedSql, deploy, hasPreviousRelease } from './previous-release.ts'
import { openUpgradeStage, type UpgradeStage } from './stage.ts'

describe.runIf(hasPreviousRelease())('an upgrade from the previous release, under load', () => {
  let stage: UpgradeStage
  beforeAll(async () => {
    stage = await openUpgradeStage()
  }, 180_000)
  afterAll(() => stage?.close())

  it('works at every step: old tables, new tables under old processes, both versions in parallel, the new one alone', async () => {
    const { database, target, sql, start } = stage
    const [oldPort, newPort] = [await freePort(), await freePort()]
    const [oldUrl, newUrl] = [oldPort, newPort].map(port => `http://127.0.0.1:${port}`) as [string, string]

    const old = await start('previous', oldPort)
    const caller = await signUp(oldUrl)
    const loads: SteadyPosts[] = []
    const load = (url: string, name: string) => loads.push(startSteadyPosts(url, caller, target, 5_000, name))
    const arrive = (count: number) => target.waitFor(target.requests.length + count, 90_000)
    load(oldUrl, 'old')
    await arrive(20)

    expect((await deploy('this', database.url)).sort()).toEqual(addedSql())
    await arrive(20) // the old processes on the new tables

    const fresh = await start('this', newPort)
    load(newUrl, 'new')
    await arrive(60)
    // Each version reads the data of the other.
    const list = '/api/v1/scheduler/tasks?limit=100'
    const lists = await Promise.all(
      [oldUrl, newUrl].map(url =>
        waitFor(
          () => callApi(url, caller, 'GET', list),
          ({ status }) => status !== 503,
        ),
      ),
    )
    expect(lists.filter(({ status }) => status !== 200)).toEqual([]) // shows the body of a refusal
    for (const { body } of lists) {
      const kinds = new Set(body.data.map(({ name }: { name: string }) => name.split('-')[0]))
      expect(kinds).toEqual(new Set(['old', 'new']))
    }

    await loads[0]?.stop()
    expect(await Promise.all(old.map(service => service.stop('SIGTERM')))).toEqual([0, 0, 0])
    await arrive(20)
    await loads[1]?.stop()

    const accepted = loads.flatMap(({ accepted }) => accepted)
    await waitFor(
      async () => (await sql.query(`SELECT id FROM tasks WHERE state <> 'success'`)).rows,
      unfinished => unfinished.length === 0,
      60_000,
    )
    expect(target.requests.map(({ path }) => path).sort()).toEqual([...accepted].sort())
    // Neither version failed on the other's tables or broke a connection. On a busy machine a statement may time out:
    // the client gets 503, repeats the create, and finds the key in use until the first call ends.
    expect(loads.flatMap(({ repeated }) => repeated).filter(status => status !== 503 && status !== 409)).toEqual([])
    await Promise.all(fresh.map(service => service.stop('SIGTERM')))
  }, 400_000)

  it('ends an attempt that died with a new dispatcher while only an old scheduler runs', async () => {
    const { database, target, sql, start } = stage
    await deploy('this', database.url)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    await start('previous', await freePort(), ['scheduler'])
    const [, dispatcher] = await start('this', port, ['api', 'dispatcher'])
    target.answer('/held', [{ does: 'hang' }, { status: 200 }])
    const task = { name: 'held', url: target.url('/held'), method: 'POST', timeout_ms: 5_000 }
    const retry = { max_retries: 3, backoff: 'fixed', base_delay_ms: 1_000 }
    const created = await callApi(url, await signUp(url), 'POST', '/api/v1/scheduler/tasks', {
      ...task,
      retry,
      execute_at: inMs(2_000),
    })
    expect(created.status).toBe(201)
    await target.waitFor(() => target.requestsTo('/held').length === 1, 90_000)
    await dispatcher?.stop('SIGKILL')
    await start('this', port, ['dispatcher'])
    await target.waitFor(() => target.requestsTo('/held').length === 2, 90_000)
    const runs = () =>
      sql.query(`SELECT error_code FROM runs JOIN task_requests USING (task_id) WHERE name = 'held' ORDER BY attempt`)
    await waitFor(runs, ({ rows }) => rows.length === 2)
    expect((await runs()).rows).toEqual([{ error_code: 'worker_lost' }, { error_code: null }])
  }, 400_000)
})
