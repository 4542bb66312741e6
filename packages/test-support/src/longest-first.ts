import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Each takes half a minute or more, most of it in real-time waits.
const longFiles = ['e2e/faults/faults.e2e.test.ts']
const lanes = ['long', 'e2e', 'service', 'sql', 'unit', 'timing']

/**
 * Runs the files above first, then lane by lane, because a worker keeps its modules and servers for files of one lane. Within
 * a lane Vitest sorts by recorded duration, or by size in a fresh checkout.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      const isLong = longFiles.includes(relative(project.config.root, moduleId))
      return isLong ? -1 : lanes.indexOf(project.name)
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
