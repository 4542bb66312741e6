import type { Hit } from '../bench/bench-target.ts'

/** What the three sources say: the API's answers, the target's log, the database. All ids as UUIDs, all times in ms. */
export type Story = {
  /** Tasks that the API has answered 201 to. */
  accepted: Array<{ id: string; executeAt: number }>
  /** Tasks whose DELETE was answered with 2xx. */
  cancelled: string[]
  hits: Hit[]
  tasks: StoredTask[]
  runs: StoredRun[]
  /** Every move that was committed, in order. */
  moves: Move[]
  /** By the database's clock. */
  now: number
}

export type StoredTask = {
  id: string
  state: string
  attempts: number
  maxRetries: number
  executeAt: number
  dueAt: number
}

export type StoredRun = {
  id: string
  taskId: string
  attempt: number
  status: string
  /** When this attempt was due: `execute_at`, or the time of the retry. */
  scheduledAt: number
  startedAt: number
  finishedAt: number
  responseStatus: number | null
  errorCode: string | null
}

export type Move = { taskId: string; from: string | null; to: string; attempts: number; at: number }

/** The error code of a run whose dispatcher did not record it. */
export const lostCode = 'worker_lost'

/** Writes all that is known of a task, in the order of time. */
export function tellStory(story: Story, taskId: string): string {
  const lines: Array<[number, string]> = []
  for (const { id, executeAt } of story.accepted) if (id === taskId) lines.push([executeAt, 'is to be executed (201)'])
  for (const id of story.cancelled) if (id === taskId) lines.push([story.now, 'its DELETE was answered with 2xx'])
  for (const move of story.moves) {
    if (move.taskId !== taskId) continue
    lines.push([move.at, `${move.from ?? '(new)'} -> ${move.to}, attempts ${move.attempts}`])
  }
  for (const hit of story.hits) {
    if (hit.taskId !== taskId) continue
    lines.push([
      hit.at,
      `target called: attempt ${hit.attempt}, run ${hit.runId}, answered ${hit.answered ?? 'nothing'}`,
    ])
  }
  for (const run of story.runs) {
    if (run.taskId !== taskId) continue
    const outcome = run.errorCode ?? run.responseStatus
    lines.push([run.startedAt, `run ${run.id} starts: attempt ${run.attempt}`])
    lines.push([run.finishedAt, `run ${run.id} ends: ${run.status} (${outcome})`])
  }
  const told = lines
    .sort(([a], [b]) => a - b)
    .map(([at, text]) => `    ${new Date(at).toISOString().slice(11)} ${text}`)
  const task = story.tasks.find(({ id }) => id === taskId)
  const end = task ? `${task.state}, attempts ${task.attempts} of ${task.maxRetries + 1}` : 'not in the database'
  return [`  task ${taskId}: ${end}`, ...told].join('\n')
}
