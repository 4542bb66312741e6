import { lostCode } from '../check/history.ts'
import { kindOf } from './plan-load.ts'
import { page } from './report-page.ts'
import { drawTimeline } from './report-timeline.ts'
import { describeFault, type TortureResult } from './run-torture.ts'
import type { Struck } from './strike.ts'

export type Reported = TortureResult & { beganAt: Date; command: string; version: string }

const promises: Array<[string, string]> = [
  ['Accepted means stored', 'A task that was answered with 201 is in the database, with its time.'],
  ['At least once', 'Every task that no user ended is called, retried by its policy, and ends. Nothing is left over.'],
  ['Never early', 'No call comes before its time, or after its deadline.'],
  ['Once per attempt', 'No attempt is sent twice. A call is repeated only when a fault cost its outcome.'],
  ['An answer holds', 'What was cancelled, stopped or changed is never called as before.'],
  ['Limits hold', 'A queue keeps its concurrency, its rate and its order; an organization keeps its quota.'],
  ['Cron jobs miss nothing', 'Every occurrence is one task, and none starts after a pause or a deletion.'],
  ['Callbacks report', 'Each outcome has exactly one callback of each kind.'],
]

/** Returns one HTML page about a run, for readers who do not know Belfry. */
export function describeReport(result: Reported): string {
  const { plan, verdict, complaints, struck, beganAt, command, version } = result
  const passed = complaints.length === 0
  const lateness = latenessBySituation(result)
  const kinds = countBy(plan.load, operation =>
    operation.does === 'create' ? `create: ${kindOf(operation.task.path)}` : operation.does,
  )
  return page({
    title: `Torture run of Belfry, seed ${plan.seed}`,
    verdict: passed ? 'Every promise held' : `${complaints.length} complaints`,
    passed,
    summary: `${plan.minutes === 1 ? '1 minute' : `${plan.minutes} minutes`}, ${plan.load.length} API calls of every feature, ${struck.length} faults, ${verdict.hits} calls of the target.`,
    sections: [
      {
        heading: 'What was promised',
        html: `<p>Belfry calls a URL at a given time. A user relies on these sentences during every fault:</p>
<dl>${promises.map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`).join('')}</dl>
<p>A checker compares the answers of the API, the log of the called target, and every committed change in PostgreSQL. It shares no code with the product.</p>`,
      },
      {
        heading: 'What was done to it',
        html: `<p>An API, two schedulers and two dispatchers ran with PostgreSQL and Redis. One number, the seed, chose the calls, the faults and their moments before the run began.</p>
<div class="wide">${drawTimeline(result)}</div>
<details><summary>All ${struck.length} faults</summary>${table(
          ['At', 'Fault'],
          [...struck].sort((a, b) => a.from - b.from).map(({ fault, from }) => [seconds(from), describeFault(fault)]),
        )}</details>
<details><summary>All ${plan.load.length} API calls, by kind</summary>${table(['Kind', 'Calls'], kinds)}</details>`,
      },
      {
        heading: 'What happened',
        html: `${table(
          ['', 'Count'],
          [
            ['API calls answered', describeStatuses(result.statuses)],
            ['Tasks, with occurrences, callbacks and replays', String(verdict.tasks)],
            ['Tasks by state', describeCounts(countBy(result.history.tasks, ({ state }) => state))],
            ['Calls of the target', String(verdict.hits)],
            ['Calls repeated because a fault cost their outcome', String(verdict.repeats)],
          ],
        )}
<h3>How late the first call of a task was</h3>
${table(['While', 'Tasks', 'Half within', '99 % within', 'All within'], lateness)}
<h3>Repeats, and why they were allowed</h3>
${table(['Fault', 'Attempts in flight', 'Lost', 'Of these sent'], repeatsByCause(result))}
<p>An attempt in flight at a process that dies, or that is silent for more than twelve seconds, may have reached the target. Belfry cannot know, so it sends it again. Every other repeat would be a violation.</p>
<h3>Verdict</h3>
${passed ? '<p>No violation.</p>' : complaints.map(text => `<pre>${escapeHtml(text)}</pre>`).join('')}
${result.notes.map(note => `<p>${escapeHtml(note)}</p>`).join('')}`,
      },
      {
        heading: 'Repeat it',
        html: `<pre>${escapeHtml(command)}</pre>
<p>The seed repeats the calls, the faults and their moments. What they meet depends on timing, so numbers differ from run to run.</p>
${table(
  ['', ''],
  [
    ['Belfry', version],
    ['PostgreSQL', result.postgres],
    ['Redis', result.redis],
    ['Node.js', process.version],
    ['Date', beganAt.toISOString().slice(0, 16).replace('T', ' ')],
  ],
)}`,
      },
    ],
  })
}

/** Groups the first calls by what was wrong when they were due or while they waited: name, count, and three quantiles. */
export function latenessBySituation({ history, struck, calledAt }: Reported): string[][] {
  const tasks = new Map(history.tasks.map(task => [task.id, task]))
  const late = new Map<string, number[]>()
  const seen = new Set<string>()
  const inOrder = history.hits
    .map((hit, i) => ({ hit, calledAt: calledAt[i] ?? 0 }))
    .sort((a, b) => a.hit.at - b.hit.at)
  for (const { hit, calledAt: until } of inOrder) {
    const task = tasks.get(hit.taskId)
    if (!task || seen.has(task.id)) continue
    seen.add(task.id)
    const lateMs = Math.max(0, hit.at - task.executeAt)
    const situation = task.queueId !== null ? 'in a queue with a limit' : situationOf(struck, until - lateMs, until)
    late.set(situation, [...(late.get(situation) ?? []), lateMs])
  }
  return [...late]
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([situation, all]) => {
      const sorted = [...all].sort((a, b) => a - b)
      const quantile = (part: number) => seconds(sorted[Math.ceil(part * sorted.length) - 1] ?? 0)
      return [situation, String(all.length), quantile(0.5), quantile(0.99), quantile(1)]
    })
}

// A fault still counts this long after its end.
const aftermathMs = 15_000
const order = [
  ...['no fault', 'a clock was wrong', 'Redis lost data or was away', 'a process was dead, frozen or cut off'],
  ...['PostgreSQL was away', 'a restore held the past', 'in a queue with a limit'],
]

// The most severe fault during the wait of a task.
function situationOf(struck: readonly Struck[], from: number, until: number): string {
  const met = struck.filter(each => each.from <= until && each.until + aftermathMs >= from)
  return order[Math.max(0, ...met.map(({ fault: { does } }) => severity(does)))] ?? ''
}

function severity(does: Struck['fault']['does']): number {
  if (does === 'restore') return 5
  if (['restart PostgreSQL', 'fail over', 'fill disk'].includes(does)) return 4
  if (['kill', 'terminate', 'freeze', 'network', 'close connections'].includes(does)) return 3
  if (['flush Redis', 'kill Redis'].includes(does)) return 2
  return does === 'back up' ? 0 : 1
}

// For each cause: attempts in flight, how many of them were lost, and how many of these had been sent.
function repeatsByCause({ history }: Pick<Reported, 'history'>): string[][] {
  const lost = new Set(history.runs.flatMap(({ id, errorCode }) => (errorCode === lostCode ? [id] : [])))
  const sent = new Set(history.hits.map(({ runId }) => runId))
  const counts = new Map<string, [number, number, number]>()
  for (const { cause, runIds } of history.charges) {
    const name = cause.replace(/ \d+ /, ' ') // without its pid
    const [inFlight, before, sentBefore] = counts.get(name) ?? [0, 0, 0]
    const own = runIds.filter(id => lost.delete(id))
    counts.set(name, [
      inFlight + runIds.length,
      before + own.length,
      sentBefore + own.filter(id => sent.has(id)).length,
    ])
  }
  return [...counts].filter(([, [inFlight]]) => inFlight > 0).map(([name, all]) => [name, ...all.map(String)])
}

function countBy<T>(things: readonly T[], nameOf: (thing: T) => string): string[][] {
  const counts = new Map<string, number>()
  for (const thing of things) counts.set(nameOf(thing), (counts.get(nameOf(thing)) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([name, count]) => [name, String(count)])
}

function describeStatuses(statuses: Record<string, number>): string {
  const named = ([status, count]: [string, number]) => [
    status === 'broken' ? 'no answer, or lost by a restore' : status,
    String(count),
  ]
  return describeCounts(Object.entries(statuses).map(named))
}

function describeCounts(counts: string[][]): string {
  return counts.map(([name, count]) => `${name}: ${count}`).join(', ')
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function table(head: string[], rows: string[][]): string {
  const cells = (row: string[], tag: 'th' | 'td') => row.map(cell => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')
  return `<div class="wide"><table><thead><tr>${cells(head, 'th')}</tr></thead>
<tbody>${rows.map(row => `<tr>${cells(row, 'td')}</tr>`).join('\n')}</tbody></table></div>`
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
