import { expect, it } from 'vitest'
import { referencePage } from './page.ts'

it('docs/api.md is what the OpenAPI document says', async () => {
  await expect(referencePage()).toMatchFileSnapshot('../../../../docs/api.md')
})
