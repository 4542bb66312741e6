import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Benchmark } from '../benchmark.ts'
import { repositoryRoot } from '../lab/child-process.ts'
import { createTemplate } from '../lab/database.ts'
import { inFreshDatabase } from '../lab/lab.ts'
import { interleave, measured, ratioOf } from '../measure/statistics.ts'
import { totalCpuUs } from '../measure/window.ts'
import { meetsLimit } from '../report.ts'
import { promotedCalls } from './dispatch.ts'

const race = { concurrency: 200, count: 12_000 }
const limit = { atMost: 1.08 }
const baseFolder = join(repositoryRoot, 'node_modules/.cache/bench-base')
const baseTemplate = 'bench_base'

/**
 * Measures what a dispatch costs in this checkout and in the commit where it left a branch. Rates depend on everything that the
 * machine does; CPU does not.
 */
export const gate: Benchmark = {
  name: 'gate',
  title: 'CPU of a dispatch in this checkout against the merge base',
  isGate: true,
  async run(lab, { rounds, base }) {
    const commit = git('merge-base', 'HEAD', base)
    const script = join(repositoryRoot, 'scripts/bundle-release.mjs')
    execFileSync(process.execPath, [script, commit, baseFolder], { cwd: repositoryRoot })
    await createTemplate(lab.postgres, baseTemplate, baseFolder)
    const sides = {
      base: inFreshDatabase(lab, database => promotedCalls(lab, database, race, baseFolder), baseTemplate),
      head: inFreshDatabase(lab, database => promotedCalls(lab, database, race)),
    }
    const [baseUs, headUs]: [number[], number[]] = [[], []]
    const measure = async () => {
      const { base, head } = await interleave(sides, rounds)
      baseUs.push(...base.map(totalCpuUs))
      headUs.push(...head.map(totalCpuUs))
      return ratioOf(headUs, baseUs)
    }
    const first = await measure()
    // A neighbour of the machine can cost one side more, so a first result beyond the limit is checked by as many rounds again.
    const ratio = meetsLimit({ value: first.value, limit }) ? first : await measure()
    const unit = 'us'
    return {
      rounds: { baseUs, headUs },
      notes: [`The merge base with ${base} is ${git('log', '-1', '--format=%h (%s)', commit)}.`],
      figures: [
        { key: 'gate_base_cpu_us', title: 'CPU of a dispatch, merge base', unit, ...measured(baseUs) },
        { key: 'gate_head_cpu_us', title: 'the same, this checkout', unit, ...measured(headUs) },
        {
          key: 'gate_dispatch_cpu',
          title: 'this checkout / merge base, both sides of a round',
          ...ratio,
          limit,
        },
      ],
    }
  },
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8' }).trim()
}
