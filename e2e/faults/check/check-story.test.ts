import { expect, it } from 'vitest'
import { checkStory, type Limits } from './check-story.ts'
import { type Story, tellStory } from './story.ts'

const due = 1_000_000

// Two tasks as they should be: one delivered at once, one after a failed attempt.
function goodStory(): Story {
  return {
    accepted: [
      { id: 'a', executeAt: due },
      { id: 'b', executeAt: due },
    ],
    cancelled: [],
    tasks: [
      { id: 'a', state: 'success', attempts: 1, maxRetries: 2, executeAt: due, dueAt: due },
      { id: 'b', state: 'success', attempts: 2, maxRetries: 2, executeAt: due, dueAt: due + 1_000 },
    ],
    hits: [
      { taskId: 'a', runId: 'a1', attempt: 1, at: due + 10, answered: 200 },
      { taskId: 'b', runId: 'b1', attempt: 1, at: due + 10, answered: 500 },
      { taskId: 'b', runId: 'b2', attempt: 2, at: due + 1_010, answered: 200 },
    ],
    runs: [
      { ...ran('a1', 'a', 1, due), status: 'success', responseStatus: 200 },
      { ...ran('b1', 'b', 1, due), responseStatus: 500, errorCode: 'http_status' },
      { ...ran('b2', 'b', 2, due + 1_000), status: 'success', responseStatus: 200 },
    ],
    moves: [
      ...moves('a', [null, 'pending', 'processing', 'success']),
      ...moves('b', [null, 'pending', 'processing', 'retrying', 'processing', 'success']),
    ],
    now: due + 500_000,
  }
}

function ran(id: string, taskId: string, attempt: number, startedAt: number) {
  const none = { status: 'failed', responseStatus: null as number | null, errorCode: null as string | null }
  return { id, taskId, attempt, scheduledAt: startedAt, startedAt, finishedAt: startedAt + 20, ...none }
}

function moves(taskId: string, states: Array<string | null>) {
  return states.slice(1).map((to, i) => ({ taskId, from: states[i] ?? null, to: to ?? '', attempts: 0, at: due + i }))
}

// Doctors the good story and tells what the checker finds in it, as `I1 a`.
function findings(doctor: (story: Story) => void, limits?: Limits): string[] {
  const story = goodStory()
  doctor(story)
  return checkStory(story, limits).violations.map(({ invariant, taskId }) => `${invariant} ${taskId}`)
}

const task = (story: Story, id: string) => story.tasks.find(candidate => candidate.id === id)!

it('finds nothing where nothing is wrong', () => {
  expect(checkStory(goodStory())).toEqual({ violations: [], tasks: 2, hits: 3, repeats: 0, latenessMs: 10 })
})

it('finds an accepted task that is not stored, or stored for another time', () => {
  expect(findings(story => story.accepted.push({ id: 'c', executeAt: due }))).toEqual(['I1 c'])
  expect(findings(story => (story.accepted[0]!.executeAt += 1))).toEqual(['I1 a'])
})

it('finds a task that is long due and not done, whether or not its 201 arrived', () => {
  const forget = (story: Story) => {
    story.tasks.push({ id: 'c', state: 'pending', attempts: 0, maxRetries: 2, executeAt: due, dueAt: due })
    story.moves.push(...moves('c', [null, 'pending']))
  }
  expect(findings(forget)).toEqual(['I2 c'])
})

it('lets a task wait whose time has not come', () => {
  const wait = (story: Story) => {
    story.tasks.push({ ...task(story, 'a'), id: 'c', state: 'pending', attempts: 0, dueAt: story.now + 1 })
    story.moves.push(...moves('c', [null, 'pending']))
  }
  expect(findings(wait)).toEqual([])
})

it('finds an attempt that nobody ends', () => {
  const hang = (story: Story) => {
    task(story, 'a').state = 'processing'
    task(story, 'a').dueAt = story.now
    story.moves.splice(2, 1)
    story.runs.shift()
  }
  expect(findings(hang)).toEqual(['I2 a', 'I4 a'])
})

it('finds a success that the target has not confirmed', () => {
  expect(findings(story => story.hits.shift())).toEqual(['I3 a'])
  expect(findings(story => (story.hits[0]!.answered = null))).toEqual(['I3 a'])
})

it('finds a call without its run, before its start, as another attempt, or with another answer', () => {
  expect(findings(story => (story.hits[1]!.runId = 'other'))).toEqual(['I4 b'])
  expect(findings(story => (story.runs[1]!.startedAt = due + 16))).toEqual(['I4 b'])
  expect(findings(story => (story.runs[1]!.startedAt = due + 14))).toEqual([])
  expect(findings(story => (story.hits[1]!.attempt = 3))).toEqual(['I4 b'])
  expect(findings(story => (story.runs[1]!.responseStatus = 503))).toEqual(['I4 b'])
  expect(findings(story => story.hits.push({ ...story.hits[0]!, taskId: 'stranger' }))).toEqual(['I4 stranger'])
})

it('finds an attempt that was sent twice', () => {
  expect(findings(story => story.hits.push({ ...story.hits[1]!, at: due + 30 }))).toEqual(['I5 b'])
})

it('finds repeated sends beyond what the fault may cost, for a task and in all', () => {
  const lose = (story: Story) => Object.assign(story.runs[1]!, { responseStatus: null, errorCode: 'worker_lost' })
  expect(findings(lose)).toEqual(['I5 b'])
  expect(findings(lose, { repeatsPerTask: 1 })).toEqual([])
  expect(findings(lose, { repeatsPerTask: 1, repeats: 0 })).toEqual(['I5 null'])
})

it('does not count a lost attempt that never reached the target as repeated', () => {
  const loseUnsent = (story: Story) => {
    Object.assign(story.runs[1]!, { responseStatus: null, errorCode: 'worker_lost' })
    story.hits.splice(1, 1)
  }
  expect(findings(loseUnsent)).toEqual([])
})

it('finds a call before its time, and tolerates 5 ms', () => {
  expect(findings(story => Object.assign(story.hits[0]!, { at: due - 4 }))).toEqual([])
  const early = (story: Story) => {
    story.hits[0]!.at = due - 6
    story.runs[0]!.startedAt = due - 10
  }
  expect(findings(early)).toEqual(['I6 a'])
  expect(findings(story => (story.runs[2]!.scheduledAt += 16))).toEqual(['I6 b'])
})

it('finds a cancelled task that was called, and one that is not cancelled', () => {
  expect(findings(story => story.cancelled.push('a'))).toEqual(['I7 a', 'I7 a'])
  const cancel = (story: Story) => {
    story.cancelled.push('a')
    Object.assign(task(story, 'a'), { state: 'cancelled', attempts: 0 })
    story.moves.splice(0, 3, ...moves('a', [null, 'pending', 'cancelled']))
    story.hits.shift()
    story.runs.shift()
  }
  expect(findings(cancel)).toEqual([])
})

it('finds a move along no arrow, out of a final state, and one that nobody has seen', () => {
  expect(findings(story => story.moves.splice(1, 1))).toEqual(['I8 a'])
  expect(findings(story => (story.moves[1]!.to = 'retrying'))).toEqual(['I8 a', 'I8 a'])
  const revive = (story: Story) => {
    story.moves.push(...moves('a', ['success', 'processing', 'success']))
  }
  expect(findings(revive)).toEqual(['I8 a'])
  expect(findings(story => (task(story, 'a').state = 'dead'))).toEqual(['I9 a', 'I8 a', 'I8 a'])
})

it('finds a success that was followed by another attempt', () => {
  expect(findings(story => Object.assign(story.runs[1]!, { status: 'success' }))).toEqual(['I8 b'])
})

it('finds gaps among the attempts, too many of them, and a death before its time', () => {
  expect(findings(story => (story.runs[2]!.attempt = 3))).toEqual(['I4 b', 'I9 b'])
  expect(findings(story => (task(story, 'b').maxRetries = 0))).toEqual(['I9 b'])
  const giveUp = (story: Story) => {
    task(story, 'b').state = 'dead'
    story.moves.at(-1)!.to = 'dead'
    Object.assign(story.runs[2]!, { status: 'failed', errorCode: 'timeout', responseStatus: null })
  }
  expect(findings(giveUp)).toEqual(['I9 b'])
})

it('finds a first call that is later than the row allows', () => {
  expect(findings(() => {}, { latenessMs: 9 })).toEqual(['lateness a', 'lateness b'])
  expect(findings(() => {}, { latenessMs: 10 })).toEqual([])
})

it('tells the whole story of a task', () => {
  expect(tellStory(goodStory(), 'b').split('\n')).toHaveLength(13)
  expect(tellStory(goodStory(), 'b')).toContain('target called: attempt 2, run b2, answered 200')
})
