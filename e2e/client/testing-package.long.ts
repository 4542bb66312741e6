import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { waitFor } from '@belfry/test-support/wait-for'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'
import { pack } from './scratch-project.ts'

const run = promisify(execFile)
const own = join(repositoryRoot(), 'packages/testing')

let tarball: string
let folder: string
beforeAll(async () => {
  const [client] = await Promise.all([pack('client'), packTesting()])
  folder = await mkdtemp(join(tmpdir(), 'belfry-project-'))
  await install('@belfry/client', client)
  await install('@belfry/testing', tarball)
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) lend(name)
}, 300_000)

// As `pnpm pack` does, without bundling again what other tests run.
async function packTesting(): Promise<void> {
  await run(process.execPath, [join(repositoryRoot(), 'scripts/build-testing.mjs'), '--package', '--bundled'])
  const to = await mkdtemp(join(tmpdir(), 'belfry-packed-'))
  const pnpm = join(repositoryRoot(), 'node_modules/.bin/pnpm')
  await run(pnpm, ['pack', '--pack-destination', to, '--config.ignore-scripts=true'], { cwd: own })
  const [file = ''] = await readdir(to)
  tarball = join(to, file)
}

// The tarball, unpacked where npm would put it, with the dependencies of this checkout in place of a registry's.
async function install(name: string, file: string): Promise<void> {
  const to = join(folder, 'node_modules', name)
  mkdirSync(to, { recursive: true })
  await run('tar', ['-xzf', file, '--strip-components=1', '-C', to])
}

function lend(name: string): void {
  const from = join(own, 'node_modules', name)
  if (!existsSync(from)) return // of another platform
  mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
  symlinkSync(realpathSync(from), join(folder, 'node_modules', name))
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR }
}

function stateFolder(): string {
  const server = join(folder, 'node_modules/@belfry/testing/server/packages/testing/dist/server.mjs')
  return join(tmpdir(), `belfry-testing-${userInfo().username}-${statSync(server).mtimeMs.toString(36)}`)
}

async function serversOf(state: string): Promise<string[]> {
  return (await readdir(state)).filter(file => file.endsWith('.json'))
}

// Those of running servers, and of killed ones.
async function folders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter(name => name.startsWith('belfry-testing-server-'))
}

const useOnce = `import { startBelfry } from '@belfry/testing'
const started = performance.now()
const belfry = await startBelfry()
const startedMs = performance.now() - started
await belfry.client.tasks.create({ targetUrl: belfry.hook('/reminder'), payload: { order: 42 }, delay: '3d' })
await belfry.untilIdle()
console.log(JSON.stringify({ url: belfry.url, startedMs, orders: belfry.calls.map(call => call.json.order) }))
await belfry.stop()`

async function use(file: string): Promise<{ url: string; startedMs: number; orders: number[] }> {
  const { stdout } = await run(process.execPath, [file], { cwd: folder, env: environment() })
  return JSON.parse(stdout)
}

const body = `
  const started = performance.now()
  const belfry = await startBelfry()
  const first = performance.now() - started
  await belfry.client.tasks.create({ targetUrl: belfry.hook('/reminder'), payload: { order: 42 }, delay: '3d' })
  belfry.reply('/reminder', 503, 204)
  await belfry.untilIdle()
  assert.deepEqual((await belfry.received('/reminder')).json, { order: 42 })
  assert.equal(belfry.calls.length, 2)
  assert.ok(Date.now() - realNow > 3 * 24 * 3600_000)
  const again = performance.now()
  await belfry.reset()
  console.log(JSON.stringify({ first, reset: performance.now() - again, calls: belfry.calls.length }))
  assert.ok(Math.abs(Date.now() - realNow) < 3600_000)
  await belfry.stop()`

describe('the packed test kit', () => {
  it('has no problem that publint finds', async () => {
    const { messages, pkg } = await publint({ pack: { tarball: (await readFile(tarball)).buffer }, strict: true })
    expect(messages.map(message => formatMessage(message, pkg ?? {}))).toEqual([])
  })

  it('has the right types however it is imported', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(await readFile(tarball)))
    if (!analysis.types) throw new Error('The package has no types.')
    const { problems } = analysis
    expect(problems.filter(problem => !('resolutionKind' in problem && problem.resolutionKind === 'node10'))).toEqual(
      [],
    )
  })

  it('names the versions of its dependencies', async () => {
    const manifest = JSON.parse(await readFile(join(folder, 'node_modules/@belfry/testing/package.json'), 'utf8'))
    const { version, dependencies, optionalDependencies, peerDependencies } = manifest
    expect(peerDependencies).toEqual({ '@belfry/client': version })
    const versions: string[] = Object.values({ ...dependencies, ...optionalDependencies })
    for (const written of versions) expect(written).toMatch(/^\d/)
  })

  it('runs in node:test, as an ES module and in CommonJS, and the second file uses the server of the first', async () => {
    const esm = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBelfry } from '@belfry/testing'
const realNow = Date.now()
test('a failed reminder is repeated', async () => {${body}
})`
    await writeFile(join(folder, 'first.test.mjs'), esm)
    const cjs = esm
      .replace("import assert from 'node:assert/strict'", "const assert = require('node:assert/strict')")
      .replace("import { test } from 'node:test'", "const { test } = require('node:test')")
      .replace("import { startBelfry } from '@belfry/testing'", "const { startBelfry } = require('@belfry/testing')")
    await writeFile(join(folder, 'second.test.cjs'), cjs)
    const env = environment()
    const times = []
    for (const file of ['first.test.mjs', 'second.test.cjs']) {
      const { stdout } = await run(process.execPath, [file], { cwd: folder, env })
      const line = stdout.split('\n').find(text => text.includes('"first"')) ?? ''
      times.push(JSON.parse(line.slice(line.indexOf('{'))))
    }
    console.log(
      `@belfry/testing: ${times.map(({ first, reset }) => `start ${first} ms, reset ${reset} ms`).join('; ')}`,
    )
    const [first, second] = times
    expect(second.first).toBeLessThan(first.first)
    expect([first.calls, second.calls]).toEqual([0, 0])
  })

  it('keeps a migrated database when the server stops, for the next one', async () => {
    for (const file of await serversOf(stateFolder())) await rm(join(stateFolder(), file))
    const isKept = async () => (await readdir(stateFolder())).some(name => name.startsWith('postgres-'))
    await waitFor(isKept, Boolean, 60_000)
  })

  it('starts a server for each of two processes at once, from the same kept database', async () => {
    await writeFile(join(folder, 'parallel.mjs'), useOnce)
    const calls = await Promise.all([use('parallel.mjs'), use('parallel.mjs')])
    expect(new Set(calls.map(({ url }) => url)).size).toBe(2)
    expect(calls.map(call => call.orders)).toEqual([[42], [42]])
  })

  it('starts from the kept database again after the servers were killed, and removes what they left', async () => {
    const left = await folders()
    expect(left).toHaveLength(2)
    for (const name of left) process.kill(Number(name.split('-')[3]), 'SIGKILL')
    const { orders, startedMs } = await use('parallel.mjs')
    expect(orders).toEqual([42])
    console.log(`@belfry/testing: start with a kept database ${Math.round(startedMs)} ms`)
    const now = await folders()
    expect(now.filter(name => left.includes(name))).toEqual([])
    expect(now).toHaveLength(1)
  })

  it.each([
    ['CommonJS', 'cjs', `const { startBelfry } = require('@belfry/testing')`, ''],
    ['ES modules', 'mjs', `import { startBelfry } from '@belfry/testing'`, '--experimental-vm-modules'],
  ])('runs in Jest with the hook of docs/testing.md, in %s', async (_, extension, load, options) => {
    const page = await readFile(join(repositoryRoot(), 'docs/testing.md'), 'utf8')
    const [hook] = /beforeAll\(async[^`]*/.exec(page) ?? []
    const suite = `${load}
let belfry
${hook}
afterAll(() => belfry.stop())
test('a failed reminder is repeated', async () => {
  const before = Date.now()
  belfry.reply('/reminder', 503, 204)
  await belfry.client.tasks.create({ targetUrl: belfry.hook('/reminder'), payload: { order: 42 }, delay: '3d' })
  await belfry.untilIdle()
  expect((await belfry.received('/reminder')).json).toEqual({ order: 42 })
  expect(belfry.calls).toHaveLength(2)
  expect(Date.now() - before).toBeGreaterThan(3 * 24 * 3600_000)
})`
    await writeFile(join(folder, `reminder.jest.${extension}`), suite)
    const jest = createRequire(import.meta.url).resolve('jest/bin/jest')
    await writeFile(join(folder, 'jest.config.json'), JSON.stringify({ testMatch: [`**/*.jest.${extension}`] }))
    const { stderr } = await run(process.execPath, [jest, '--ci'], {
      cwd: folder,
      env: { ...environment(), NODE_OPTIONS: options },
      timeout: 60_000,
    })
    expect(stderr).toContain('1 passed, 1 total')
    expect(stderr).not.toContain('did not exit')
  })

  // This server has the database that the last one kept.
  it('moves the Date of its own context only, as in Jest, and none with movesDate: false', async () => {
    const program = `const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const vm = require('node:vm')
const file = require.resolve('@belfry/testing')
const { fetch, Request, Response, Headers, URL, Buffer, performance, setTimeout, clearTimeout } = globalThis
const own = { process, fetch, Request, Response, Headers, URL, Buffer, performance, setTimeout, clearTimeout }
const parsingContext = vm.createContext(own)
const parameters = ['exports', 'require', 'module', '__filename']
const load = vm.compileFunction(readFileSync(file, 'utf8'), parameters, { parsingContext })
const inContext = { exports: {} }
load(inContext.exports, require, inContext, file)
const hour = 3600_000
async function use(startBelfry, options) {
  const before = Date.now()
  const belfry = await startBelfry(options)
  await belfry.clock.advance({ days: 1 })
  const shown = [vm.runInContext('Date.now()', parsingContext), Date.now(), (await belfry.clock.now()).getTime()]
  await belfry.stop()
  return shown.map(time => Math.round((time - before) / (24 * hour)))
}
async function main() {
  assert.deepEqual(await use(inContext.exports.startBelfry), [1, 0, 1])
  assert.deepEqual(await use(require('@belfry/testing').startBelfry, { movesDate: false }), [0, 0, 1])
}
main()`
    await writeFile(join(folder, 'context.cjs'), program)
    const env = environment()
    await run(process.execPath, ['context.cjs'], { cwd: folder, env })
  })
})
