import { readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import vm from 'node:vm'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { transform } from 'esbuild'
import type { Browser } from 'playwright-core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'
import { launchBrowser } from '../dashboard/browser.ts'
import { repositoryRoot } from '../repository-root.ts'
import { pack, type ScratchProject, scratchProject } from './scratch-project.ts'
import { servePage } from './serve-page.ts'

const compiler = join(
  createRequire(join(repositoryRoot(), 'package.json')).resolve('typescript/package.json'),
  '../bin/tsc',
)

let tarball: string
let once: string
let esm: ScratchProject
let belfry: Belfry
let target: Receiver
beforeAll(async () => {
  target = await startReceiver()
  ;[tarball, once, belfry] = await Promise.all([
    pack('client'),
    pack('once'),
    startBelfry('postgres', { services: ['all-in-one'] }),
  ])
  esm = await scratchProject([tarball, once], 'esm', { type: 'module' })
}, 120_000)
afterAll(async () => {
  await belfry?.close()
  await target?.close()
})

const installed = (file: string, name = 'client') =>
  readFile(join(esm.folder, 'node_modules/@belfry', name, file), 'utf8')
const wish = (path: string) => ({ apiKey: belfry.caller.apiKey, baseUrl: belfry.url, targetUrl: target.url(path) })

/** Expects that the target was called once, by the task whose run the project has seen. */
function expectSeen(path: string, printed: string, payload: object): void {
  const run = JSON.parse(printed)
  expect(run).toMatchObject({ status: 'success', attempt: 1, responseStatus: 200 })
  const requests = target.requestsTo(path)
  expect(requests.map(({ body }) => JSON.parse(body.toString()))).toEqual([payload])
}

describe.each(['client', 'once'])('the package %s', name => {
  const readTarball = () => readFile(name === 'client' ? tarball : once)

  it('has no problem that publint finds', async () => {
    const { messages, pkg } = await publint({ pack: { tarball: (await readTarball()).buffer }, strict: true })
    expect(messages.map(message => formatMessage(message, pkg ?? {}))).toEqual([])
  })

  it('has the right types however it is imported', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(await readTarball()))
    if (!analysis.types) throw new Error('The package has no types.')
    // Node before 12.7 and TypeScript before 4.7 do not support `exports`.
    const { problems } = analysis
    expect(problems.filter(problem => !('resolutionKind' in problem && problem.resolutionKind === 'node10'))).toEqual(
      [],
    )
  })

  it('has no dependencies', async () => {
    const manifest = JSON.parse(await installed('package.json', name))
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
      expect(manifest[kind] ?? {}).toEqual({})
    }
  })
})

describe('the package', () => {
  it('is smaller than 10 KB on the wire', async () => {
    const { code } = await transform(await installed('dist/index.mjs'), { minify: true, format: 'esm' })
    const bytes = gzipSync(code).length
    console.log(`@belfry/client: ${code.length} bytes minified, ${bytes} bytes gzipped`)
    expect(bytes).toBeLessThan(10_000)
  })

  it('does not mention Node in the files for other platforms', async () => {
    for (const file of ['dist/index.mjs', 'dist/index.cjs']) {
      expect(await installed(file)).not.toMatch(
        /node:|\brequire\(|\bprocess\b|\bBuffer\b|\bglobal\b|__dirname|import\(/,
      )
    }
  })

  it('works on a platform that has only web APIs', async () => {
    const web = {
      fetch,
      Headers,
      URLSearchParams,
      AbortController,
      TextEncoder,
      TextDecoder,
      ReadableStream,
      atob,
      crypto,
    }
    const module = { exports: {} as Record<string, unknown> }
    const sandbox = vm.createContext({ ...web, setTimeout, clearTimeout, Uint8Array, module, exports: module.exports })
    vm.runInContext(await installed('dist/index.cjs'), sandbox)
    const executeAt = JSON.stringify(new Date(Date.now() + 3_600_000))
    const task = await vm.runInContext(
      `new module.exports.Belfry(${JSON.stringify(wish('/vm'))}).tasks.create({
        name: 'From a bare context', targetUrl: ${JSON.stringify(target.url('/vm'))}, executeAt: ${executeAt}, method: 'put',
      })`,
      sandbox,
    )
    expect(task).toMatchObject({ state: 'pending', method: 'PUT' })
  })

  it('documents every method and every option for the editor', async () => {
    let documented = 0
    for (const file of ['dist/generated/resources.d.mts', 'dist/belfry.d.mts', 'dist/options.d.mts']) {
      const lines = (await installed(file)).split('\n')
      const members = lines.flatMap((line, i) => (/^ {4}\w+(\??:|\()/.test(line) ? [[lines[i - 1], line]] : []))
      for (const [before, member] of members)
        expect([file, member, before]).toEqual([file, member, expect.stringMatching(/\*\/$/)])
      documented += members.length
    }
    expect(documented).toBeGreaterThan(80)
  })

  it('exports its version', async () => {
    const { version } = JSON.parse(await installed('package.json'))
    expect(await installed('dist/index.mjs')).toContain(`version = "${version}"`)
  })
})

describe('in a project', { timeout: 60_000 }, () => {
  it('with ES modules', async () => {
    expectSeen('/esm', await esm.node('run.mjs', JSON.stringify(wish('/esm'))), { from: 'esm' })
  })

  it('with CommonJS', async () => {
    const project = await scratchProject(tarball, 'commonjs')
    expectSeen('/cjs', await project.node('run.cjs', JSON.stringify(wish('/cjs'))), { from: 'commonjs' })
  })

  it.each([
    ['nodenext', { module: 'nodenext', lib: ['es2022'], types: ['node'] }],
    ['bundler', { module: 'preserve', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] }],
  ])('with TypeScript and module resolution %s', async (name, options) => {
    const project = await scratchProject(tarball, 'typescript', { type: 'module' })
    await symlink(join(repositoryRoot(), 'node_modules/@types'), join(project.folder, 'node_modules/@types'))
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      target: 'es2022',
      outDir: 'out',
      ...options,
    }
    const tsconfig = {
      compilerOptions: { ...compilerOptions, skipLibCheck: name === 'nodenext' },
      files: ['schedule.ts'],
    }
    await writeFile(join(project.folder, 'tsconfig.json'), JSON.stringify(tsconfig))
    await project.node(compiler, '-p', '.')
    expectSeen(`/${name}`, await project.node('run.mjs', JSON.stringify(wish(`/${name}`))), { from: 'typescript' })
  })
})

describe('built by Vite, in a browser', { timeout: 60_000 }, () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof servePage>>
  beforeAll(async () => {
    const project = await scratchProject(tarball, 'browser', { type: 'module' })
    await build({ root: project.folder, logLevel: 'error', worker: { format: 'es' } })
    site = await servePage(join(project.folder, 'dist'), belfry.url)
    browser = await launchBrowser()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })

  it.each([
    ['page', 'schedule'],
    ['worker', 'byWorker'],
  ])('by a %s', async (from, call) => {
    const page = await browser.newPage()
    await page.goto(site.url)
    const asked = JSON.stringify({ ...wish(`/${from}`), from })
    const printed = await page.evaluate(`globalThis.${call}(${asked}).then(JSON.stringify)`)
    expectSeen(`/${from}`, String(printed), { from })
  })

  it('not from a page of another origin: a page must not hold a key', async () => {
    const page = await browser.newPage()
    await page.goto(site.url)
    const asked = JSON.stringify(`${belfry.url}/api/v1/scheduler/tasks`)
    const headers = JSON.stringify({ 'X-Api-Key': belfry.caller.apiKey })
    const outcome = page.evaluate(`fetch(${asked}, { headers: ${headers} }).then(() => 'read', error => error.name)`)
    expect(await outcome).toBe('TypeError')
  })
})
