import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import { expect, it } from 'vitest'

it('the table of operations, which `npm run clients` updates, is that of the contract', async () => {
  const table = Object.entries<Operation>(operations).map(([name, { method, path }]) => [name, `${method} ${path}`])
  await expect(`${JSON.stringify(Object.fromEntries(table), null, 2)}\n`).toMatchFileSnapshot('./operations.json')
})
