import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repositoryRoot } from '../../repository-root.ts'
import type { TortureArguments } from '../arguments.ts'
import type { Template } from '../fixture/template.ts'
import { planTorture, type TorturePlan } from './plan.ts'
import { describeReport } from './report.ts'
import { runTorture } from './run-torture.ts'
import { shrink } from './shrink.ts'

const folder = join(repositoryRoot(), 'e2e/dist/torture')

/** Runs the plan of a seed or of a file, writes its report, and shrinks it if it fails. Returns the exit code. */
export async function torture(
  template: Template,
  seed: number,
  { minutes, planFile, reportFile, shrinkTries }: TortureArguments,
): Promise<0 | 1> {
  const plan = planFile === null ? planTorture(seed, minutes) : readPlan(planFile)
  const command = `npm run torture -- ${planFile === null ? `--seed ${seed} --minutes ${minutes}` : `--plan ${planFile}`}`
  const run = async (some: TorturePlan) => {
    const beganAt = Date.now()
    console.log(`seed ${some.seed}: ${some.load.length} operations, ${some.faults.length} faults`)
    const result = await runTorture(template, some, line => console.log(`${seconds(Date.now() - beganAt)}  ${line}`))
    const { verdict, complaints, notes, struck } = result
    console.log(`${complaints.length === 0 ? 'passed' : 'FAILED'}  ${some.seed}: ${struck.length} faults,`)
    console.log(`     ${verdict.tasks} tasks, ${verdict.hits} hits, ${verdict.repeats} repeated`)
    for (const note of notes) console.log(`     ${note}`)
    for (const complaint of complaints) console.log(`     ! ${complaint}`)
    return { ...result, beganAt: new Date(beganAt) }
  }

  console.log(`Repeat it: ${command}`)
  const result = await run(plan)
  const report = reportFile ?? join(folder, `seed-${plan.seed}.html`)
  mkdirSync(dirname(report), { recursive: true })
  writeFileSync(report, describeReport({ ...result, command, version: versionOfBelfry() }))
  console.log(`The report: ${report}`)
  if (result.complaints.length === 0) return 0
  if (shrinkTries > 0) {
    const fails = (some: TorturePlan) =>
      run(some).then(
        ({ complaints }) => complaints.length > 0,
        () => true, // it hangs, or cannot be judged
      )
    const smallest = await shrink(result.plan, fails, shrinkTries)
    const file = join(folder, `seed-${plan.seed}.json`)
    writeFileSync(file, JSON.stringify(smallest, null, 1))
    console.log(`The smallest plan that fails: npm run torture -- --plan ${file}`)
  }
  return 1
}

function readPlan(file: string): TorturePlan {
  return JSON.parse(readFileSync(file, 'utf8')) as TorturePlan
}

function seconds(ms: number): string {
  return `${String(Math.round(ms / 1_000)).padStart(4)} s`
}

function versionOfBelfry(): string {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot(), 'package.json'), 'utf8')) as { version: string }
  try {
    const git = ['rev-parse', '--short=10', 'HEAD']
    return `${version} (${execFileSync('git', git, { cwd: repositoryRoot(), encoding: 'utf8' }).trim()})`
  } catch {
    return version // not a checkout
  }
}
