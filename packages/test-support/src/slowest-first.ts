import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Each takes a minute or more, most of it in real-time waits.
const slowFiles = [
  'e2e/faults/faults.test.ts',
  'prisma/test/model/model.test.ts',
  'e2e/docs/blocks.test.ts',
  'e2e/upgrade/rolling-upgrade.test.ts',
  'e2e/client/package.test.ts',
  'e2e/scaling/two-of-each.test.ts',
]

/**
 * Runs the slowest files first: those above, then the other end-to-end tests, then the rest. Without recorded durations, as in
 * a fresh checkout, Vitest sorts by file size, and a short file that waits for minutes would run alone at the end.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const path = relative(project.config.root, moduleId)
      const place = slowFiles.indexOf(path)
      if (place !== -1) return place
      return path.startsWith('e2e/') ? slowFiles.length : slowFiles.length + 1
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
