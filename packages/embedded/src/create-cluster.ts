import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { passwordFile } from './find-running-postgres.ts'
import { majorVersionOf } from './postgres-binaries.ts'
import { giveTo, type ServerAccount } from './server-account.ts'
import { lastLines } from './server-process.ts'

/** Creates the data directory unless it exists, and returns the password of its superuser `postgres`. */
export async function ensureCluster(dataDir: string, initdb: string, account: ServerAccount): Promise<string> {
  if (!existsSync(join(dataDir, 'PG_VERSION'))) await createCluster(dataDir, initdb, account)
  giveTo(account, dataDir)
  return readFile(join(dataDir, passwordFile), 'utf8')
}

// Created under another name and then renamed, so an interruption never leaves half a cluster.
async function createCluster(dataDir: string, initdb: string, account: ServerAccount): Promise<void> {
  const draft = `${dataDir}.init`
  const secret = `${draft}.password`
  const password = randomBytes(16).toString('hex')
  await freePlace(dataDir)
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  await rm(secret, { force: true })
  await writeFile(secret, password, { mode: 0o600 })
  giveTo(account, draft)
  giveTo(account, secret)
  try {
    await runInitdb([...account.prefix, initdb, ...initdbArguments(initdb, draft, secret)], account)
    await rename(secret, join(draft, passwordFile))
    await rename(draft, dataDir)
  } finally {
    await rm(secret, { force: true })
    await rm(draft, { recursive: true, force: true })
  }
}

async function freePlace(dataDir: string): Promise<void> {
  try {
    if (existsSync(dataDir)) await rmdir(dataDir)
  } catch (cause) {
    throw new Error(`${dataDir} is in the way: it has no PostgreSQL data. Move it away, or choose another directory.`, {
      cause,
    })
  }
}

// A random password needs no slow hash, which would delay every connection by some milliseconds. Without sync, a power cut
// within the first seconds can only lose an empty database.
function initdbArguments(initdb: string, directory: string, passwordPath: string): string[] {
  const settings = majorVersionOf(initdb) >= 16 ? ['-c', 'scram_iterations=1'] : []
  return [
    ...['-D', directory, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordPath}`],
    ...['--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync', ...settings],
  ]
}

function runInitdb([program = '', ...args]: string[], { ids }: ServerAccount): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...ids, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    child.once('error', reject)
    child.once('close', code => {
      if (code === 0) resolve()
      else reject(new Error(`The database directory could not be created. Output of initdb:\n${lastLines(output)}`))
    })
  })
}
