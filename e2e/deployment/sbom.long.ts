import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
// @boundaries-ignore the script belongs to the repository, not to a package
import { makeSbom } from '../../scripts/make-sbom.mjs'
import { repositoryRoot } from '../repository-root.ts'

it('the SBOM of a release lists what the programs contain, each package once, with its license', async () => {
  const { packages, relationships, ...document } = await makeSbom('1.2.3')
  expect(document).toMatchObject({ spdxVersion: 'SPDX-2.3', dataLicense: 'CC0-1.0', SPDXID: 'SPDXRef-DOCUMENT' })
  const ids = packages.map(({ SPDXID }) => SPDXID)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.filter(id => !/^SPDXRef-[A-Za-z0-9.-]+$/.test(id))).toEqual([])
  const [describes, ...contains] = relationships
  expect([describes?.spdxElementId, describes?.relatedSpdxElement]).toEqual(['SPDXRef-DOCUMENT', ids[0]])
  expect(contains.map(({ relatedSpdxElement }) => relatedSpdxElement)).toEqual(ids.slice(1))
  const { dependencies } = JSON.parse(readFileSync(join(repositoryRoot(), 'programs/belfry/package.json'), 'utf8'))
  const names = new Set(packages.map(({ name }) => name))
  // Bundled into services, beside them, and into the dashboard, whose fonts come from packages too.
  for (const name of ['express', 'pg', 'react', '@fontsource-variable/geist', ...Object.keys(dependencies)])
    expect(names).toContain(name)
  const ofTheBuild = /^(vite|rolldown|lightningcss|esbuild|typescript|@biomejs|@types\/)/
  expect([...names].filter(name => ofTheBuild.test(name))).toEqual([])
  expect(packages.filter(({ licenseDeclared }) => licenseDeclared === 'NOASSERTION').map(({ name }) => name)).toEqual(
    [],
  )
}, 120_000)
