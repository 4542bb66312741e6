import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Belfry } from '@belfry/client'
import { beforeAll, expect, it } from 'vitest'
import { clientReference } from './reference-page.ts'
import { pack, scratchProject } from './scratch-project.ts'

let page: string
beforeAll(async () => {
  const { folder } = await scratchProject(await pack('client'), null)
  const declarations = join(folder, 'node_modules/@belfry/client/dist')
  page = clientReference(module => readFileSync(join(declarations, `${module}.d.mts`), 'utf8'))
}, 120_000)

it('the client reference of the site has every method of the package', () => {
  const belfry = new Belfry({ apiKey: 'bf_test' })
  const methodsOf = (name: string, value: unknown): string[] =>
    typeof value === 'function'
      ? [name]
      : Object.entries(value as object).flatMap(([member, inner]) => methodsOf(`${name}.${member}`, inner))
  const methods = Object.entries(belfry).flatMap(([name, value]) => methodsOf(name, value))
  expect(methods.length).toBeGreaterThan(40)
  for (const name of [...methods, 'webhooks.verify', 'webhooks.sign'])
    expect(page).toMatch(new RegExp(`^- \`${name}[(<]`, 'm'))
})

it('shows each kind of a retry policy and of a condition', () => {
  for (const text of ['delaysMs: number[]', "op: 'prefix'", "op: 'gt' | 'gte' | 'lt' | 'lte'"])
    expect(page).toContain(text)
})
