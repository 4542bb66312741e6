import { Belfry, parseJson, stringifyJson } from '@belfry/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { run } from '../../test/run.ts'
import { UsageError } from '../usage-error.ts'
import { applyPlan } from './apply-plan.ts'
import { compare, planChanges } from './plan.ts'
import { readConfiguration } from './read-configuration.ts'
import { toLive } from './read-live.ts'
import { writeConfiguration } from './write-configuration.ts'

afterEach(() => vi.unstubAllGlobals())

const options = { variables: {}, env: {} }
const file = (payload: string) => `project: shop
cron_jobs:
  report:
    url: https://example.com/report
    cron: 0 9 * * *
    payload: ${payload}
`
const jobOf = (text: string) => readConfiguration(text, options).objects[0]

it.each([
  ['{commit: 61e9540}', '61e9540 is a number, which JSON would write as null.'],
  ['{a: 6E-578}', '6E-578 is a number, which JSON would write as 0.'],
  ['[.inf]', '.inf is a number, which JSON would write as null.'],
  ['[-.Inf]', '-.Inf is a number, which JSON would write as null.'],
  ['.nan', '.nan is a number, which JSON would write as null.'],
  ['{zip: 0123}', '0123 is a number, which JSON would write as 123.'],
  ['{zip: -007}', '-007 is a number, which JSON would write as -7.'],
  ['{a: 0x1F}', '0x1F is a number, which JSON would write as 31.'],
  ['{a: 0o17}', '0o17 is a number, which JSON would write as 15.'],
  ['{a: .12345678901234567890}', '.12345678901234567890 is a number, which JSON would write as 0.12345678901234568.'],
])('refuses %s, with its line', (payload, message) => {
  expect(() => readConfiguration(file(payload), options)).toThrow(
    `Line 6: ${message} Put it into quotes, if it is a text.`,
  )
  expect(stringifyJson(jobOf(file(payload.replace(/[-.\w]+(?=[}\]]|$)/, '"$&"')))?.body.payload)).toContain('"')
})

it('refuses them in variables, too, and each one', () => {
  const text = 'project: shop\nvariables:\n  commit: 61e9540\n  zip: 0123\n'
  expect(() => readConfiguration(text, options)).toThrow(/^Line 3: 61e9540 .*\nLine 4: 0123 /)
})

it.each([
  '{"a":1,"b":-1.5,"c":1000,"d":true,"e":null,"f":"0123","g":"61e9540"}',
  '{"n":12345678901234567890,"l":[-9007199254740993,[0.12345678901234567890]],"s":"12345678901234567890"}',
])('reads and exports %s with all digits, and plans no change', json => {
  const declared = jobOf(file(json))
  expect(stringifyJson(declared?.body.payload)).toBe(json)
  const fields = { ...declared?.body, id: 'cron_1', status: 'active', key: 'shop/report', payload: parseJson(json) }
  const live = toLive('cron_job', fields)
  expect(declared && compare(declared, live)).toBeNull()
  const exported = writeConfiguration('shop', [live], { secrets: [], connections: [] })
  expect(stringifyJson(jobOf(exported)?.body.payload)).toBe(json)
  const other = toLive('cron_job', { ...fields, payload: parseJson(json.replace(/1/, '2')) })
  expect(declared && compare(declared, other)).toMatchObject({ action: 'update' })
})

it('exports what looks like a variable as a text', () => {
  const member = `\${D}`
  const payload = { text: `a \${HOME} $\${B}`, list: [`\${C}`, '${'], [member]: 1 }
  const fields = { ...jobOf(file('1'))?.body, id: 'cron_1', status: 'active', key: 'shop/report', payload }
  const exported = writeConfiguration('shop', [toLive('cron_job', fields)], { secrets: [], connections: [] })
  const env = { HOME: '/root', B: 'b', C: 'c', D: 'd' }
  expect(readConfiguration(exported, { variables: {}, env }).objects[0]?.body.payload).toEqual(payload)
})

it('exports no object with the key of another project or client, and says which', async () => {
  const job = { ...jobOf(file('1'))?.body, status: 'active' }
  const lists: Record<string, unknown[]> = {
    queues: [{ name: 'mail', max_concurrent: 3 }],
    cronjobs: [
      { ...job, id: 'cron_1', key: 'shop/report' },
      { ...job, id: 'cron_2', key: 'shop-2/report' },
      { ...job, id: 'cron_3', key: null, name: 'By hand' },
    ],
    subscriptions: [{ id: 'sub_1', key: 'mcp_1', topic: '@task.dead', url: 'https://example.com' }],
  }
  const list = (url: string) => lists[new URL(url).pathname.replace(/.*\//, '')] ?? []
  vi.stubGlobal('fetch', async (url: string) => Response.json({ data: list(url), next_cursor: null }))
  const { code, out, error } = await run(['export', '--project', 'shop'])
  expect([code, error]).toEqual([0, 'Left out, because others own them: cron job shop-2/report, subscription mcp_1\n'])
  expect(read(out).objects.map(({ key }) => key)).toEqual(['mail', 'shop/report', 'shop/by-hand'])
})

it('exports an object of the project with its own name, and an older one of this name with another', () => {
  const job = { ...jobOf(file('1'))?.body, status: 'active' }
  const live = [
    toLive('cron_job', { ...job, id: 'cron_1', key: null, name: 'Report' }),
    toLive('cron_job', { ...job, id: 'cron_2', key: 'shop/report', cron: '0 1 * * *' }),
  ]
  const exported = writeConfiguration('shop', live, { secrets: [], connections: [] })
  expect(planChanges(read(exported), live, { prunes: false, adopts: true })).toMatchObject({
    changes: [{ declared: { name: 'report-2' }, live: { id: 'cron_1' }, differences: [], isAdopted: true }],
    unchanged: 1,
  })
})

describe('a cron job that has ended', () => {
  const [past, future] = ['2026-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z']
  const ending = (at: string, paused: boolean) =>
    readConfiguration(`${file('1')}    ends_at: ${at}\n    paused: ${paused}\n`, options)
  const fields = { ...ending(past, false).objects[0]?.body, id: 'cron_1', key: 'shop/report', ends_at: past }
  const live = [toLive('cron_job', { ...fields, status: 'ended' })]
  const plan = (at: string, paused: boolean) => planChanges(ending(at, paused), live, { prunes: false, adopts: false })

  it.each([true, false])('is up to date with paused: %s', paused => {
    expect(plan(past, paused)).toMatchObject({ changes: [], unchanged: 1 })
  })

  it.each([
    [true, 'active', ['POST pause', 'PATCH cron_1']],
    [false, 'active', ['PATCH cron_1']],
    [false, 'paused', ['PATCH cron_1', 'POST resume']],
  ])('is as the file says (paused: %s) with a later end, after which it is %s', async (paused, status, calls) => {
    const sent: string[] = []
    const fetch = async (url: unknown, { method }: RequestInit = {}) => {
      sent.push(`${method} ${String(url).split('/').at(-1)}`)
      return Response.json({ ...fields, status })
    }
    const belfry = new Belfry({ apiKey: 'bf_key', fetch })
    await applyPlan(belfry, plan(future, paused), { signal: new AbortController().signal, onDone: () => {} })
    expect(sent).toEqual(calls)
  })
})

it('sees that a content type was removed, and exports none that is the default', () => {
  const declared = jobOf(
    file('1').replace('payload: 1', 'payload_base64: AP8=\n    headers: { Content-Type: image/png }'),
  )
  const fields = { ...declared?.body, id: 'cron_1', key: 'shop/report', status: 'active' }
  const live = (type: string) => toLive('cron_job', { ...fields, content_type: type })
  expect(declared && compare(declared, live('image/gif'))).toMatchObject({ differences: [{ field: 'content_type' }] })
  expect(declared && compare(declared, live('application/octet-stream'))).toBeNull()
  const exported = writeConfiguration('shop', [live('application/octet-stream')], { secrets: [], connections: [] })
  expect(jobOf(exported)).toEqual(declared)
})

it('accepts numbers that only look different', () => {
  expect(stringifyJson(jobOf(file('[1.0, 1e3, +5, .5, 1.10, -0.50]'))?.body.payload)).toBe('[1,1000,5,0.5,1.1,-0.5]')
})

const read = (text: string) => readConfiguration(text, { variables: {}, env: {} })
const job = (cron: string) =>
  `project: shop\ncron_jobs:\n  report:\n    url: https://example.com\n    cron: ${cron}\n    timezone: UTC\n`

it.each(['*/5 * * * *', '* * * * *', '*', '@hourly', '*daily', '*/5 * * * MON # often'])(
  'asks for quotes around %s, in one line',
  cron => {
    const sign = cron.slice(0, 1)
    const problem = `cron: put it into quotes, because it begins with ${sign} (line 5)`
    expect(() => read(job(cron))).toThrow(new UsageError(problem))
    expect(read(job(`"${cron.startsWith('*/5') ? cron.replace(/ #.*/, '') : '0 9 * * *'}"`)).objects).toHaveLength(1)
  },
)

it('names every such value of a file, and other faults of YAML as they are', () => {
  const two = 'project: shop\nsecrets:\n  - *x\ncron_jobs: {a: {cron: */5 * * * *}}\n'
  expect(() => read(two)).toThrow(
    new UsageError(
      'cron: put it into quotes, because it begins with * (line 4)\nThe entry: put it into quotes, because it begins with * (line 3)',
    ),
  )
  expect(() => read('project: a: b\n')).toThrow(/Nested mappings/)
})

it('takes an alias that has an anchor', () => {
  const text = `${job('&often "*/5 * * * *"')}  other:\n    url: https://example.com\n    cron: *often\n`
  expect(read(text).objects.map(({ body }) => body.cron)).toEqual(['*/5 * * * *', '*/5 * * * *'])
})
