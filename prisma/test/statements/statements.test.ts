import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { attemptingFunctions } from './attempting.ts'
import { changingFunctions } from './changing.ts'
import { creatingFunctions } from './creating.ts'
import { recordStatements } from './record-statements.ts'
import { upkeepFunctions } from './upkeep.ts'

const folder = join(import.meta.dirname, '../../statements')

/** In the order of the tables in `prisma/README.md`. */
const functions = [...creatingFunctions, ...attemptingFunctions, ...changingFunctions, ...upkeepFunctions]

const files = functions.flatMap(({ sends, ...sender }) =>
  Object.entries(sends).map(([file, sent]) => {
    const [does, text] = typeof sent === 'string' ? [sent, null] : sent
    return { ...sender, file, does, text }
  }),
)

// Vitest writes a changed file with `npm run test:unit -- prisma/test/statements --update`.
it.each(files)('$file is the statement that its function sends', async ({ by, call, answers, file, does, text }) => {
  const sent = await recordStatements(call, answers)
  const found = sent.filter(statement => (text === null ? statement.name === file : text.test(statement.text)))
  expect(found).toHaveLength(1)
  const head = [`-- ${does}`, `-- Sent by ${by.name}.`]
  await expect([...head, '', ...readable(found[0]?.text ?? ''), ''].join('\n')).toMatchFileSnapshot(
    join(folder, `${file}.sql`),
  )
})

it('prisma/README.md links each statement, and each row of its tables links SQL', () => {
  const readme = readFileSync(join(folder, '../README.md'), 'utf8')
  const [, tables = ''] = /^## State transitions$(.*?)^## Errors/ms.exec(readme) ?? []
  const rows = tables.split('\n').filter(line => /^\| (?!---|Transition|Search)/.test(line))
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.filter(row => !/\.sql\)/.test(row))).toEqual([])
  const linked = [...readme.matchAll(/\(statements\/(\w+\.sql)\)/g)].map(([, file]) => file)
  const recorded = files.map(({ file }) => `${file}.sql`).sort()
  expect([...new Set(linked)].sort()).toEqual(recorded)
  expect(readdirSync(folder).filter(file => !recorded.includes(file))).toEqual([])
})

/** Returns the lines of a statement, each part of it moved to the left margin. A part keeps its inner indentation. */
function readable(text: string): string[] {
  let [depth, margin] = [0, 0]
  return text.split('\n').flatMap(line => {
    const indent = line.search(/\S/)
    if (indent < 0) return []
    if (depth === 0 && startsPart.test(line)) margin = indent
    const code = line.replace(/'[^']*'|--.*/g, '')
    depth += code.split('(').length - code.split(')').length
    return [line.slice(Math.min(margin, indent)).trimEnd()]
  })
}

const startsPart = /^\s*(--|(WITH|SELECT|INSERT|UPDATE|DELETE|UNION)\b|\w+ AS (MATERIALIZED )?\()/
