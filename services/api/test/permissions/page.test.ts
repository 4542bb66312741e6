import { expect, it } from 'vitest'
import { permissionsPage } from './page.ts'

it('docs/permissions.md is what the table of rights and the router say', async () => {
  await expect(permissionsPage()).toMatchFileSnapshot('../../../../docs/permissions.md')
})
