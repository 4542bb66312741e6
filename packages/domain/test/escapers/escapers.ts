import { execFileSync, spawnSync } from 'node:child_process'
import querystring from 'node:querystring'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import Handlebars from 'handlebars'

/** What escapers make of a value, by their names. */
export type Escaped = Record<string, string>

/** The escapers of a language. */
export type Escapers = {
  name: string
  isPresent(): boolean
  /** Returns what the escapers make of each value. */
  escape(values: readonly string[]): Escaped[]
}

const maxBuffer = 1024 * 1024 * 1024

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

function runs(program: string, argument: string): boolean {
  return spawnSync(program, [argument]).status === 0
}

/** Escapers of a program that reads a JSON array of values, and prints a line for each. */
function inLines(name: string, [program, ...options]: [string, ...string[]], version: string): Escapers {
  return {
    name,
    isPresent: () => runs(program, version),
    escape(values) {
      const input = JSON.stringify(values)
      const output = execFileSync(program, options, { input, encoding: 'utf8', maxBuffer })
      return output
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line) as Escaped) // as the program prints it
    },
  }
}

export const python = inLines('Python', ['python3', pathOf('escape.py')], '--version')
export const go = inLines('Go', ['go', 'run', pathOf('escape.go')], 'version')
export const php = inLines('PHP', ['php', pathOf('escape.php')], '--version')

const names = ['printf %q', 'value@Q', 'declare -p', 'printf %q, locale C', 'set -x']

export const bash: Escapers = {
  name: 'bash',
  isPresent: () => runs('bash', '--version'),
  escape(values) {
    const input = values.map(value => `${value}\0`).join('')
    const environment = { ...process.env, LC_ALL: 'C.UTF-8' }
    const options = { input, encoding: 'utf8', maxBuffer, env: environment } as const
    const texts = execFileSync('bash', [pathOf('escape.sh')], options).split('\0')
    return values.map((_, i) => Object.fromEntries(names.map((name, j) => [name, texts[i * names.length + j] ?? ''])))
  },
}

export const node: Escapers = {
  name: 'Node',
  isPresent: () => true,
  escape: values =>
    values.map(value => ({
      Handlebars: Handlebars.compile('{{value}}')({ value }),
      'Handlebars, twice': Handlebars.escapeExpression(Handlebars.escapeExpression(value)),
      'Handlebars of JSON': Handlebars.escapeExpression(JSON.stringify(value)),
      'JSON.stringify': JSON.stringify(value),
      'JSON, three times': JSON.stringify(JSON.stringify(JSON.stringify(value))),
      encodeURIComponent: encodeURIComponent(value),
      'encodeURIComponent of JSON': encodeURIComponent(JSON.stringify(value)),
      encodeURI: encodeURI(value),
      escape: escape(value),
      'querystring.escape': querystring.escape(value),
      URLSearchParams: new URLSearchParams({ value }).toString(),
      'util.inspect': inspect({ value }, { breakLength: Number.POSITIVE_INFINITY }),
      base64: Buffer.from(value).toString('base64'),
      'basic authorization': Buffer.from(`user:${value}`).toString('base64'),
      hex: Buffer.from(value).toString('hex'),
    })),
}
