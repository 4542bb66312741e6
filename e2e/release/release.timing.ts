import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startProcess } from '@belfry/test-support/servers'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasGoTool } from '../deployment/tools.ts'
import { hasPython, useVenv } from '../python.ts'
import { repositoryRoot } from '../repository-root.ts'
import { nodeOf, pythonOf } from './nodes-and-pythons.ts'

const run = promisify(execFile)
const packages = ['belfry', 'belfry-client', 'belfry-cli', 'belfry-once', 'belfry-testing']
const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8'))
const canMake = hasPython && hasGoTool('helm', ['version']) && hasGoTool('go', ['version'])

// In the lane that runs alone, because the script bundles the programs that other tests run.

/** The artefacts: those in the folder RELEASE, or new ones. */
let release = process.env.RELEASE ? resolve(repositoryRoot(), process.env.RELEASE) : ''
const artefact = (name: string) => join(release, name)
const inFolder = (cwd: string, env = {}) => ({ cwd, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } })

describe.runIf(release !== '' || canMake)('a release', { timeout: 900_000 }, () => {
  const venv = useVenv()
  beforeAll(async () => {
    if (release === '') release = await makeRelease(venv)
  }, 30 * 60_000)

  it('has every artefact, with its checksum', async () => {
    const platforms = ['darwin_amd64', 'darwin_arm64', 'linux_amd64', 'linux_arm64', 'windows_amd64', 'windows_arm64']
    const images = ['all-in-one', 'api', 'dispatcher', 'migrate', 'scheduler']
    const python = version.replace('-dev', '.dev0')
    const names = [
      ...packages.map(name => `${name}-${version}.tgz`),
      ...images.map(name => `belfry-${name}-files-${version}-${process.arch}.tar.gz`),
      ...platforms.map(name => `terraform-provider-belfry_${version}_${name}.zip`),
      `terraform-provider-belfry_${version}_SHA256SUMS`,
      ...[`belfry_client-${python}-py3-none-any.whl`, `belfry_client-${python}.tar.gz`],
      ...[`belfry-chart-${version}.tgz`, `belfry-docs-${version}.tar.gz`, `belfry-${version}.spdx.json`],
    ]
    expect(readdirSync(release).sort()).toEqual([...names, 'SHA256SUMS'].sort())
    const sums = (await readFile(artefact('SHA256SUMS'), 'utf8')).trim().split('\n')
    const digestOf = (name: string) =>
      createHash('sha256')
        .update(readFileSync(artefact(name)))
        .digest('hex')
    expect(sums.sort()).toEqual(names.map(name => `${digestOf(name)}  ${name}`).sort())
  })

  it.each(packages)('%s says where it comes from, and of what version its packages are', async name => {
    const { stdout } = await run('tar', ['-xzOf', artefact(`${name}-${version}.tgz`), 'package/package.json'])
    const manifest = JSON.parse(stdout)
    const repository = { type: 'git', url: expect.stringMatching(/^git\+https:\/\/.+\.git$/) }
    const bugs = { url: expect.stringMatching(/\/issues$/) }
    expect(manifest).toMatchObject({ version, repository, bugs, homepage: expect.stringMatching(/^https:.*#readme$/) })
    const needed = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
    const wrong = needed.filter(([other, range]) =>
      other.startsWith('@belfry/') ? range !== version : !/^\d/.test(String(range)),
    )
    expect(wrong).toEqual([])
  })

  it.each(['20', '22', '24'])('installs in an empty project, starts and delivers with Node %s', async major => {
    const node = await nodeOf(major)
    if (node === null) return
    const folder = await installed()
    const { url, env, receiver } = await start(folder, node)
    for (const [file, program] of Object.entries(programs)) {
      await writeFile(join(folder, file), program)
      const { stdout } = await run(node, [file, receiver], inFolder(folder, env))
      expect(stdout).toBe('success\n')
    }
    const cli = join(folder, 'node_modules/@belfry/cli/dist/main.mjs')
    const { stdout: listed } = await run(node, [cli, '--json', 'list'], inFolder(folder, env))
    expect(listed.match(/"state":"success"/g)).toHaveLength(2)
    await writeFile(join(folder, 'once.mjs'), effectOnce)
    expect((await run(node, ['once.mjs'], inFolder(folder, env))).stdout).toBe('1 1 1\n')
    await writeFile(join(folder, 'kit.mjs'), testKit)
    // A folder of its own, in which it finds no server that another Node has started.
    const TMPDIR = await mkdtemp(join(tmpdir(), 'belfry-kit-'))
    const { stdout: tested } = await run(node, ['kit.mjs'], inFolder(folder, { TMPDIR }))
    expect(tested).toBe('42\n')
    expect((await fetch(`${url}/api/docs`)).status).toBe(200)
  })

  it('says with Node 18 which Node it needs', async () => {
    const node = await nodeOf('18')
    if (node === null) return
    const folder = await installed()
    const starts = [
      ['node_modules/belfry/bin/belfry.mjs', 'start', '20.19'],
      ['node_modules/@belfry/cli/dist/main.mjs', 'list', '20.12'],
      [join(repositoryRoot(), 'scripts/start.mjs'), '', '20.19'],
    ] as const
    for (const [program, command, needed] of starts) {
      const { result } = startProcess([node, program, ...(command ? [command] : [])], inFolder(folder))
      const { code, out, error } = await result
      expect([code, out, error]).toEqual([
        1,
        '',
        expect.stringMatching(`^[Bb]elfry needs Node ${needed} or newer; this is Node 18\\.[\\d.]+\\. .*\\n$`),
      ])
    }
  })

  it.each(['3.10', '3.11', '3.12', '3.13'])(
    'the wheel installs in an empty project, and delivers with Python %s',
    async wanted => {
      const python = pythonOf(wanted)
      if (python === null) return console.warn(`Python ${wanted} is not installed, so nothing is tested with it.`)
      const folder = await mkdtemp(join(tmpdir(), 'belfry-wheel-'))
      await run(python, ['-m', 'venv', folder])
      const own = join(folder, 'bin/python')
      const wheel = readdirSync(release).find(name => name.endsWith('.whl')) ?? ''
      await run(own, ['-m', 'pip', '--quiet', 'install', artefact(wheel)])
      const { env, receiver } = await start(await installed(), process.execPath)
      const { stdout } = await run(own, ['-c', pythonProgram, receiver], inFolder(folder, env))
      expect(stdout).toBe('success\n')
    },
  )
})

async function makeRelease({ path, pip }: ReturnType<typeof useVenv>): Promise<string> {
  await pip(['install', '--require-hashes', '--requirement', '.github/release-requirements.txt'], {
    cwd: repositoryRoot(),
  })
  const folder = await mkdtemp(join(tmpdir(), 'belfry-release-'))
  // As on GitHub, of whichever repository.
  const source = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'owner/belfry' }
  const env = { ...process.env, ...source, PATH: [path('bin'), process.env.PATH].join(delimiter) }
  await run(process.execPath, [join(repositoryRoot(), 'scripts/make-release.mjs'), folder], { env, maxBuffer: 2 ** 26 })
  return folder
}

let project: Promise<string> | undefined

/** Returns an empty project with all packages. */
function installed(): Promise<string> {
  project ??= install()
  return project
}

async function install(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-project-'))
  await writeFile(join(folder, 'package.json'), '{ "name": "empty", "private": true }')
  const tarballs = packages.map(name => artefact(`${name}-${version}.tgz`))
  await run('npm', ['install', '--no-audit', '--no-fund', 'pg@8', ...tarballs], inFolder(folder))
  return folder
}

async function start(folder: string, node: string) {
  const command = [node, join(folder, 'node_modules/belfry/bin/belfry.mjs'), 'start', '--port', '0'] as const
  const data = await mkdtemp(join(tmpdir(), 'belfry-data-'))
  const belfry = startProcess([...command, '--data-dir', data], inFolder(folder))
  onTestFinished(async () => void (await belfry.stop('SIGINT')))
  await belfry.prints('Ctrl-C stops everything', 120_000)
  const find = (pattern: RegExp) => pattern.exec(belfry.output)?.[1] ?? ''
  const url = find(/running at (\S+)/)
  const details = await readFile(join(data, 'details.txt'), 'utf8')
  const DATABASE_URL = /postgresql:\S+/.exec(details)?.[0] ?? ''
  const env = { BELFRY_URL: url, BELFRY_API_KEY: find(/API key +(\S+)/), DATABASE_URL }
  return { url, env, receiver: find(/Receiver +(\S+)/) }
}

const deliver = `const belfry = new Belfry()
const task = await belfry.tasks.create({ targetUrl: process.argv[2], delay: '1s', payload: { a: 1 } })
let { state } = task
while (state !== 'success') ({ state } = await belfry.tasks.get(task.id))
console.log(state)`

const programs = {
  'schedule.mjs': `import { Belfry } from '@belfry/client'\n${deliver}`,
  'schedule.cjs': `const { Belfry } = require('@belfry/client')\nvoid (async () => {\n${deliver}\n})()`,
}

const effectOnce = `import { onceInPool, postgres } from '@belfry/once'
import pg from 'pg'
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
await pool.query(postgres.createTable)
let effects = 0
const receive = () => onceInPool(pool, process.version, async () => ++effects)
console.log(await receive(), await receive(), effects)
await pool.end()`

const testKit = `import { startBelfry } from '@belfry/testing'
const belfry = await startBelfry()
await belfry.client.tasks.create({ targetUrl: belfry.hook('/reminder'), payload: { order: 42 }, delay: '3d' })
await belfry.untilIdle()
console.log(belfry.calls[0].json.order)
await belfry.stop()`

const pythonProgram = `import sys, time
from belfry_client import Belfry
with Belfry() as belfry:
    task = belfry.tasks.create(target_url=sys.argv[1], delay="1s", payload={"a": 1})
    while task.state != "success":
        time.sleep(0.2)
        task = belfry.tasks.get(task.id)
    print(task.state)`
