import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repositoryRoot } from '../../../repository-root.ts'
import { planTorture } from '../plan.ts'
import { defects } from './defects.ts'
import { describePatch, patches } from './planted-tree.ts'

const files = readdirSync(patches).filter(file => file.endsWith('.patch'))

it('has the patch of each defect', () => {
  expect(files).toEqual(defects.map(({ id }) => `${id}.patch`).toSorted())
})

// When this fails, plant the defect in the code as it is now: the patch must stay the same defect.
it.each(files)('%s applies, and says what it breaks', file => {
  execFileSync('git', ['apply', '--check', join(patches, file)], { cwd: repositoryRoot(), stdio: 'pipe' })
  expect(describePatch(file)).toMatch(/^[A-Z].{30,160}\.$/)
})

it.each(defects.filter(({ torture }) => torture))('a seed below 200 has what $id needs', ({ torture }) => {
  const { minutes = 1, fits = () => true, ...focus } = torture ?? {}
  expect(Array.from({ length: 200 }, (_, i) => planTorture(i + 1, minutes, focus)).some(fits)).toBe(true)
})
