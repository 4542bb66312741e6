import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withFieldTables } from './field-tables.ts'

const docs = join(import.meta.dirname, '../../../../docs')
const pages = readdirSync(docs)
  .filter(name => name.endsWith('.md'))
  .map(name => ({ name, text: readFileSync(join(docs, name), 'utf8') }))
  .filter(({ text }) => text.includes('<!-- fields:'))

it.each(pages)('docs/$name says of fields what the OpenAPI document says', async ({ name, text }) => {
  await expect(withFieldTables(text)).toMatchFileSnapshot(join(docs, name))
})

it('a table has the fields of the comment, in place of what it had', () => {
  const head = '| Field | Meaning |\n| --- | --- |\n'
  const mark = '<!-- fields: POST /scheduler/tasks url key -->\n'
  const filled = withFieldTables(`Before.\n\n${mark}${head}| \`old\` | Gone. |\n\nAfter.\n`)
  expect(filled).toMatch(
    /^Before\.\n\n<!-- .* -->\n\| Field \|.*\n\| ---.*\n\| \*\*`url`\*\* \| An absolute .*\n\| `key` .*\n\nAfter\.\n$/,
  )
  expect(withFieldTables(filled)).toBe(filled)
  expect(withFieldTables('<!-- fields: Run.timings tls_ms -->\n')).toContain(`${head}| \`tls_ms\` | The TLS handshake`)
})

it('a table of several kinds says which have a field', () => {
  const filled = withFieldTables('<!-- fields: PUT /workspaces/{ws}/connections/{connection} hosts audience -->\n')
  expect(filled).toContain('| **`hosts`** | all |')
  expect(filled).toContain('| **`audience`** | `identity_token` |')
})

it.each(['RetryRequest jitter', 'Retries', 'GET /scheduler/tasks state'])(
  'refuses fields that do not exist: %s',
  place => {
    expect(() => withFieldTables(`<!-- fields: ${place} -->\n`)).toThrow('has no field')
  },
)
