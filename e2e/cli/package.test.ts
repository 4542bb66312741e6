import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { expect, it } from 'vitest'
import { pack, scratchProject } from '../client/scratch-project.ts'

it('installs as one file without dependencies, and runs', async () => {
  const tarball = await pack('cli')
  const { messages, pkg } = await publint({ pack: { tarball: (await readFile(tarball)).buffer }, strict: true })
  expect(messages.map(message => formatMessage(message, pkg ?? {}))).toEqual([])
  expect(pkg?.dependencies ?? {}).toEqual({})
  const { folder } = await scratchProject(tarball, null)
  const { stdout } = await promisify(execFile)('npx', ['--offline', 'belfry', '--version'], { cwd: folder })
  expect(stdout).toBe(`${pkg?.version}\n`)
})
