import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { expect, it } from 'vitest'
import { pack, scratchProject } from '../client/scratch-project.ts'

it('installs without dependencies, and starts without the code of other commands', async () => {
  const tarball = await pack('cli')
  const { messages, pkg } = await publint({ pack: { tarball: (await readFile(tarball)).buffer }, strict: true })
  expect(messages.map(message => formatMessage(message, pkg ?? {}))).toEqual([])
  expect(pkg?.dependencies ?? {}).toEqual({})
  const { folder } = await scratchProject(tarball, null)
  const { stdout } = await promisify(execFile)('npx', ['--offline', 'belfry', '--version'], { cwd: folder })
  expect(stdout).toBe(`${pkg?.version}\n`)
  const print = ['--offline', 'belfry', 'outbox', 'install', '--print']
  expect((await promisify(execFile)('npx', print, { cwd: folder })).stdout).toContain('CREATE SCHEMA')
  const dist = join(folder, 'node_modules/@belfry/cli/dist')
  const [, start = ''] = /import\("\.\/(run-cli-\w+\.mjs)"\)/.exec(await readFile(join(dist, 'main.mjs'), 'utf8')) ?? []
  // All chunks have 1.7 MB, which take twice as long to load as Node.
  expect(await sizeAtStart(join(dist, start))).toBeLessThan(200_000)
})

/** Returns the size of a module and of all modules that it imports statically. */
async function sizeAtStart(file: string, seen = new Set<string>()): Promise<number> {
  if (seen.has(file)) return 0
  seen.add(file)
  const text = await readFile(file, 'utf8')
  const imported = [...text.matchAll(/(?:^|;)import[^"();]*"(\.\/[^"]+\.mjs)"/gm)].map(([, path = '']) =>
    join(dirname(file), path),
  )
  const sizes = await Promise.all(imported.map(path => sizeAtStart(path, seen)))
  return sizes.reduce((total, size) => total + size, text.length)
}
