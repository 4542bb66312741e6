import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const elsewhere = [
  ...['services/api/src', 'services/scheduler/src', 'services/dispatcher/src', 'services/dispatcher/src/outbox'],
  ...['packages/contract/src', 'packages/domain/src', 'packages/messages/src', 'packages/queue/src'],
  ...['packages/runtime/src', 'packages/vault/src', 'prisma/src'],
]
const egress = 'services/dispatcher/src/egress'

const calls: Record<string, string> = {
  axios: `import axios from 'axios'\nexport const call = axios`,
  'a part of axios': `import adapter from 'axios/unsafe/adapters/http.js'\nexport const call = adapter`,
  undici: `import { request } from 'undici'\nexport const call = request`,
  'undici, later': `export const call = () => import('undici')`,
  'node:http': `import { request } from 'node:http'\nexport const call = request`,
  'an agent': `import { Agent } from 'node:http'\nexport const call = Agent`,
  'all of node:http': `import * as http from 'node:http'\nexport const call = http`,
  http: `import { request } from 'http'\nexport const call = request`,
  'node:https': `import { get } from 'node:https'\nexport const call = get`,
  'node:http2': `import { connect } from 'node:http2'\nexport const call = connect`,
  'node:net': `import { connect } from 'node:net'\nexport const call = connect`,
  'node:tls': `import { connect } from 'node:tls'\nexport const call = connect`,
  'node:dgram': `import { createSocket } from 'node:dgram'\nexport const call = createSocket`,
  fetch: `export const call = () => fetch('https://example.com')`,
  'fetch, of the global object': `export const call = globalThis.fetch`,
  WebSocket: `export const call = () => new WebSocket('wss://example.com')`,
  EventSource: `export const call = () => new EventSource('https://example.com')`,
}
const serving = `import { createServer } from 'node:http'\nimport { isIP } from 'node:net'\nexport const serve = [createServer, isIP]`

const literals: Record<string, string> = {
  'a spread and a member': `export const make = (a: object) => ({ ...a, b: 1 })`,
  'two spreads': `export const make = (a: object, b: object) => ({ ...a, ...b })`,
}
const fastLiterals = `export const make = (a: object) => [{ ...a }, { b: 1, ...a }, { b: 1, ...a, c: 2 }]`

const onEgress = ['--only=style/noRestrictedImports', '--only=style/noRestrictedGlobals']

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belfry-lint-'))
  for (const path of ['biome.json', 'scripts/no-leading-spread.grit']) await cp(join(root, path), join(folder, path))
})
afterAll(() => rm(folder, { recursive: true }))

/** Lints files by the repository's own rules; returns those that break a rule. */
async function refused(files: Record<string, string>, rules = onEgress): Promise<string[]> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), `${text}\n`)
  }
  const options = ['--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none']
  const biome = join(root, 'node_modules/.bin/biome')
  const output = await new Promise<string>(resolve => {
    execFile(biome, ['lint', ...rules, ...options, '.'], { cwd: folder, maxBuffer: 2 ** 26 }, (_, out) => resolve(out))
  })
  const { diagnostics, summary } = JSON.parse(output) as Report
  expect(summary.unchanged).toBeGreaterThanOrEqual(Object.keys(files).length)
  return [...new Set(diagnostics.map(({ location }) => location.path))].filter(path => path in files).sort()
}

type Report = { diagnostics: Array<{ location: { path: string } }>; summary: { unchanged: number } }

const inEach = (folders: string[], texts: Record<string, string>) =>
  Object.fromEntries(
    folders.flatMap(folder => Object.values(texts).map((text, i) => [`${folder}/call-${i}.ts`, text] as const)),
  )

describe('the lint rules', () => {
  it('let only the egress folder call the outside', async () => {
    const files = inEach(elsewhere, calls)
    expect(await refused(files)).toEqual(Object.keys(files).sort())
  })

  it('allow calls in the egress folder, and servers everywhere', async () => {
    const files = { ...inEach([egress], calls), 'services/api/src/serve.ts': serving }
    expect(await refused(files)).toEqual([])
  })

  it('reject a literal that begins with a spread in code that runs for each operation, where it has more members', async () => {
    const slow = inEach(['packages/runtime/src', 'services/dispatcher/src/attempt', 'prisma/src/tasks'], literals)
    const allowed = {
      'packages/domain/src/fast.ts': fastLiterals,
      ...inEach(['services/api/src/accounts', 'services/scheduler/src'], literals),
    }
    expect(await refused({ ...slow, ...allowed }, ['--only=plugin'])).toEqual(Object.keys(slow).sort())
  })
})
