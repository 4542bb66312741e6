import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '../wait-for.ts'
import { type Bench, openBench } from './bench/bench.ts'
import type { Template } from './bench/template.ts'
import { checkStory, type Verdict } from './check/check-story.ts'
import { readStory } from './check/read-story.ts'
import { tellStory } from './check/story.ts'
import { findPreload } from './find-preload.ts'
import type { Allowance, Row, RowResult } from './row.ts'

const mostStories = 5

/** Runs one row on a bench of its own. Never rejects: whatever goes wrong is a complaint. */
export async function runRow(
  row: Row,
  template: Template,
  options: { seed: number; logs: string },
): Promise<RowResult> {
  const began = performance.now()
  const result = (status: RowResult['status'], more: Partial<RowResult>): RowResult => ({
    ...{ row, status, tasks: 0, hits: 0, repeats: 0, latenessMs: 0, notes: [], complaints: [] },
    ...more,
    durationMs: Math.round(performance.now() - began),
  })
  if (row.needs && !findPreload(row.needs)) return result('not run', { notes: [`needs ${row.needs}`] })
  let bench: Bench | undefined
  try {
    bench = await openBench(template, { persistRedis: row.persistRedis ?? false })
    const allowance = await row.run(bench, options.seed)
    const { verdict, complaints } = await judge(bench, allowance)
    if (complaints.length > 0) await keepLogs(bench, row.id, options.logs, complaints)
    return result(complaints.length > 0 ? 'FAILED' : 'passed', { ...verdict, notes: bench.notes, complaints })
  } catch (error) {
    const complaint = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const complaints = [...(bench?.faults ?? []), complaint]
    if (bench) await keepLogs(bench, row.id, options.logs, complaints)
    return result('FAILED', { complaints })
  } finally {
    await bench?.close()
  }
}

/** Waits until all has come to rest and checks everything that was seen. */
export async function judge(bench: Bench, allowance: Allowance): Promise<{ verdict: Verdict; complaints: string[] }> {
  const complaints: string[] = []
  await comeToRest(bench, allowance.restMs ?? 60_000).catch(error => complaints.push(`I2: ${error.message}`))
  const story = await readStory(bench)
  const verdict = checkStory(story, allowance)
  for (const { invariant, taskId, text } of verdict.violations.slice(0, mostStories)) {
    complaints.push(`${invariant}: ${taskId ?? 'in all,'} ${text}${taskId ? `\n${tellStory(story, taskId)}` : ''}`)
  }
  const untold = verdict.violations.length - mostStories
  if (untold > 0) complaints.push(`and ${untold} more violations`)
  return { verdict, complaints: [...bench.faults, ...complaints] }
}

// At rest: nothing is under way or due soon, and the target has not been called for a second.
async function comeToRest(bench: Bench, withinMs: number): Promise<void> {
  const text = `SELECT state, count(*)::int AS n FROM tasks
    WHERE state IN ('pending', 'processing', 'retrying') AND due_at < clock_timestamp() + interval '2 minutes' GROUP BY state`
  await waitFor(
    () => bench.sql(text),
    open => open.length === 0,
    withinMs,
  )
  let count = -1
  let since = 0
  await waitFor(
    async () => {
      if (bench.target.count() !== count) since = performance.now()
      count = bench.target.count()
      return performance.now() - since
    },
    quietMs => quietMs >= 1_000,
  )
}

async function keepLogs(bench: Bench, id: string, folder: string, complaints: string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const logs = bench.services.map(({ name, pid, output }) => `--- ${name} ${pid}\n${output}`)
  await writeFile(join(folder, `${id}.log`), [...complaints, ...logs].join('\n\n'))
}
