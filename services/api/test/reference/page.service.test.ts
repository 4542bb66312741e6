import { describeApi } from '@belfry/contract/openapi/document'
import { version } from '@belfry/domain/version'
import { expect, it } from 'vitest'
import { examplesPage } from './examples-page.ts'
import { referencePage } from './page.ts'

it('docs/api.md matches the OpenAPI document', async () => {
  await expect(referencePage()).toMatchFileSnapshot('../../../../docs/api.md')
})

it('docs/api-examples.md matches the OpenAPI document, and has every operation', async () => {
  const page = examplesPage()
  const operations = Object.values(describeApi('', version).paths).flatMap(methods => Object.values(methods))
  expect(operations.length).toBeGreaterThan(50)
  for (const { summary } of operations) expect(page).toContain(`### ${summary}\n`)
  await expect(page).toMatchFileSnapshot('../../../../docs/api-examples.md')
})
