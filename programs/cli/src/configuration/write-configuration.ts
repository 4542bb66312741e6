import { ExactNumber } from '@belfry/client'
import { parseInput } from '@belfry/contract/field-errors'
import { defaultContentType } from '@belfry/contract/raw-body'
import { Document, Scalar, type ScalarTag } from 'yaml'
import { type Fields, type Kind, kindNames, kinds } from './kinds.ts'
import { type Live, ownName } from './plan.ts'
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
  for (const kind of kindNames) {
    const ofKind = live.filter(one => one.kind === kind).sort((a, b) => (a.id < b.id ? -1 : 1))
    const taken = new Set(ofKind.map(one => ownName(one, project)))
    const entries = ofKind.map(one => {
      const name = ownName(one, project) ?? unusedName(nameOf(one), '-', taken)
      taken.add(name)
      return [name, entryOf(one, name)] as const
    })
    if (entries.length > 0) file[kinds[kind].section] = Object.fromEntries(entries)
  }
  const document = new Document(file, asNode, { customTags: [exactNumbers] })
  document.commentBefore = head
  return document.toString({ lineWidth: 120 })
}

// What looks like a variable in the workspace stays a text. In a replacement that is no function, $$ would be one $.
function asNode(_: unknown, value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  return value instanceof ExactNumber ? new Scalar(value) : value
}

// All their digits, where the tag of other numbers writes the nearest one.
const exactNumbers: ScalarTag = {
  identify: value => value instanceof ExactNumber,
  default: true,
  tag: 'tag:yaml.org,2002:float',
  resolve: text => text,
  stringify: ({ value }) => String(value),
}

function nameOf({ id, fields }: Live): string {
  const words = String(fields.name ?? fields.topic).toLowerCase()
  const joined = words.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
  return joined.slice(0, 48) || id
}

/** Returns a name, with a number behind it when it is taken. */
export function unusedName(base: string, separator: string, taken: ReadonlySet<string | null>): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}${separator}${n}`
    if (!taken.has(name)) return name
  }
}

function entryOf({ kind, fields, isPaused }: Live, name: string): Fields {
  const defaults: Fields = { content_type: defaultContentType, ...defaultsOf(kind, name) }
  const entry: Fields = {}
  for (const field of kinds[kind].fields) {
    const value = fields[field]
    if (field === 'key' || value === null || value === undefined) continue
    if (JSON.stringify(value) !== JSON.stringify(defaults[field])) entry[field] = value
  }
  if (kind === 'integration') {
    if (fields.channel === 'email') entry.email = fields.target
    // A node stays as it is: a variable on purpose.
    else entry.url = new Scalar(`\${${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_URL}`)
  }
  if (isPaused) entry.paused = true
  return entry
}

function defaultsOf(kind: Kind, name: string): Fields {
  const { body, preset, required } = kinds[kind]
  const parsed = parseInput<object>(body, { ...preset(name), ...required })
  if (!parsed.ok) throw new Error('The smallest body is invalid.')
  return Object.fromEntries(Object.entries(parsed.value).filter(([field]) => !(field in required)))
}
