import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '@belfry/embedded'
import { findInstalledPostgres } from '@belfry/test-support/servers'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { deployMigrations } from '../src/migrate/deploy-migrations.ts'
import { setUpRoles } from '../src/migrate/set-up-roles.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const installed = findInstalledPostgres()

const owners = `SELECT tablename, tableowner FROM pg_tables WHERE schemaname IN ('public', 'run_partitions') ORDER BY 1`

/** Returns the commands of docs/self-hosting.md that run in the stack's PostgreSQL, without `docker compose exec`. */
function commandsOfThePage(): string[] {
  const all = read('docs/self-hosting.md').matchAll(/docker compose exec (?:-T )?postgres ([^\n`]+)/g)
  return [...all].map(([, command = '']) => command.replace(/ &&( +#.*)?$/, ''))
}

// The server that docker-compose.yml creates: the owner of the database is no superuser.
it.skipIf(installed === null)(
  'restores a dump by the commands for docker compose',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-stack-'))
    const postgres = await startPostgres({
      dataDir: join(folder, 'postgres'),
      settings: { fsync: 'off' },
      binaries: installed ?? undefined,
    })
    onTestFinished(async () => {
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    })
    const owner = { username: 'belfry', password: 'of the owner' }
    const { port, username, password } = new URL(postgres.url())
    const env = {
      ...{ PATH: `${dirname(installed?.postgres ?? '')}:${process.env.PATH}`, OWNER_PASSWORD: owner.password },
      ...{ PGHOST: '127.0.0.1', PGPORT: port, PGUSER: username, PGPASSWORD: password },
    }
    const shell = (command: string) => promisify(execFile)('bash', ['-ec', command], { cwd: folder, env })
    const query = async (text: string) => {
      const client = new pg.Client(postgres.url('belfry'))
      await client.connect()
      return (await client.query(text).finally(() => client.end())).rows
    }
    await shell('createdb belfry')
    // The test still needs the password of the superuser.
    const sql = read('k8s/chart/files/create-owner.sql').replace('ALTER ROLE CURRENT_USER PASSWORD NULL;', '')
    await shell(`psql --set ON_ERROR_STOP=1 --dbname belfry << 'END'\n${sql}\nEND`)
    const ownerUrl = Object.assign(new URL(postgres.url('belfry')), owner).href
    await deployMigrations(ownerUrl)
    await setUpRoles(ownerUrl, { api: 'a password', scheduler: 'a password', dispatcher: 'a password' })
    const before = await query(owners)

    const commands = commandsOfThePage()
    expect(commands.map(command => command.split(' ')[0])).toEqual(['pg_dump', 'dropdb', 'createdb', 'pg_restore'])
    for (const command of commands) await shell(command)

    expect(await query(owners)).toEqual(before)
    expect(new Set(before.map(({ tableowner }) => tableowner))).toEqual(new Set(['belfry', 'belfry_scheduler']))
    expect(await query(`SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = 'belfry'`)).toEqual([
      { owner: 'belfry' },
    ])
  },
  120_000,
)
