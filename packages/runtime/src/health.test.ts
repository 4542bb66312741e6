import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { readiness, serveHealth } from './health.ts'
import { openMeter } from './metrics/open-meter.ts'

const open: Array<{ close(): void }> = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

it('answers 200 while everything answers, and 503 naming what does not', async () => {
  let queueIsUp = true
  const checks = {
    database: async () => {},
    queue: async () => {
      if (!queueIsUp) throw new Error('down')
    },
  }
  const server = await serveHealth(0, checks, { metrics: openMeter('api') })
  open.push(server)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  queueIsUp = false
  const response = await fetch(`${url}/readyz`)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({
    ready: false,
    checks: { database: 'ok', queue: 'unavailable' },
    zone_data: { version: process.versions.tz },
  })
  expect((await fetch(`${url}/other`)).status).toBe(404)
  const metrics = await fetch(`${url}/metrics`)
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await metrics.text()).toMatch(/^process_cpu_seconds_total\{service="api"\} /m)
})

it('stays ready when only an optional check fails', async () => {
  const state = await readiness({ database: async () => {}, queue: () => Promise.reject(new Error('down')) }, ['queue'])
  expect(state).toMatchObject({ ready: true, checks: { database: 'ok', queue: 'unavailable' } })
})
