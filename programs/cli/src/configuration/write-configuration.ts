import { ExactNumber, parseJson, stringifyJson } from '@belfry/client'
import { createCronJobBody } from '@belfry/contract/cron-job'
import { parseInput } from '@belfry/contract/field-errors'
import { createIntegrationBody } from '@belfry/contract/integration'
import { putQueueBody } from '@belfry/contract/queue'
import { createSubscriptionBody } from '@belfry/contract/subscription'
import { Document, Scalar, type ScalarTag } from 'yaml'
import type { Live } from './plan.ts'
import { type Fields, type Kind, kinds, sectionOf } from './read-configuration.ts'
import type { Named } from './read-live.ts'

const head = ` The configuration of a Belfry workspace. See what it changes with "belfry plan", and change it with "belfry apply".
 Objects that no file owned before are taken over by "belfry apply --adopt".`

/**
 * Returns the text of a file that declares the objects of a workspace. Fields with their default are left out. The API does not
 * return the URLs of integrations, so the file has a variable for each.
 */
export function writeConfiguration(project: string, live: readonly Live[], { secrets, connections }: Named): string {
  const file: Fields = { project }
  if (secrets.length > 0) file.secrets = secrets
  if (connections.length > 0) file.connections = connections
  for (const kind of kinds) {
    const taken = new Set<string>()
    const ofKind = live.filter(one => one.kind === kind).sort((a, b) => (a.id < b.id ? -1 : 1))
    const entries = ofKind.map(one => {
      const name = nameOf(one, project, taken)
      taken.add(name)
      return [name, entryOf(one, name)] as const
    })
    if (entries.length > 0) file[sectionOf[kind]] = Object.fromEntries(entries)
  }
  const asNodes = (_: unknown, value: unknown) => (value instanceof ExactNumber ? new Scalar(value) : value)
  const document = new Document(file, asNodes, { customTags: [exactNumbers] })
  document.commentBefore = head
  return document.toString({ lineWidth: 120 })
}

// All their digits, where the tag of other numbers writes the nearest one.
const exactNumbers: ScalarTag = {
  identify: value => value instanceof ExactNumber,
  default: true,
  tag: 'tag:yaml.org,2002:float',
  resolve: text => text,
  stringify: ({ value }) => String(value),
}

function nameOf({ kind, id, key, fields }: Live, project: string, taken: ReadonlySet<string>): string {
  if (kind === 'queue') return id
  const own = key?.startsWith(`${project}/`) ? key.slice(project.length + 1) : null
  if (own !== null && !taken.has(own)) return own
  const words = String(fields.name ?? fields.topic).toLowerCase()
  const base =
    words
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 48) || id
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`
    if (!taken.has(name)) return name
  }
}

const written: Record<Kind, readonly string[]> = {
  queue: ['max_concurrent', 'rate_limit', 'ordered'],
  cron_job: Object.keys(createCronJobBody.shape),
  subscription: Object.keys(createSubscriptionBody.shape),
  integration: ['name', 'channel', 'events'],
}

function entryOf({ kind, fields, isPaused }: Live, name: string): Fields {
  const defaults = defaultsOf(kind, name)
  const entry: Fields = {}
  for (const field of written[kind]) {
    const value = fields[field]
    if (field === 'key' || value === null || value === undefined) continue
    if (JSON.stringify(value) !== JSON.stringify(defaults[field])) entry[field] = value
  }
  if (kind === 'integration') {
    if (fields.channel === 'email') entry.email = fields.target
    else entry.url = `\${${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_URL}`
  }
  return { ...withLiteralDollars(entry, kind), ...(isPaused ? { paused: true } : {}) }
}

// What looks like a variable in the workspace stays a text. The URL of an integration is one on purpose.
function withLiteralDollars(entry: Fields, kind: Kind): Fields {
  const { url, ...rest } = entry
  const escaped = (value: unknown) => parseJson(stringifyJson(value).replaceAll('${', '$${')) as Fields
  if (url === undefined) return escaped(rest)
  return kind === 'integration' ? { ...escaped(rest), url } : escaped(entry)
}

const example = 'https://example.com'

function defaultsOf(kind: Kind, name: string): Fields {
  const parsed = {
    queue: () => parseInput<object>(putQueueBody, {}),
    cron_job: () => parseInput<object>(createCronJobBody, { name, url: example, method: 'POST', cron: '0 0 * * *' }),
    subscription: () => parseInput<object>(createSubscriptionBody, { topic: 'a', url: example }),
    integration: () =>
      parseInput<object>(createIntegrationBody, { name, channel: 'slack', url: example, events: ['task.dead'] }),
  }[kind]()
  if (!parsed.ok) throw new Error('The smallest body is invalid.')
  const { url: _, cron: __, topic: ___, channel: ____, events: _____, ...defaults } = parsed.value as Fields
  return defaults
}
