import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@belfry/embedded'
import { startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { repositoryRoot } from '../repository-root.ts'

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync(join(repositoryRoot(), 'programs/belfry/package.json'), 'utf8'))

let tarball: string
beforeAll(async () => {
  tarball = await pack()
}, 60_000)

it('has no problem that publint finds, and only its program, the servers and the texts', async () => {
  const { messages, pkg } = await publint({ pack: { tarball: (await readFile(tarball)).buffer }, strict: true })
  expect(messages.map(message => formatMessage(message, pkg ?? {}))).toEqual([])
  const { stdout } = await run('tar', ['-tzf', tarball])
  const tops = stdout
    .trim()
    .split('\n')
    .map(name => name.split('/')[1])
  expect([...new Set(tops)].sort()).toEqual(['LICENSE', 'README.md', 'bin', 'package.json', 'server'])
})

it('has the dependencies of the programs that it contains, at their versions', () => {
  const embedded = JSON.parse(readFileSync(join(repositoryRoot(), 'packages/embedded/package.json'), 'utf8'))
  expect(manifest.optionalDependencies).toEqual(embedded.optionalDependencies)
  const catalog = readFileSync(join(repositoryRoot(), 'pnpm-workspace.yaml'), 'utf8')
  for (const [name, version] of Object.entries(manifest.dependencies))
    expect(catalog).toContain(`'${name}': ${version}\n`)
})

it('starts from its tarball in an empty folder, delivers, stops, and continues with its data', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-start-'))
  await install(folder)
  const belfry = join(folder, 'node_modules/belfry/bin/belfry.mjs')
  const port = await freePort()
  const start = (...more: string[]) => {
    const command = [process.execPath, belfry, 'start', '--port', String(port), ...more] as const
    const running = startProcess(command, { cwd: folder, env: process.env })
    onTestFinished(async () => void (await running.stop()))
    return running
  }
  const first = start()
  await first.prints('Ctrl-C stops everything', 60_000)
  expect(first.output).toContain('npx belfry start continues with the same data')
  expect(existsSync(join(folder, '.belfry/postgres'))).toBe(true)
  const [, key = ''] = /API key +(\S+)/.exec(first.output) ?? []
  const [, receiver = ''] = /Receiver +(\S+)/.exec(first.output) ?? []
  const env = { ...process.env, BELFRY_API_KEY: key, BELFRY_URL: `http://localhost:${port}` }
  const cli = async (...args: string[]) => (await run(process.execPath, [belfry, ...args], { cwd: folder, env })).stdout
  const { status } = await fetch(`http://localhost:${port}/api/events`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ topic: 'order.paid', payload: {}, target_url: `${receiver}/hook` }),
  })
  expect(status).toBe(202)
  await waitFor(
    () => cli('--json', 'list'),
    output => output.includes('"success"'),
    20_000,
  )
  // From the package's own folder of programs, on the data folder of this place.
  expect(await cli('doctor')).toContain('dispatchers alive: 1, schedulers alive: 1')
  expect(await cli('backup')).toMatch(/^belfry-\d{8}T\d{6}Z in .*backups: .* MB, 1 tasks$/m)
  expect(await cli('backup', 'verify')).toContain('The backup can be restored.')
  expect(await first.stop('SIGINT')).toBe(0)

  const second = start('--demo')
  await second.prints('Ctrl-C stops everything', 60_000)
  expect(second.output).toContain(key)
  expect(second.output).toContain('The workspace "Demo" of the dashboard shows the calls of a fictional shop.')
  expect(await second.stop('SIGINT')).toBe(0)
}, 150_000)

async function pack(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-packed-'))
  await run(process.execPath, [join(repositoryRoot(), 'scripts/fill-package.mjs'), '--bundled'])
  const options = ['--ignore-scripts', '--pack-destination', folder]
  await run('npm', ['pack', ...options], { cwd: join(repositoryRoot(), 'programs/belfry') })
  return join(folder, readdirSync(folder)[0] ?? '')
}

// The tarball, unpacked where npm would put it, with the dependencies of this checkout in place of a registry's.
async function install(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, 'belfry'), { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(modules, 'belfry')])
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const from = join(repositoryRoot(), 'programs/belfry/node_modules', name)
    if (!existsSync(from)) continue // of another platform
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(realpathSync(from), join(modules, name))
  }
}
