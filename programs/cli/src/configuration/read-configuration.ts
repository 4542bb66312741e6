import { ExactNumber, isChanged } from '@belfry/client'
import { parseInput } from '@belfry/contract/field-errors'
import { type Document, LineCounter, parseDocument, type Range, visit } from 'yaml'
import { z } from 'zod'
import { UsageError } from '../usage-error.ts'
import { type Fields, type Kind, kindNames, kinds } from './kinds.ts'

export type Declared = {
  kind: Kind
  /** Its name in the file. */
  name: string
  /** Its key in the workspace; the name for a queue. Null for an object that no file owns. */
  key: string | null
  /** The body of its creation, with the names of the HTTP API and all defaults. */
  body: Fields
  isPaused: boolean
}

const scalar = z.union([z.string(), z.number(), z.boolean()])
const variables = z
  .record(z.string(), scalar)
  .optional()
  .meta({ description: 'Values for variables, which texts name in braces after a dollar sign.' })
const entries = z.record(z.string(), z.record(z.string(), z.unknown()).nullable()).optional()
const sections = { queues: entries, cron_jobs: entries, subscriptions: entries, integrations: entries }
const names = (what: string) =>
  z
    .array(z.string())
    .optional()
    .meta({ description: `The names of ${what} that must exist.` })

/** The form of a file. What an entry of a section has follows from its kind. */
export const fileForm = z
  .strictObject({
    project: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/)
      .meta({ description: 'Owns the objects whose keys begin with it and a slash.' }),
    variables,
    secrets: names('secrets'),
    connections: names('connections'),
    ...sections,
    environments: z
      .record(z.string(), z.strictObject({ variables, ...sections }).nullable())
      .optional()
      .meta({ description: 'Changes for an environment, chosen with --env. Null removes an entry.' }),
  })
  .meta({ title: 'The configuration of a Belfry workspace' })

type Options = {
  environment?: string | undefined
  /** Values that override the file's variables. */
  variables: Variables
  /** Values that the file's variables override. */
  env: Variables
}

/**
 * Reads a configuration file.
 * @throws UsageError which lists every problem with its place in the file.
 */
export function readConfiguration(text: string, { environment, variables, env }: Options) {
  const parsed = parseInput(fileForm, parseYaml(text))
  if (!parsed.ok) throw problemsOf(parsed.errors.map(({ path, message }) => `${path || 'The file'}: ${message}`))
  const file = parsed.value
  const chosen = environment === undefined ? {} : (file.environments?.[environment] ?? null)
  if (chosen === null) throw unknownEnvironment(String(environment), Object.keys(file.environments ?? {}))
  const values = { ...env, ...file.variables, ...chosen.variables, ...variables }
  const problems: string[] = []
  const objects = kindNames.flatMap(kind => {
    const { section } = kinds[kind]
    const merged = merge(file[section] ?? {}, chosen[section] ?? {}) as Record<string, Fields | null>
    return Object.entries(merged).flatMap(([name, entry]) => {
      if (entry === null) return []
      const filled = fillIn(entry, values, `${section}.${name}`, problems) as Fields
      return declare(kind, name, file.project, filled, problems) ?? []
    })
  })
  if (problems.length > 0) throw problemsOf(problems)
  const { project, secrets = [], connections = [] } = file
  return { project, objects, secrets, connections }
}

export type Configuration = ReturnType<typeof readConfiguration>

function parseYaml(text: string): unknown {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const lineOf = (range: Range | null | undefined) => lines.linePos(range?.[0] ?? 0).line
  const unquoted = unquotedValues(document, text, lineOf)
  if (unquoted.length > 0) throw problemsOf(unquoted)
  if (document.errors.length > 0) throw problemsOf(document.errors.map(({ message }) => message))
  const problems: string[] = []
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'number') return
      const { source = '', range } = node
      const number = numberOf(source)
      if (number !== null) node.value = number
      else
        problems.push(
          `Line ${lineOf(range)}: ${source} is a number, which JSON would write as ${JSON.stringify(node.value)}. Put it into quotes, if it is a text.`,
        )
    },
  })
  if (problems.length > 0) throw problemsOf(problems)
  return document.toJS()
}

// The most frequent mistake in a file with schedules: YAML takes * for an alias, and reserves @.
function unquotedValues(document: Document.Parsed, text: string, lineOf: (range: Range) => number): string[] {
  const found = document.errors.map(({ pos: [start, end] }) => lineOf([start, end, end]))
  visit(document, {
    Alias(_, alias) {
      if (!alias.resolve(document) && alias.range) found.push(lineOf(alias.range))
    },
  })
  return [...new Set(found)].flatMap(number => {
    const [, name = 'The entry', sign] = /(?:([\w.-]+):|-)\s+([*@])/.exec(text.split('\n')[number - 1] ?? '') ?? []
    return sign === undefined ? [] : [`${name}: put it into quotes, because it begins with ${sign} (line ${number})`]
  })
}

// Commit ids such as 61e9540 and postal codes such as 0123 would become other values without a word.
function numberOf(source: string): number | ExactNumber | null {
  const text = source.replace(/^\+/, '')
  const value = Number(text)
  const isRounded = !Number.isFinite(value) || (value === 0 && /[1-9]/.test(text.replace(/e.*/i, '')))
  if (isRounded || /^-?0[\dxo]/i.test(text)) return null
  if (!isChanged(text)) return value
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? new ExactNumber(text) : null
}

function declare(kind: Kind, name: string, project: string, entry: Fields, problems: string[]): Declared | null {
  const { section, body, preset } = kinds[kind]
  const place = `${section}.${name}`
  const { paused = false, ...fields } = kind === 'cron_job' ? entry : { ...entry, paused: false }
  const key = kind === 'queue' ? name : `${project}/${name}`
  const parsed = parseInput<object>(body, { ...preset(name), ...fields })
  for (const { path, message } of parsed.ok ? [] : parsed.errors) {
    problems.push(`${[place, path].filter(Boolean).join('.')}: ${message}`)
  }
  if (typeof paused !== 'boolean') problems.push(`${place}.paused: paused must be true or false.`)
  if ('key' in fields) problems.push(`${place}.key: key is set by the project and the name of the entry.`)
  if (key.length > 128) problems.push(`${place}: The project and the name have more than 127 characters.`)
  if (typeof fields.queue === 'object' && fields.queue !== null) {
    problems.push(`${place}.queue: queue must be a name. Set its limits under queues.`)
  }
  return parsed.ok ? { kind, name, key, body: { ...parsed.value }, isPaused: paused === true } : null
}

// The entries of an environment change the entries of the file field by field; null removes.
function merge(base: unknown, change: unknown): unknown {
  if (!isObject(base) || !isObject(change)) return change
  const merged = { ...base }
  for (const [name, value] of Object.entries(change)) merged[name] = name in base ? merge(base[name], value) : value
  return merged
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Number)
}

function unknownEnvironment(name: string, known: string[]): UsageError {
  const hint = known.length === 0 ? 'It has none.' : `It has ${known.join(', ')}.`
  return new UsageError(`The file has no environment ${name}. ${hint}`)
}

function problemsOf(problems: string[]): UsageError {
  return new UsageError(problems.join('\n'))
}

export type Variables = Readonly<Record<string, string | number | boolean | undefined>>

const reference = /\$(?:\$\{|\{([A-Za-z_][A-Za-z0-9_]*)\})/g

/**
 * Replaces `${NAME}` in all texts of a value; `$${` stands for `${`. A text that is only a reference takes the type of its
 * variable. Adds each variable that has no value to the problems, with its place.
 */
function fillIn(value: unknown, variables: Variables, place: string, problems: string[]): unknown {
  const lookUp = (name: string, at: string) => {
    const found = variables[name]
    if (found === undefined) problems.push(`${at}: The variable ${name} has no value.`)
    return found
  }
  const visit = (node: unknown, at: string): unknown => {
    if (typeof node === 'string') {
      const [whole, name] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(node) ?? []
      if (whole !== undefined && name !== undefined) return lookUp(name, at)
      return node.replace(reference, (_, name?: string) => (name === undefined ? '${' : String(lookUp(name, at))))
    }
    if (Array.isArray(node)) return node.map((item, i) => visit(item, `${at}[${i}]`))
    if (!isObject(node)) return node
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, visit(member, `${at}.${name}`)]))
  }
  return visit(value, place)
}
