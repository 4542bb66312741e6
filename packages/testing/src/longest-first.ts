import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Each takes a minute or more, most of it waiting for real time to pass.
const longest = [
  'e2e/faults/faults.test.ts',
  'prisma/test/model/model.test.ts',
  'e2e/docs/blocks.test.ts',
  'e2e/upgrade/rolling-upgrade.test.ts',
  'e2e/client/package.test.ts',
  'e2e/scaling/two-of-each.test.ts',
  'e2e/circuit-breaker.test.ts',
]

/**
 * Runs the files first that take longest: those above, the other end-to-end tests, and then the rest. Vitest only knows the
 * durations of an earlier run, which a fresh checkout does not have. It would go by the sizes of the files instead, and one
 * that is short and waits for minutes would run alone at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const path = relative(project.config.root, moduleId)
      const place = longest.indexOf(path)
      if (place !== -1) return place
      return path.startsWith('e2e/') ? longest.length : longest.length + 1
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
