import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Returns the program of the newest Node of a major version, from the registry; null where it has none for this platform. */
export async function nodeOf(major: string): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), `belfry-node-${major}-`))
  const name = `node-${process.platform}-${process.arch}`
  try {
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${major}`])
    return join(folder, 'node_modules', name, 'bin/node')
  } catch (error) {
    console.warn(`Node ${major} could not be installed, so nothing is tested with it: ${error}`)
    return null
  }
}

/** Returns the program of a version of Python, also one of pyenv; null when it is not installed. */
export function pythonOf(version: string): string | null {
  const versions = join(homedir(), '.pyenv/versions')
  const ofPyenv = existsSync(versions) ? readdirSync(versions).filter(name => name.startsWith(`${version}.`)) : []
  const candidates = [`python${version}`, ...ofPyenv.map(name => join(versions, name, 'bin/python'))]
  return candidates.find(program => spawnSync(program, ['-c', 'import ensurepip, venv']).status === 0) ?? null
}
