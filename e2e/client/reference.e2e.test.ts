import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Belfry } from '@belfry/client'
import { beforeAll, expect, it } from 'vitest'
import { clientReference } from './reference-page.ts'
import { pack, scratchProject } from './scratch-project.ts'

let page: string
beforeAll(async () => {
  const { folder } = await scratchProject(await pack('client'), null)
  page = await clientReference(file => readFile(join(folder, 'node_modules/@belfry/client/dist', file), 'utf8'))
}, 120_000)

it('docs/client-reference.md matches the declarations of the package', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/client-reference.md')
})

it('docs/client-reference.md has every method', () => {
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
