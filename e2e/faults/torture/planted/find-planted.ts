import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../repository-root.ts'
import { planTorture, type TorturePlan } from '../plan.ts'
import { type Defect, defects, type ModelRun } from './defects.ts'
import { copyTree, describePatch, type PlantedTree } from './planted-tree.ts'

/** Who found a defect; null: it was not found. */
type Finding = { by: 'model' | 'torture'; seed: number | null; text: string }

// A run depends on timing, so a defect that one seed misses may be found by the next.
const triesOfSeeds = 3
// What the runs of the torture say.
const outputs = join(repositoryRoot(), 'e2e/dist/planted')

/**
 * Plants defects in a copy of the repository, one after another, and looks for each with the searches of the model and then with
 * torture. Prints a table of what was found by what.
 * @param options.isHealthy - Runs all of this without a defect, to see that nothing is found then.
 * @returns The exit code.
 */
export async function findPlanted(options: { ids: readonly string[]; isHealthy: boolean }): Promise<0 | 1> {
  const { ids, isHealthy } = options
  const chosen = ids.length === 0 ? defects : ids.flatMap(id => defects.filter(defect => defect.id === id))
  const tree = copyTree()
  const rows: string[] = []
  let found = 0
  try {
    for (const defect of chosen) {
      const beganAt = performance.now()
      const takeOut = isHealthy ? () => {} : tree.plant(defect.id)
      const finding = await find(tree, defect, isHealthy ? 1 : triesOfSeeds)
      takeOut()
      if (finding) found++
      rows.push(describeRow(defect, finding, Math.round((performance.now() - beganAt) / 1_000)))
      console.log(rows.at(-1))
    }
  } finally {
    tree.remove()
  }
  console.log(
    ['', '| Defect | What it breaks | Found by | Seed | Seconds |', '| --- | --- | --- | --- | --- |', ...rows].join(
      '\n',
    ),
  )
  console.log(`${found} of ${chosen.length} found`)
  return found === (isHealthy ? 0 : chosen.length) ? 0 : 1
}

async function find(tree: PlantedTree, { id, model = [], torture }: Defect, tries: number): Promise<Finding | null> {
  for (const part of model) {
    const text = await askModel(tree, part)
    if (text !== null) return { by: 'model', seed: null, text }
  }
  if (!torture) return null
  await run(tree, ['scripts/bundle-faults.mjs'])
  for (const plan of fittingPlans(torture, tries)) {
    const text = await askTorture(tree, id, plan, torture.complaint)
    if (text !== null) return { by: 'torture', seed: plan.seed, text }
  }
  return null
}

function fittingPlans(
  { minutes, fits = () => true, complaint: _, ...focus }: NonNullable<Defect['torture']>,
  count: number,
): TorturePlan[] {
  const plans: TorturePlan[] = []
  for (let seed = 1; plans.length < count; seed++) {
    const plan = planTorture(seed, minutes, focus)
    if (fits(plan)) plans.push(plan)
  }
  return plans
}

/** Returns the first comparison of PostgreSQL with the model that fails, or the first search; null when none does. */
async function askModel(tree: PlantedTree, [file, title]: ModelRun): Promise<string | null> {
  const results = join(tree.folder, 'e2e/dist/model.json')
  rmSync(results, { force: true })
  const lane = file.endsWith('.sql.test.ts') ? 'sql' : 'long'
  const { code, output } = await run(tree, [
    ...['node_modules/vitest/vitest.mjs', 'run', '--project', lane, `prisma/test/model/${file}`, '--bail', '1'],
    ...['--reporter', 'json', '--outputFile', results, '-t', title],
  ])
  if (code === 0) return null
  if (!existsSync(results)) throw new Error(`The model could not run.\n${output}`)
  const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as TestResults
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed')
  if (failed === undefined) throw new Error(`No test of the model has failed.\n${output}`)
  return failed.fullName
}

type TestResults = { testResults: Array<{ assertionResults: Array<{ status: string; fullName: string }> }> }

/** Returns the complaint of a run that names the defect; null when there is none. */
async function askTorture(tree: PlantedTree, id: string, plan: TorturePlan, complaint: RegExp): Promise<string | null> {
  const file = join(tree.folder, 'e2e/dist/plan.json')
  writeFileSync(file, JSON.stringify(plan))
  const { code, output } = await run(tree, ['e2e/dist/faults.mjs', '--torture', '--plan', file])
  mkdirSync(outputs, { recursive: true })
  writeFileSync(join(outputs, `${id}-${plan.seed}.log`), output)
  if (code === 0) return null
  const complaints = [...output.matchAll(/^ {5}! (.*)$/gm)].map(([, text = '']) => text)
  if (complaints.length === 0) throw new Error(`The torture could not run.\n${output}`)
  return complaints.find(text => complaint.test(text)) ?? null
}

async function run({ folder }: PlantedTree, args: readonly string[]): Promise<{ code: number; output: string }> {
  mkdirSync(join(folder, 'e2e/dist'), { recursive: true })
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => (output += data))
  const [code] = await once(child, 'close')
  return { code, output }
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

function describeRow({ id }: Defect, finding: Finding | null, seconds: number): string {
  const breaks = describePatch(`${id}.patch`)
  const by = finding === null ? 'not found' : `${finding.by}: ${finding.text.replaceAll(uuid, 'a task')}`
  return `| ${id} | ${breaks} | ${by} | ${finding?.seed ?? ''} | ${seconds} |`
}
