import { describe, expect, it, vi } from 'vitest'
import { checkMigrations } from '../dev/check-migrations.ts'
import { deployMigrations } from '../src/migrate/deploy-migrations.ts'
import { waitForMigrations } from '../src/migrate/wait-for-migrations.ts'
import { changeFile, connect, copyFolder, later, nothingWrong, testDatabase } from './setup-migrations.ts'

describe('the files of prisma/sql', () => {
  const file = 'notify_outbox.sql'
  const changeBody = (text: string) => text.replace('BEGIN', 'BEGIN -- changed')
  const changeTrigger = (text: string) => text.replace('AFTER INSERT ON', 'AFTER INSERT OR UPDATE ON')
  const bodies = `SELECT count(*)::int AS changed FROM pg_proc WHERE proname = 'notify_outbox' AND prosrc LIKE '%changed%'`

  it('are applied once, in the transaction of the last migration', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE TABLE half (id int)' })
    await changeFile(folder, file, text => `${changeBody(text)}SELECT broken;\n`)
    await expect(deployMigrations(url, folder)).rejects.toThrow(
      `Migration ${later} failed: prisma/sql/${file}: column "broken" does not exist`,
    )
    expect(await query(`SELECT to_regclass('half')`)).toEqual([{ to_regclass: null }])
    expect(await query(bodies)).toEqual([{ changed: 0 }])
    await changeFile(folder, file, text => text.replace('SELECT broken;', ''))
    expect(await deployMigrations(url, folder)).toEqual([later, file])
    expect(await query(bodies)).toEqual([{ changed: 1 }])
    expect(await deployMigrations(url, folder)).toEqual([])
  })

  it('change a function without a lock on the table of its trigger', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({})
    await changeFile(folder, file, changeBody)
    const writer = await connect(url)
    await writer.query('BEGIN; UPDATE outbox SET label = label')
    expect(await deployMigrations(url, folder, { patienceMs: 0 })).toEqual([file])
    expect(await query(bodies)).toEqual([{ changed: 1 }])
    await writer.query('COMMIT')
  })

  it('change a trigger as soon as its table is free', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({ [later]: 'CREATE INDEX CONCURRENTLY later_idx ON users (name)' })
    await changeFile(folder, file, changeTrigger)
    const writer = await connect(url)
    await writer.query('BEGIN; UPDATE outbox SET label = label')
    const onBlocked = vi.fn<(line: string) => void>(() => void writer.query('COMMIT'))
    expect(await deployMigrations(url, folder, { onBlocked })).toEqual([later, file])
    expect(onBlocked.mock.calls).toEqual([[expect.stringMatching(/^prisma\/sql waits for a lock/)]])
    expect(await query(`SELECT pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE tgname = 'notify_outbox'`)).toEqual(
      [{ text: expect.stringContaining('AFTER INSERT OR UPDATE') }],
    )
  })

  it('of the previous version do not replace those of a later one', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({})
    await changeFile(folder, file, changeBody)
    await changeFile(
      folder,
      'later.sql',
      () => 'CREATE OR REPLACE FUNCTION later() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;',
    )
    const told: string[][] = []
    const waiting = waitForMigrations(url, missing => told.push(missing), folder)
    await expect.poll(() => told).toEqual([['later.sql', file]])
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, pending: ['later.sql', file] })
    await deployMigrations(url, folder)
    await waiting
    await query(`UPDATE sql_definitions SET version = '99.10.0' WHERE file IN ('${file}', 'later.sql')`)
    expect(await deployMigrations(url)).toEqual([])
    expect(await query(bodies)).toEqual([{ changed: 1 }])
    await waitForMigrations(url, missing => told.push(missing))
    expect(told).toHaveLength(1)
    expect(await checkMigrations(url, folder)).toEqual(nothingWrong)
    expect(await checkMigrations(url)).toEqual({ ...nothingWrong, replaced: [file] })
  })

  it('return to an earlier text, which no later version has replaced', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({})
    await changeFile(folder, file, text => changeTrigger(changeBody(text)))
    expect(await deployMigrations(url, folder)).toEqual([file])
    await query(`UPDATE sql_definitions SET version = '0.2.9' WHERE file = '${file}'`)
    expect(await checkMigrations(url)).toEqual({ ...nothingWrong, pending: [file] })
    expect(await deployMigrations(url)).toEqual([file])
    expect(await query(bodies)).toEqual([{ changed: 0 }])
    expect(await query(`SELECT pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE tgname = 'notify_outbox'`)).toEqual(
      [{ text: expect.not.stringContaining('OR UPDATE') }],
    )
    expect(await checkMigrations(url)).toEqual(nothingWrong)
    expect(await checkMigrations(url, folder)).toEqual({ ...nothingWrong, pending: [file] })
  })

  it('are applied after the functions that they call', async () => {
    const { url, query } = await testDatabase()
    const folder = await copyFolder({})
    const define = (name: string, body: string) =>
      changeFile(
        folder,
        `${name}.sql`,
        () => `CREATE FUNCTION ${name}() RETURNS int LANGUAGE sql AS $$ SELECT ${body} $$;`,
      )
    await define('a_third', 'b_second() + 1')
    await define('b_second', 'c_first() + 1')
    await define('c_first', '1')
    await deployMigrations(url, folder)
    expect(await query('SELECT a_third()')).toEqual([{ a_third: 3 }])
  })
})
