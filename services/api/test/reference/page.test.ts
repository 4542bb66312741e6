import { expect, it } from 'vitest'
import { referencePage } from './page.ts'

it('docs/api.md matches the OpenAPI document', async () => {
  await expect(referencePage()).toMatchFileSnapshot('../../../../docs/api.md')
})
