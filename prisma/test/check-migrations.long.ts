import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { checkMigrations } from '../dev/check-migrations.ts'
import { createMigration } from '../dev/create-migration.ts'
import { deployMigrations } from '../src/migrate/deploy-migrations.ts'
import { changeSchema, copyFolder, later, nothingWrong, testDatabase, writeMigration } from './setup-migrations.ts'

describe('checkMigrations', () => {
  it('takes neither a further partition nor a table of another schema for a difference', async () => {
    const { url, query } = await testDatabase()
    await query('SELECT create_run_partitions(12); CREATE SCHEMA other; CREATE TABLE other.things (id int)')
    expect(await checkMigrations(url)).toEqual(nothingWrong)
  })

  it('finds a column added by hand', async () => {
    const { url, query } = await testDatabase()
    await query('ALTER TABLE users ADD COLUMN by_hand text')
    expect(await checkMigrations(url)).toEqual({
      ...nothingWrong,
      drift: expect.stringContaining('ALTER TABLE "users" DROP COLUMN "by_hand"'),
    })
  })

  it('rejects migrations that cannot be replayed', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({ [later]: 'SELECT broken' })
    await expect(checkMigrations(url, folder)).rejects.toThrow(/20990101000000_later.*column "broken" does not exist/s)
  })

  it('finds what the migrations lack to reach the schema', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({})
    await changeSchema(folder, 'model User {', 'model User {\n  nickname String?')
    const lack = expect.stringContaining('ALTER TABLE "users" ADD COLUMN     "nickname" TEXT')
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, drift: lack, missing: lack })
  })

  it('names pending, edited and unknown migrations', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({ [later]: 'SELECT 1' })
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, pending: [later] })
    await deployMigrations(url, folder)
    await writeMigration(folder, later, 'SELECT 2')
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, edited: [later] })
    expect(await checkMigrations(url)).toEqual({ ...nothingWrong, unknown: [later] })
  })

  it('drops the database in which it replayed the migrations', async () => {
    const { url, query } = await testDatabase()
    const shadows = () => query(`SELECT datname FROM pg_database WHERE datname LIKE 'belfry_shadow_%'`)
    const before = await shadows()
    await checkMigrations(url)
    expect(await shadows()).toEqual(before)
  })
})

describe('createMigration', () => {
  it('writes nothing when the migrations agree with the schema', async () => {
    const { url } = await testDatabase()
    expect(await createMigration(url, 'nothing new')).toBeNull()
  })

  it('writes a migration to the schema', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({})
    await changeSchema(folder, 'model User {', 'model User {\n  nickname String?')
    const path = await createMigration(url, 'Add nickname', folder)
    expect(path).toMatch(/[\\/]migrations[\\/]\d{14}_add_nickname[\\/]migration\.sql$/)
    await deployMigrations(url, folder)
    expect(await checkMigrations(url, folder)).toEqual(nothingWrong)
  })

  it('removes the transaction of the engine around a changed enum', async () => {
    const { url } = await testDatabase()
    const folder = await copyFolder({})
    await changeSchema(folder, /^ {2}linear\n/m, '')
    const path = await createMigration(url, 'drop linear', folder)
    const script = await readFile(String(path), 'utf8')
    expect(script).toContain('CREATE TYPE "backoff_new"')
    expect(script).not.toMatch(/BEGIN|COMMIT/)
    await deployMigrations(url, folder)
    expect(await checkMigrations(url, folder)).toEqual(nothingWrong)
  })

  it('refuses while the database differs from its migrations', async () => {
    const { url, query } = await testDatabase()
    await query('ALTER TABLE users ADD COLUMN by_hand text')
    await expect(createMigration(url, 'add more')).rejects.toThrow('Added column `by_hand`')
  })
})
