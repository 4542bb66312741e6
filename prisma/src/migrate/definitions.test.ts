import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { statementsOf } from './apply-migration.ts'

const prisma = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, prisma), 'utf8')
const files = readdirSync(new URL('sql/', prisma))
const functionOf = (statement: string) => /^CREATE (?:OR REPLACE )?FUNCTION (\w+)\(/.exec(statement)?.[1]

it.each(files)('%s defines the function of its name, and triggers that call it', file => {
  const name = file.replace('.sql', '')
  const [definition = '', ...others] = statementsOf(read(`sql/${file}`))
  expect(definition).toMatch(new RegExp(`^CREATE OR REPLACE FUNCTION ${name}\\(`))
  const isOwn = (text: string) =>
    text.startsWith('CREATE OR REPLACE TRIGGER ')
      ? text.endsWith(`EXECUTE FUNCTION ${name}()`)
      : text.includes(`SELECT ${name}(`)
  expect(others.filter(text => !isOwn(text))).toEqual([])
})

it('migrations define no function of prisma/sql, and no trigger', () => {
  const folders = readdirSync(new URL('migrations/', prisma), { withFileTypes: true }).filter(entry =>
    entry.isDirectory(),
  )
  const statements = folders.flatMap(({ name }) => statementsOf(read(`migrations/${name}/migration.sql`)))
  const isMisplaced = (text: string) =>
    /^CREATE (OR REPLACE )?TRIGGER/.test(text) || files.includes(`${functionOf(text)}.sql`)
  expect(statements.filter(isMisplaced)).toEqual([])
})
