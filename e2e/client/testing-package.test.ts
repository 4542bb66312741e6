import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
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
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR }
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
    const server = join(folder, 'node_modules/@belfry/testing/server/packages/testing/dist/server.mjs')
    const build = statSync(server).mtimeMs.toString(36)
    const state = join(tmpdir(), `belfry-testing-${userInfo().username}-${build}`)
    for (const file of await readdir(state)) if (file.endsWith('.json')) await rm(join(state, file))
    const isKept = async () => (await readdir(state)).some(name => name.startsWith('postgres-'))
    await waitFor(isKept, Boolean, 60_000)
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
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR }
    await run(process.execPath, ['context.cjs'], { cwd: folder, env })
  })
})
