import { randomBytes } from 'node:crypto'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import { hasTool } from '../deployment/tools.ts'

describe.runIf(hasTool('prometheus', ['--version']))('a Prometheus that stores exemplars', () => {
  let belfry: Belfry
  let target: Receiver
  let prometheus: RunningProcess
  let prometheusUrl: string
  beforeAll(async () => {
    const [apiPort, dispatcherPort, port] = await Promise.all([freePort(), freePort(), freePort()])
    target = await startReceiver({ otherwise: { status: 204 } })
    belfry = await startBelfry('postgres', { services: ['api'], env: { METRICS_PORT: String(apiPort) } })
    await belfry.start('dispatcher', { METRICS_PORT: String(dispatcherPort) })
    await belfry.start('scheduler', { METRICS_PORT: '0' })
    const folder = await mkdtemp(join(tmpdir(), 'belfry-prometheus-'))
    const targets = [apiPort, dispatcherPort].map(one => `127.0.0.1:${one}`)
    const config = {
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'belfry', static_configs: [{ targets }] }],
    }
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config))
    prometheusUrl = `http://127.0.0.1:${port}`
    const options = ['config.file=prometheus.yml', 'storage.tsdb.path=data', `web.listen-address=127.0.0.1:${port}`]
    const args = [...options, 'enable-feature=exemplar-storage'].map(option => `--${option}`)
    prometheus = startProcess(['prometheus', ...args], { cwd: folder })
  })
  afterAll(async () => {
    await prometheus?.stop('SIGKILL')
    await belfry?.close()
    await target?.close()
  })

  const query = async (path: string, text: string, range: Record<string, string> = {}) => {
    const response = await fetch(`${prometheusUrl}/api/v1/${path}?${new URLSearchParams({ query: text, ...range })}`)
    return (await response.json()).data
  }
  const exemplarsOf = (name: string) => {
    const now = Math.round(Date.now() / 1000)
    return query('query_exemplars', `${name}_bucket`, { start: String(now - 300), end: String(now + 300) })
  }

  it('leads from a duration to the trace of the request and of the attempt', async () => {
    const traceId = randomBytes(16).toString('hex')
    const headers = {
      'Content-Type': 'application/json',
      'X-Api-Key': belfry.caller.apiKey ?? '',
      traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
    }
    const task = { name: 'traced', url: target.url('/traced'), method: 'POST', execute_at: inMs(1_000) }
    const body = JSON.stringify(task)
    const created = await fetch(`${belfry.url}/api/v1/scheduler/tasks`, { method: 'POST', headers, body })
    expect(created.status).toBe(201)
    for (const name of [
      'belfry_http_request_duration_seconds',
      'belfry_attempt_duration_seconds',
      'belfry_lag_seconds',
    ]) {
      const found = await waitFor(
        () => exemplarsOf(name).catch(() => []), // Prometheus is still starting
        series => series?.length > 0,
        30_000,
      )
      const traces = found.flatMap(({ exemplars }: { exemplars: Array<{ labels: object }> }) =>
        exemplars.map(({ labels }) => labels),
      )
      expect(traces).toContainEqual({ trace_id: traceId })
    }
    // Counters keep their names in this format.
    const { result } = await query('query', 'sum(belfry_attempts_total)')
    expect(Number(result[0].value[1])).toBe(1)
  })
})
