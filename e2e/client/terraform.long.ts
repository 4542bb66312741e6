import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { callApi } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import { startCli } from '../cli/run-cli.ts'
import { readPages } from '../docs/read-pages.ts'
import { hasGo, openProject, type Project, providerFolder, run, terraform } from './terraform-project.ts'

vi.setConfig({ testTimeout: 120_000 })
if (!hasGo) console.warn('Go is not installed: the Terraform provider is not tested.')
else if (!terraform) console.warn('Neither Terraform nor OpenTofu is installed: the provider is only compiled.')

let bin: string
beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'belfry-provider-'))
  if (hasGo) await go('build', '-o', join(bin, 'terraform-provider-belfry'), '.')
}, 600_000)
afterAll(() => rm(bin, { recursive: true, force: true }))

// With the options of a release everything is compiled once.
async function go(...args: string[]): Promise<string> {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-trimpath -buildvcs=false' }
  const { code, out, error } = await run('go', args, { cwd: providerFolder, env })
  if (code !== 0) throw new Error(`go ${args.join(' ')} failed:\n${out}${error}`)
  return out
}

describe.skipIf(!hasGo)('the Terraform provider, which requires Go', () => {
  it('is formatted and vetted, and passes its own tests', async () => {
    expect(await run('gofmt', ['-l', '.'], { cwd: providerFolder })).toEqual({ code: 0, out: '', error: '' })
    await go('vet', './...')
    await go('mod', 'verify')
    await go('test', './...')
  }, 600_000)
})

describe.skipIf(!hasGo || !terraform)('the Terraform provider, which requires Terraform', () => {
  let belfry: Belfry
  const projects: Project[] = []
  beforeAll(async () => {
    belfry = await startBelfry('postgres', { services: ['all-in-one'] })
  }, 120_000)
  afterAll(async () => {
    await belfry?.close()
    for (const { folder } of projects) await rm(folder, { recursive: true, force: true })
  })

  /** A workspace of its own, with a configuration that declares its objects. */
  async function aProject(env: Record<string, string> = {}) {
    const caller = await belfry.anotherCaller()
    const variables = { TF_VAR_slack_url: 'https://hooks.slack.com/services/hidden-1', TF_VAR_api_token: 'hidden-2' }
    const connection = { BELFRY_URL: belfry.url, BELFRY_API_KEY: String(caller.apiKey) }
    const project = await openProject(bin, { ...connection, ...variables, ...env })
    projects.push(project)
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await callApi(belfry.url, caller, method, path, body)
      expect(answer.status, answer.text).toBeLessThan(300)
      return answer.body
    }
    const cli = (args: string[], input?: string) => startCli({ url: belfry.url, caller }, args, input).ended
    return { ...project, call, cli, objects: () => objectsOf(call) }
  }

  async function objectsOf(call: (method: string, path: string) => Promise<{ data: unknown[] }>) {
    const paths = ['scheduler/cronjobs', 'scheduler/subscriptions', 'scheduler/queues']
    const all = [...paths, 'workspaces/current/integrations', 'workspaces/current/secrets']
    const lists = await Promise.all(all.map(path => call('GET', `/api/v1/${path}`)))
    return lists.flatMap(({ data }) => data as Array<{ id?: string; key?: string; name: string; updated_at: string }>)
  }

  const shop = () => readFile(join(providerFolder, 'examples/shop/main.tf'), 'utf8')
  const own = (text: string) =>
    `terraform {\n  required_providers {\n    belfry = { source = "belfry/belfry" }\n  }\n}\n${text}`

  it('creates what belfry.yaml would create, and changes nothing the second time', async () => {
    const { write, apply, plan, cli, call, objects, folder } = await aProject()
    await write(await shop())
    const output = await apply()
    expect(output).toContain('6 added, 0 changed, 0 destroyed')
    const same = `
project: shop
secrets: [API_TOKEN]
queues:
  partner-api: { max_concurrent: 3, rate_limit: { count: 100, period_ms: 60000 } }
cron_jobs:
  nightly-report:
    cron: 0 3 * * *
    timezone: Europe/Berlin
    url: https://shop.example.com/report
    headers: { Authorization: "Bearer {{ secrets.API_TOKEN }}" }
    payload: { kind: nightly, texts: [a, b] }
    retry: { max_retries: 8 }
    queue: partner-api
    on_failure: { url: https://shop.example.com/failed }
    labels: [reports, nightly]
  cleanup: { cron: "*/5 * * * *", url: https://shop.example.com/cleanup, paused: true, ends_at: 2030-01-01T00:00:00Z }
subscriptions:
  crm: { topic: orders.*, filter: [{ path: total, op: gte, value: 100.5 }, { path: test, op: ne, value: true }], url: https://shop.example.com/crm, max_age_ms: 60000, retry: { delays_ms: [0, 60000] } }
integrations:
  on-call: { channel: slack, url: https://hooks.slack.com/services/x, events: [task.dead, cronjob.failing] }
`
    expect(await cli(['plan', '-f', '-', '--check'], same)).toMatchObject({ code: 0, error: '' })
    const [cleanup] = (await call('GET', '/api/v1/scheduler/cronjobs?name=cleanup')).data
    expect(cleanup).toMatchObject({ status: 'paused', starts_at: null })
    expect((await call('GET', `/api/v1/scheduler/tasks?cronjob_id=${cleanup.id}`)).data).toEqual([])
    const state = await readFile(join(folder, 'project/terraform.tfstate'), 'utf8')
    expect([state.includes('hidden-2'), output.includes('hidden')]).toEqual([false, false])
    const before = await objects()
    expect(await plan()).toEqual([])
    expect(await apply()).toContain('0 added, 0 changed, 0 destroyed')
    expect(await objects()).toEqual(before)
  })

  it('repairs what was changed and deleted by hand, and deletes only what it has made', async () => {
    const { write, apply, plan, terraform: command, call, objects } = await aProject()
    await write(await shop())
    await apply()
    const byHand = { name: 'By hand', url: 'https://example.com', method: 'GET', cron: '0 0 1 1 *' }
    await call('POST', '/api/v1/scheduler/cronjobs', byHand)
    const find = async (key: string) => `${(await objects()).find(one => one.key === key)?.id}`
    const report = `/api/v1/scheduler/cronjobs/${await find('shop/nightly-report')}`
    await call('PATCH', report, { timezone: 'UTC', queue: null, on_failure: null, payload_base64: 'aGk=' })
    await call('POST', `${report}/pause`)
    await call('POST', `/api/v1/scheduler/cronjobs/${await find('shop/cleanup')}/resume`)
    await call('DELETE', `/api/v1/scheduler/subscriptions/${await find('shop/crm')}`)
    await call('PATCH', `/api/v1/workspaces/current/integrations/${await find('shop/on-call')}`, {
      url: 'https://discord.com/x',
      events: ['task.dead'],
    })
    await call('PUT', '/api/v1/workspaces/current/secrets/API_TOKEN', { value: 'other', allowed_hosts: null })
    await call('PATCH', '/api/v1/scheduler/queues/partner-api', { rate_limit: null })
    expect(await plan()).toEqual([
      ['belfry_cron_job.cleanup', 'update'],
      ['belfry_cron_job.nightly_report', 'update'],
      ['belfry_integration.on_call', 'update'],
      ['belfry_queue.partner', 'update'],
      ['belfry_secret.api_token', 'update'],
      ['belfry_subscription.crm', 'create'],
    ])
    await apply()
    expect(await plan()).toEqual([])
    expect(await call('GET', report)).toMatchObject({
      timezone: 'Europe/Berlin',
      queue: 'partner-api',
      status: 'active',
      payload: { kind: 'nightly', texts: ['a', 'b'] },
      payload_base64: null,
      on_failure: { url: 'https://shop.example.com/failed' },
    })
    const { data } = await call('GET', '/api/v1/workspaces/current/integrations')
    expect(data).toMatchObject([{ target: 'hooks.slack.com', events: ['cronjob.failing', 'task.dead'] }])
    const destroyed = await command('destroy', '-auto-approve', '-no-color')
    expect(destroyed.out + destroyed.error).toContain('6 destroyed')
    expect((await objects()).map(({ name }) => name)).toEqual(['By hand'])
  })

  it('replaces what the API cannot change', async () => {
    const { write, apply, plan, objects } = await aProject()
    const start = `
resource "belfry_queue" "q" { name = "a" }
resource "belfry_cron_job" "json" {
  key = "json"
  name = "json"
  cron = "0  3 * * *"
  url = "https://example.com/json"
  payload = "{ \\"b\\": 1.50, \\"a\\": 12345678901234567890 }"
  starts_at = "2030-01-01T01:00:00+01:00"
}
resource "belfry_cron_job" "bytes" {
  name = "bytes"
  cron = "0 3 * * *"
  url = "https://example.com/bytes"
  payload_base64 = base64encode("<xml/>")
}
resource "belfry_integration" "i" {
  name = "i"
  channel = "slack"
  url = "https://example.com/i"
  events = ["task.dead"]
}
resource "belfry_secret" "s" {
  name = "A"
  value = "first value"
}`
    await write(own(start))
    await apply()
    expect(await plan()).toEqual([])
    const before = await objects()
    // The same in another spelling, and another kind of body.
    const equal = start
      .replace('0  3 * * *', '0 3 * * *')
      .replace('"{ \\"b\\": 1.50, \\"a\\": 12345678901234567890 }"', '"{\\"a\\":12345678901234567890,\\"b\\":1.50}"')
      .replace('2030-01-01T01:00:00+01:00', '2030-01-01T00:00:00Z')
    await write(own(equal))
    expect(await plan()).toEqual([])
    await write(own(equal.replace('payload_base64 = base64encode("<xml/>")', 'payload = jsonencode({})')))
    expect(await plan()).toEqual([['belfry_cron_job.bytes', 'update']])
    const changed = equal
      .replace('name = "a"', 'name = "b"')
      .replace(/ {2}payload = .*\n/, '')
      .replace('payload_base64 = base64encode("<xml/>")', 'content_type = null')
      .replace('"slack"', '"discord"')
      .replace('"A"', '"B"')
    await write(own(changed))
    expect(await plan()).toEqual([
      ['belfry_cron_job.bytes', 'delete, create'],
      ['belfry_cron_job.json', 'delete, create'],
      ['belfry_integration.i', 'delete, create'],
      ['belfry_queue.q', 'delete, create'],
      ['belfry_secret.s', 'delete, create'],
    ])
    await apply()
    expect(await plan()).toEqual([])
    const ids = (all: Awaited<ReturnType<typeof objects>>) => all.map(({ id, name }) => id ?? name)
    expect(ids(await objects()).filter(id => ids(before).includes(id))).toEqual([])
  })

  it('imports objects by id, key or name, and sets only values that the API does not return', async () => {
    const { write, apply, plan, terraform: command, objects } = await aProject()
    await write(await shop())
    await apply()
    const before = await objects()
    const idOf = (key: string) => before.find(one => one.key === key)?.id ?? ''
    await command('state', 'rm', 'belfry_cron_job.nightly_report', 'belfry_cron_job.cleanup', 'belfry_subscription.crm')
    await command('state', 'rm', 'belfry_queue.partner', 'belfry_integration.on_call', 'belfry_secret.api_token')
    const imports = {
      'belfry_cron_job.nightly_report': 'shop/nightly-report',
      'belfry_cron_job.cleanup': idOf('shop/cleanup'),
      'belfry_subscription.crm': 'shop/crm',
      'belfry_integration.on_call': 'shop/on-call',
      'belfry_queue.partner': 'partner-api',
      'belfry_secret.api_token': 'API_TOKEN',
    }
    const blocks = Object.entries(imports).map(([to, id]) => `import {\n  to = ${to}\n  id = "${id}"\n}\n`)
    await write((await shop()) + blocks.join(''))
    expect(await plan()).toEqual([
      ['belfry_integration.on_call', 'update'],
      ['belfry_secret.api_token', 'update'],
    ])
    expect(await apply()).toContain('6 imported, 0 added, 2 changed, 0 destroyed')
    const ids = (await objects()).map(({ id, name }) => id ?? name)
    expect(ids).toEqual(before.map(({ id, name }) => id ?? name))
    const none = await command('import', '-no-color', 'belfry_cron_job.other', 'shop/other')
    expect(none.code).toBe(1)
  })

  it('names the attribute of each error, before it sends anything where it can', async () => {
    const { write, errors, call, objects } = await aProject()
    await write(
      own(`
resource "belfry_cron_job" "j" {
  name    = "j"
  cron    = "0 3 * * *"
  url     = "https://example.com"
  payload = "not JSON"
  method  = "FETCH"
  retry   = { max_retries = 50 }
}
resource "belfry_subscription" "s" {
  topic = "a"
  url   = "https://example.com"
  retry = { backoff = "fixed", delays_ms = [1000] }
}
resource "belfry_queue" "q" {
  name = "not a name"
}
resource "belfry_integration" "i" {
  name    = "i"
  channel = "pigeon"
  email   = "a@example.com"
  events  = ["task.late"]
}
resource "belfry_secret" "short" {
  name             = "short"
  value_wo         = "x"
  value_wo_version = 1
}`),
    )
    const planned = await errors('plan')
    const named = [
      /^payload must be/,
      /\bmethod value/,
      /retry\.max_retries value/,
      /retry\.backoff" cannot be specified when "retry\.delays_ms"/,
      /\bname must match \^\[A-Za/,
      /\bchannel value/,
      /events\[/,
      /\bname must match \^\[A-Z\]/,
      /value_wo UTF-8 character count must be at least 4/,
    ]
    expect(planned).toHaveLength(named.length)
    for (const name of named) expect(planned.filter(({ detail }) => name.test(detail.trim()))).toHaveLength(1)
    expect(planned.map(({ line }) => line)).toContain('method  = "FETCH"')
    await call('PUT', '/api/v1/workspaces/current/secrets/TAKEN', { value: 'a value' })
    await call('POST', '/api/v1/scheduler/subscriptions', { key: 'taken', topic: 'a', url: 'https://example.com' })
    const before = await objects()
    await write(
      own(`
resource "belfry_cron_job" "j" {
  name       = "j"
  cron       = "0 3 30 2 *"
  url        = "ftp://example.com"
  headers    = { "Content-Length" = "1" }
  on_failure = { url = "https://example.com/#fragment" }
}
resource "belfry_subscription" "s" {
  key   = "taken"
  topic = "a"
  url   = "https://example.com"
}
resource "belfry_secret" "taken" {
  name  = "TAKEN"
  value = "another value"
}
resource "belfry_secret" "blank" {
  name             = "BLANK"
  value_wo         = "x   "
  value_wo_version = 1
}`),
    )
    const refused = await errors('apply')
    const starts = refused.map(({ detail }) => detail.split(/[: ]/)[0]).sort()
    expect(starts).toEqual(['Another', 'The', 'cron', 'headers["Content-Length"]', 'on_failure.url', 'url', 'value_wo'])
    const lines = refused.map(({ line }) => line)
    for (const line of ['key   = "taken"', 'name  = "TAKEN"', 'url        = "ftp://example.com"'])
      expect(lines).toContain(line)
    expect(await objects()).toEqual(before)
  })

  it('explains a missing key, a wrong key and a missing secret', async () => {
    for (const [key, summary] of [
      ['', 'Missing api_key'],
      ['bf_wrong', 'Belfry refused the request for a secret'],
      [undefined, 'No such secret'],
    ] as const) {
      const { write, errors } = await aProject(key === undefined ? {} : { BELFRY_API_KEY: key })
      await write(own('data "belfry_secret" "s" {\n  name = "MISSING"\n}\n'))
      expect((await errors('plan')).map(error => error.summary)).toContain(summary)
    }
  })

  it('is installed by terraform init from the archives of a release', async () => {
    const { write, terraform: command, folder } = await aProject()
    const mirror = join(folder, 'mirror')
    const [first = '', second = ''] = ['terraform', 'opentofu'].map(name => join(mirror, `registry.${name}.io/belfry`))
    await go('run', './release', '-version', '1.2.3', '-out', join(first, 'belfry'), '-platforms', 'host')
    await cp(first, second.replace('.io', '.org'), { recursive: true })
    const settings = join(folder, 'terraform.rc')
    await writeFile(settings, `provider_installation {\n  filesystem_mirror {\n    path = "${mirror}"\n  }\n}\n`)
    await write(own('data "belfry_workspace" "w" {}\n'))
    const { out, error } = await command('init', '-no-color')
    expect(out + error).toContain('Installed belfry/belfry v1.2.3')
  })

  it('documents every resource, data source and attribute', async () => {
    const { write, terraform: command } = await aProject()
    await write(own(''))
    const { out } = await command('providers', 'schema', '-json')
    const [schemas] = Object.values(JSON.parse(out).provider_schemas) as [Record<string, Record<string, Described>>]
    const pages = { resource_schemas: 'resources', data_source_schemas: 'data-sources' }
    for (const [kind, sub] of Object.entries(pages)) {
      for (const [name, schema] of Object.entries(schemas[kind] ?? {})) {
        const page = await readFile(join(providerFolder, `docs/${sub}/${name.replace('belfry_', '')}.md`), 'utf8')
        expect(attributesOf(schema).filter(attribute => !page.includes(`\`${attribute}\``))).toEqual([])
      }
    }
  })

  it('accepts every configuration of its pages', async () => {
    const { write, terraform: command } = await aProject()
    const pages = readPages()
    const hclOf = (path: string) =>
      pages
        .filter(page => page.path.startsWith(path))
        .flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'hcl').map(({ text }) => text))
        .join('\n')
    // The blocks of the reference have different names, so they form one configuration.
    const all = ['docs/terraform.md', ...['resources', 'data-sources'].map(name => `clients/terraform/docs/${name}`)]
    for (const text of [all.map(hclOf).join('\n'), own(hclOf('clients/terraform/docs/index.md'))]) {
      await write(text)
      const { out, error } = await command('validate', '-no-color')
      expect(out + error).toContain('The configuration is valid')
    }
  })
})

type Described = { block: { attributes: Attributes } }
type Attributes = Record<string, { nested_type?: { attributes: Attributes } }>

function attributesOf({ block }: Described): string[] {
  const names = (attributes: Attributes): string[] =>
    Object.entries(attributes).flatMap(([name, { nested_type }]) => [name, ...names(nested_type?.attributes ?? {})])
  return [...new Set(names(block.attributes))]
}
