import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { checkout, type Environment } from './config.ts'
import { PlainError } from './plain-error.ts'
import { say } from './terminal.ts'

/** Migrates the database. */
export function migrate(databaseUrl: string, env: Environment, signal: AbortSignal): Promise<void> {
  const command = [join(checkout, 'prisma/dist/main.mjs'), 'deploy']
  const options = { env: { ...env, DATABASE_URL: databaseUrl }, signal }
  return new Promise((resolve, reject) => {
    const { stdout } = execFile(process.execPath, command, options, (error, _output, problem) => {
      if (!error) resolve()
      else reject(new PlainError(`The database migration failed. ${problem}`.trimEnd()))
    })
    // It waits a minute for an unreachable server, which should not look like a hang.
    if (stdout) createInterface({ input: stdout }).on('line', line => line.startsWith('waiting') && say(line))
  })
}
