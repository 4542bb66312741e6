import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@belfry/embedded'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { inMs } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import { hasTool } from '../deployment/tools.ts'
import { repositoryRoot } from '../repository-root.ts'
import { groupingLabels, readPromql } from './read-promql.ts'
import { type Scrape, scrape } from './read-scrape.ts'

const read = (path: string) => readFileSync(join(repositoryRoot(), path), 'utf8')
const tasks = '/api/v1/scheduler/tasks'
const serviceNames = ['api', 'scheduler', 'dispatcher'] as const

// Some series exist only with Redis. Without it the others are tested.
const [backend = 'postgres'] = queueBackends()
const ofRedis = backend === 'redis'

let belfry: Belfry
let target: Receiver
let ports: Record<string, number>
let scrapes: Scrape[]
const of = (service: string) => scrapes.find(one => one.service === service)!
const scrapeAll = () => Promise.all(serviceNames.map(name => scrape(name, ports[name] ?? 0)))

beforeAll(async () => {
  target = await startReceiver({ otherwise: { status: 200 } })
  target.answer('/fails', { status: 503 })
  ports = Object.fromEntries(await Promise.all(serviceNames.map(async name => [name, await freePort()])))
  const portOf = (name: string) => ({ METRICS_PORT: String(ports[name]) })
  belfry = await startBelfry(backend, { services: ['api'], env: portOf('api') })
  await Promise.all((['scheduler', 'dispatcher'] as const).map(name => belfry.start(name, portOf(name))))
  const task = (path: string, retries: number) => ({
    ...{ name: 'counted', url: target.url(path), method: 'POST', execute_at: inMs(5_000) },
    retry: { max_retries: retries, backoff: 'fixed', base_delay_ms: 1000 },
  })
  const bodies = [
    task('/well', 0),
    task('/well', 0),
    task('/fails', 1),
    { ...task('/', 0), url: `http://127.0.0.1:${await freePort()}/` },
  ]
  for (const body of bodies) expect((await belfry.call('POST', tasks, body)).status).toBe(201)
  expect((await belfry.call('POST', tasks, { name: 'refused' })).status).toBe(400)
  const far = { ...task('/far', 0), execute_at: inMs(240_000) }
  expect((await belfry.call('POST', tasks, far)).status).toBe(201)
  scrapes = await waitFor(
    scrapeAll,
    all =>
      (all.find(({ service }) => service === 'dispatcher')?.sum('belfry_attempts_total') ?? 0) >= 5 &&
      // Only after the executions of the tasks are added up.
      all.some(({ labels }) => labels.has('belfry_top_tenant_share')),
    30_000,
  )
}, 60_000)
afterAll(async () => {
  await belfry?.close()
  await target?.close()
})

describe('the metrics of the processes', () => {
  it('count each attempt by its outcome, and its lateness', () => {
    const dispatcher = of('dispatcher')
    const attempts = (error: string) => dispatcher.sum('belfry_attempts_total', { error })
    expect([attempts('none'), attempts('http_5xx'), attempts('connection_refused')]).toEqual([2, 2, 1])
    for (const name of ['belfry_lag_seconds', 'belfry_attempt_duration_seconds']) {
      expect(dispatcher.sum(`${name}_count`)).toBe(5)
      expect(dispatcher.sum(`${name}_bucket`, { le: '+Inf' })).toBe(5)
    }
    expect(dispatcher.sum('belfry_claims_total', { result: 'claimed' })).toBe(5)
    expect(dispatcher.sum('belfry_batch_size_sum', { batch: 'record' })).toBe(5)
    expect(dispatcher.sum('belfry_slots')).toBe(200)
  })

  it.runIf(ofRedis)('show the queue', async () => {
    const delayed = (one: Scrape) => one.sum('belfry_queue_delayed', { queue: 'dispatch' })
    const scheduler = await waitFor(
      () => scrape('scheduler', ports.scheduler ?? 0),
      one => delayed(one) === 1,
    )
    expect(scheduler.types.get('belfry_queue_depth')).toBe('gauge')
    expect(
      scheduler.sum('belfry_chore_duration_seconds_count', { chore: 'promote-due-tasks', result: 'done' }),
    ).toBeGreaterThan(0)
  })

  it('show due tasks, and the duration of chores', () => {
    const scheduler = of('scheduler')
    expect(scheduler.sum('belfry_oldest_due_seconds')).toBeLessThan(60)
    expect(
      scheduler.sum('belfry_chore_duration_seconds_count', { chore: 'expand-cron-jobs', result: 'done' }),
    ).toBeGreaterThan(0)
  })

  it('count requests by the pattern of their path, and refusals', () => {
    const api = of('api')
    const asked = { method: 'POST', route: tasks }
    expect(api.sum('belfry_http_requests_total', { ...asked, status: '201' })).toBe(5)
    expect(api.sum('belfry_http_requests_total', { ...asked, status: '400' })).toBe(1)
    expect(api.sum('belfry_http_request_duration_seconds_count', asked)).toBe(6)
    expect(api.sum('belfry_refusals_total', { code: 'validation_failed' })).toBe(1)
    expect(api.sum('belfry_batch_size_sum', { batch: 'create' })).toBe(5)
  })

  it('show that the database and the queue answer, and that the pool is used', () => {
    for (const one of scrapes) {
      expect(one.sum('belfry_dependency_up', { dependency: 'database' })).toBe(1)
      expect(one.sum('belfry_dependency_up', { dependency: 'queue' })).toBe(ofRedis ? 1 : 0)
      expect(one.sum('belfry_pool_max')).toBeGreaterThan(0)
      expect(one.types.get('nodejs_eventloop_lag_max_seconds')).toBe('gauge')
    }
  })

  it('show no queue without Redis', async () => {
    const port = await freePort()
    await belfry.start('scheduler', { METRICS_PORT: String(port), REDIS_URL: '' })
    const alone = await scrape('scheduler', port)
    const queues = ['belfry_queue_depth', 'belfry_queue_delayed'].filter(name => alone.labels.has(name))
    expect([queues, alone.sum('belfry_dependency_up')]).toEqual([[], 1])
  })

  it('are not served on the port of the API', async () => {
    expect((await fetch(`${belfry.url}/metrics`)).status).toBe(404)
  })

  it('are exactly those of docs/metrics.md', () => {
    const row = /^\| `(?<name>belfry_\w+)` \| (?<type>\w+) \| (?<from>[^|]+) \|/gm
    const documented = [...read('docs/metrics.md').matchAll(row)].flatMap(({ groups = {} }) => {
      const services = groups.from === 'all' ? serviceNames : groups.from?.split(', ')
      return (services ?? []).map(service => `${service} ${groups.name} ${groups.type}`)
    })
    const exposed = scrapes.flatMap(({ service, types }) =>
      [...types].filter(([name]) => name.startsWith('belfry_')).map(([name, type]) => `${service} ${name} ${type}`),
    )
    expect(documented.sort()).toEqual(exposed.sort())
  })

  it('have few label values: no id, host or URL', () => {
    const values = scrapes.flatMap(({ labels }) => [...labels.values()].flatMap(names => [...names]))
    const known = [
      'service',
      'le',
      'quantile',
      'method',
      'route',
      'status',
      'code',
      'batch',
      'state',
      'dependency',
      'queue',
      'kind',
    ]
    const others = [
      'outcome',
      'error',
      'result',
      'reason',
      'chore',
      'type',
      'space',
      'version',
      'major',
      'minor',
      'patch',
      'revision',
      'blocked',
      'of',
      'rank',
      'stream',
    ]
    expect([...new Set(values)].filter(name => ![...known, ...others].includes(name))).toEqual([])
  })
})

type Rule = {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; runbook_url: string }
}
type Panel = { type: string; title: string; targets?: Array<{ expr: string }> }

const ruleFiles = ['alerts.yml', 'objectives.yml']
const allRules = () =>
  ruleFiles
    .flatMap(file => parse(read(`monitoring/prometheus/${file}`)).groups)
    .flatMap((group: { rules: Array<Partial<Rule> & { expr: string; record?: string }> }) => group.rules)
const rules = (): Rule[] => allRules().filter((rule): rule is Rule => rule.alert !== undefined)
const panels = (): Panel[] => JSON.parse(read('monitoring/grafana/belfry.json')).panels

describe('the alert rules and the dashboard', () => {
  // Prometheus adds these labels to every scraped series.
  const fromPrometheus = ['instance', 'job', 'namespace']
  const fromOthers: Record<string, string[]> = {
    up: [],
    probe_success: [],
    probe_ssl_earliest_cert_expiry: [],
    kube_deployment_spec_replicas: ['deployment'],
    kube_deployment_status_replicas_available: ['deployment'],
    kubelet_volume_stats_available_bytes: ['persistentvolumeclaim'],
    kubelet_volume_stats_capacity_bytes: ['persistentvolumeclaim'],
    node_filesystem_avail_bytes: ['mountpoint'],
    node_filesystem_size_bytes: ['mountpoint'],
  }
  const recorded = () => allRules().flatMap(({ record }) => record ?? [])
  const problemsOf = (expression: string) => {
    const others = [...Object.values(fromOthers).flat(), ...fromPrometheus]
    const selectors = readPromql(expression).filter(
      ({ series }) => fromOthers[series] === undefined && !recorded().includes(series),
    )
    const seen = selectors.map(
      ({ series }) => new Set(scrapes.flatMap(({ labels }) => [...(labels.get(series) ?? [])])),
    )
    const all = new Set([...seen.flatMap(labels => [...labels]), ...others])
    return [
      ...selectors.filter((_, i) => seen[i]?.size === 0).map(({ series }) => `there is no ${series}`),
      ...selectors.flatMap(({ series, labels }, i) =>
        labels
          .filter(label => !seen[i]?.has(label) && !fromPrometheus.includes(label))
          .map(label => `${series} has no ${label}`),
      ),
      ...groupingLabels(expression)
        .filter(label => !all.has(label))
        .map(label => `nothing has ${label}`),
    ]
  }

  it.runIf(ofRedis)('query only series that the processes expose', () => {
    const expressions = [
      ...allRules().map(({ alert, record, expr }) => ({ where: alert ?? record, expr })),
      ...panels().flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
    ].map(({ where, expr }) => ({ where, expr: expr.replaceAll('$__rate_interval', '5m') }))
    expect(expressions.length).toBeGreaterThan(60)
    expect(expressions.flatMap(({ where, expr }) => problemsOf(expr).map(problem => `${where}: ${problem}`))).toEqual(
      [],
    )
  })

  it('are rejected if they query anything else', () => {
    expect(problemsOf('rate(belfry_no_such_total[5m])')).toEqual(['there is no belfry_no_such_total'])
    expect(problemsOf('sum by (colour) (belfry_slots{size="big"})')).toEqual([
      'belfry_slots has no size',
      'nothing has colour',
    ])
    expect(() => problemsOf('sum(belfry_slots')).toThrow('Not PromQL')
  })

  it('are complete: each rule has a severity and a description, each panel a query', () => {
    for (const { alert, expr, labels, annotations, for: pending = '0m' } of rules()) {
      expect([alert, expr, pending, labels.severity, annotations.summary]).toEqual([
        expect.stringMatching(/^Belfry[A-Z]\w+$/),
        expect.any(String),
        expect.stringMatching(/^\d+[smh]$/),
        expect.stringMatching(/^(critical|warning|info)$/),
        expect.stringMatching(/\.$/),
      ])
    }
    expect(new Set(rules().map(({ alert }) => alert)).size).toBe(rules().length)
    for (const { type, targets = [] } of panels()) expect(targets.length > 0).toBe(type !== 'row')
  })

  it('have a section in the runbooks for each alert, which says what to check and what to do', () => {
    const sections = read('docs/runbooks.md').split(/^### /m).slice(1)
    expect(sections.map(section => section.split('\n')[0]).sort()).toEqual(
      rules()
        .map(({ alert }) => alert)
        .sort(),
    )
    for (const section of sections)
      expect(section).toMatch(/^\w+\n\n(Critical|Warning|Info)\. [\s\S]+\n- [\s\S]+\*\*Then:\*\* \S/)
    for (const { alert, annotations, labels } of rules()) {
      expect(annotations.runbook_url).toBe(
        `{{ or $externalLabels.belfry_runbooks "docs/runbooks.md" }}#${alert.toLowerCase()}`,
      )
      const section = sections.find(text => text.startsWith(`${alert}\n`)) ?? ''
      expect(section.toLowerCase()).toContain(`\n\n${labels.severity}. `)
    }
  })

  it('show every series of Belfry that an alert queries in a panel', () => {
    const seriesOf = (expressions: string[]) =>
      expressions
        .flatMap(expr => readPromql(expr.replaceAll('$__rate_interval', '5m')))
        .map(({ series }) => series.replace(/_(bucket|sum|count)$/, ''))
    const shown = new Set(seriesOf(panels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))))
    const queried = seriesOf(allRules().map(({ expr }) => expr)).filter(series =>
      /^(belfry_|nodejs_|process_)/.test(series),
    )
    expect(queried.filter(series => !shown.has(series))).toEqual([])
  })

  const testFiles = readdirSync(join(repositoryRoot(), 'monitoring/prometheus/tests'))

  it('have two tests for each alert: in one it fires, in the other it stays silent', () => {
    type Test = { name: string; promql_expr_test?: Array<{ expr: string; exp_samples: unknown[] }> }
    const tests = testFiles.flatMap((file): Test[] => parse(read(`monitoring/prometheus/tests/${file}`)).tests)
    // The tests of runbook_url have none.
    const outcomes = tests.flatMap(({ name, promql_expr_test: [check] = [] }) => {
      if (!check) return []
      const [, alert] = /ALERTS\{alertname="(\w+)",alertstate="firing"\}/.exec(check.expr) ?? []
      expect(name.split(' ')[0]).toBe(alert)
      return `${alert} ${check.exp_samples.length === 1 ? 'fires' : 'stays silent'}`
    })
    const wanted = rules().flatMap(({ alert }) => [`${alert} fires`, `${alert} stays silent`])
    expect(outcomes.sort()).toEqual(wanted.sort())
  })

  it.runIf(hasTool('promtool', ['--version']))(
    'pass the tests of promtool',
    async () => {
      const folder = join(repositoryRoot(), 'monitoring/prometheus')
      const run = (args: string[]) => promisify(execFile)('promtool', args, { cwd: folder })
      await run(['check', 'rules', ...ruleFiles])
      const { stdout } = await run(['test', 'rules', ...testFiles.map(file => `tests/${file}`)])
      expect(stdout.match(/SUCCESS/g)).toHaveLength(testFiles.length)
    },
    240_000,
  )

  it('exist for every alert that docs/observability.md names', () => {
    const named = [...read('docs/observability.md').matchAll(/`(Belfry[A-Z]\w+)`/g)].map(([, name]) => name)
    const known = rules().map(({ alert }) => alert)
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(name => !known.includes(name ?? ''))).toEqual([])
  })
})
