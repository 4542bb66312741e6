import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Each takes half a minute or more, most of it in real-time waits.
const longFiles = ['e2e/faults/faults.e2e.test.ts']
const lanes = ['long', 'e2e', 'service', 'sql', 'unit', 'timing']

/**
 * Runs the files above first, then lane by lane, because a worker keeps its modules and servers for files of one lane. Within
 * a lane Vitest sorts by recorded duration, or by size in a fresh checkout. `--sequence.shuffle` shuffles it by its seed.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const pathOf = ({ moduleId, project }: TestSpecification) => relative(project.config.root, moduleId)
    const { shuffle, seed } = this.ctx.config.sequence
    // Vitest has a sequencer for this, and does not use it beside one of the project.
    const keyOf = (file: TestSpecification) =>
      createHash('sha1')
        .update(`${seed} ${pathOf(file)}`)
        .digest('hex')
    const sorted = shuffle ? sortBy(files, keyOf) : await super.sort(files)
    return sortBy(sorted, file =>
      !shuffle && longFiles.includes(pathOf(file)) ? -1 : lanes.indexOf(file.project.name),
    )
  }
}

function sortBy<T, Key extends string | number>(list: readonly T[], keyOf: (item: T) => Key): T[] {
  const keyed = list.map(item => ({ item, key: keyOf(item) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ item }) => item)
}
