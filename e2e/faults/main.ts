import { readArguments } from './arguments.ts'
import { makeTemplate } from './fixture/template.ts'
import { holds } from './once/count-effects.ts'
import { type Proof, proveOnce } from './once/prove-once.ts'
import { describeProofs } from './once/report.ts'
import { publishResults } from './publish-results.ts'
import type { RowResult } from './row.ts'
import { allRows } from './rows/all-rows.ts'
import { runRows } from './run-rows.ts'
import { findPlanted } from './torture/planted/find-planted.ts'
import { torture } from './torture/torture.ts'

const args = readArguments(process.argv.slice(2))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
if (args.planted) process.exit(await findPlanted(args.planted))
const template = await makeTemplate()
try {
  if (args.proof) process.exitCode = await prove(args.proof)
  else process.exitCode = args.torture === null ? await rows() : await torture(template, args.seed, args.torture)
} finally {
  template.remove()
}
// Everything that a row opened is closed by now; what its clients still try must not keep the process.
process.exit()

async function prove({ stores, ...sizes }: NonNullable<typeof args.proof>): Promise<number> {
  const proofs: Proof[] = []
  for (const store of stores) {
    console.log(`${store}: ${sizes.calls} calls, ${sizes.kills} kills, seed ${args.seed}`)
    proofs.push(await proveOnce(template, { ...sizes, store, seed: args.seed }, console.log))
  }
  console.log(describeProofs(proofs))
  return proofs.every(holds) ? 0 : 1
}

async function rows(): Promise<number> {
  const chosen = args.ids.length === 0 ? allRows : allRows.filter(({ id }) => args.ids.includes(id))
  const { seed, withRedis, writesDocs } = args
  console.log(`seed ${seed}, ${chosen.length} rows, ${withRedis ? 'with' : 'without'} a Redis`)
  const results = await runRows(chosen, template, { seed, withRedis }, result => {
    console.log(describeResult(result))
    if (writesDocs) publishResults([result], { withRedis })
  })
  const failed = results.filter(({ status }) => status === 'FAILED')
  const notRun = results.filter(({ status }) => status === 'not run')
  console.log(
    `${results.length - failed.length - notRun.length} passed, ${failed.length} failed, ${notRun.length} not run`,
  )
  return failed.length === 0 ? 0 : 1
}

function describeResult({ row, status, complaints, notes, ...seen }: RowResult): string {
  const counts = `${seen.tasks} tasks, ${seen.hits} hits, ${seen.repeats} repeated`
  const times = `at most ${(seen.latenessMs / 1000).toFixed(1)} s late, ${(seen.durationMs / 1000).toFixed(0)} s`
  const head = `${row.id}  ${status.padEnd(7)}  ${row.fault} (${row.moment}): ${counts}, ${times}`
  return [head, ...notes.map(note => `     ${note}`), ...complaints.map(text => `     ! ${text}`)].join('\n')
}
