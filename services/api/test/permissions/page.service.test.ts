import { expect, it } from 'vitest'
import { permissionsPage } from './page.ts'

it('docs/permissions.md matches the table of rights and the routes', async () => {
  await expect(permissionsPage()).toMatchFileSnapshot('../../../../docs/permissions.md')
})
