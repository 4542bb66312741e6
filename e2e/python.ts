import { type ExecFileOptionsWithStringEncoding, execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from 'vitest'

type Options = Partial<ExecFileOptionsWithStringEncoding>

// On Debian the module venv needs the package python3-venv.
const python = ['python3', 'python'].find(
  name => spawnSync(name, ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))']).status === 0,
)

/** Whether Python 3.10 or newer with venv is installed. */
export const hasPython = python !== undefined

export type Venv = {
  /** Returns the path of a file in the environment's folder. */
  path(name: string): string
  /** Runs one of the environment's programs and returns its output. */
  run(program: string, args: readonly string[], options?: Options): Promise<string>
  pip(args: readonly string[], options?: Options): Promise<string>
}

/** Creates a virtual environment of Python for the tests of a file or a `describe`. */
export function useVenv(): Venv {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-python-'))
    await run(python ?? '', ['-m', 'venv', folder])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  const programs = process.platform === 'win32' ? 'Scripts' : 'bin'
  const runProgram: Venv['run'] = (program, args, options) => run(path(join(programs, program)), args, options)
  return {
    path,
    run: runProgram,
    pip: (args, options) =>
      runProgram('python', ['-m', 'pip', '--quiet', '--disable-pip-version-check', ...args], options),
  }
}

async function run(program: string, args: readonly string[], options: Options = {}): Promise<string> {
  const maxBuffer = 16 * 1024 * 1024
  try {
    return (await promisify(execFile)(program, args, { maxBuffer, ...options, encoding: 'utf8' })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
