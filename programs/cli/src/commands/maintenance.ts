import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { GlobalOptions, Io } from '../context.ts'
import { UsageError } from '../usage-error.ts'

const commands = {
  backup: 'make, list and verify backups of the installation on this machine (belfry backup --help)',
  restore: 'restore a backup, or only drill it (belfry restore --help)',
  'release-held': 'release the tasks that are held since a restore (belfry release-held --help)',
  log: 'restore a day of the log from object storage (belfry log --help)',
  bench: 'measure this machine and its PostgreSQL in about a minute (belfry bench --help)',
  doctor: 'check the installation on this machine, and say what to do (belfry doctor --help)',
}

/**
 * Adds the commands that work on an installation instead of its API. Their program is installed with the server only: it
 * reads the database and the data folder.
 */
export function addMaintenance(program: Command, io: Io, fail: (code?: 1 | 2) => void): void {
  for (const [name, description] of Object.entries(commands)) {
    program
      .command(name)
      .description(description)
      .argument('[options...]')
      .helpOption(false)
      .allowUnknownOption()
      .action(async (_options, _own, command: Command) => {
        // Options of every command. This program has already read them.
        const { json, workspace } = program.opts<GlobalOptions>()
        const read = [...(workspace ? ['--workspace', workspace] : []), ...(json ? ['--json'] : [])]
        const code = await run(io, [name, ...command.args, ...read])
        if (code !== 0) fail(code === 1 ? 1 : 2)
      })
  }
}

async function run(io: Io, args: readonly string[]): Promise<number> {
  const file = fileURLToPath(new URL('../../maintenance/dist/main.mjs', import.meta.url))
  if (!existsSync(file)) {
    throw new UsageError(`belfry ${args[0]} is part of the server. Run it where the server is: npx belfry ${args[0]}`)
  }
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit' })
  io.signal.addEventListener('abort', () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  return code ?? 2
}
