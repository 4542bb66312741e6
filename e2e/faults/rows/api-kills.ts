import type { Bench, TaskSpec } from '../bench/bench.ts'
import { uuidOf } from '../bench/task-uuid.ts'
import type { Row } from '../row.ts'

/** An API process that dies in the middle of a POST. */
export const apiKills: Row[] = [
  {
    id: 'F01',
    fault: 'kill -9 API',
    moment: 'A1',
    expected: 'the connection breaks; no task; the repeated call makes one',
    async run(bench) {
      await killDuringCreate(bench, 'api.before_insert=kill')
      const [stored] = await bench.sql<{ n: number }>('SELECT count(*)::int AS n FROM tasks')
      bench.demand(stored?.n === 0, `There are ${stored?.n} tasks although the API died before the insert.`)
      await repeatCreate(bench)
      return { latenessMs: 2_000 }
    },
  },
  {
    id: 'F02',
    fault: 'kill -9 API',
    moment: 'A2',
    expected: 'the connection breaks; committed or not, nothing half; the repeated call makes a task',
    async run(bench) {
      await killDuringCreate(bench, 'api.in_insert=kill')
      const [stored] = await bench.sql<{ whole: number; half: number }>(
        `SELECT count(*) FILTER (WHERE t.id IS NOT NULL AND r.task_id IS NOT NULL)::int AS whole,
                count(*) FILTER (WHERE t.id IS NULL OR r.task_id IS NULL)::int AS half
         FROM tasks t FULL JOIN task_requests r ON r.task_id = t.id`,
      )
      bench.demand(stored?.half === 0, `${stored?.half} tasks were stored by half.`)
      bench.notes.push(stored?.whole === 1 ? 'the insert was committed' : 'the insert was rolled back')
      await repeatCreate(bench)
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'F03',
    fault: 'kill -9 API',
    moment: 'A3',
    expected: 'the task exists without a job and is delivered within 60 s of its time, once',
    async run(bench) {
      await killDuringCreate(bench, 'api.after_commit=kill')
      await bench.target.reached('/one', 1, 70_000)
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'F04',
    fault: 'kill -9 API',
    moment: 'A4',
    expected: 'the task exists and is delivered once',
    async run(bench) {
      await killDuringCreate(bench, 'api.after_enqueue=kill')
      await bench.target.reached('/one', 1, 70_000)
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'F79',
    fault: 'kill -9 API',
    moment: 'A3',
    expected: 'with an Idempotency-Key: the repeated call gets the answer that the first one did not live to give',
    async run(bench) {
      const spec = { path: '/one', executeAt: Date.now() + 15_000, key: 'one' }
      await killDuringCreate(bench, 'api.after_commit=kill', spec)
      const [stored] = await bench.sql<{ id: string }>('SELECT id FROM tasks')
      await bench.start('api')
      const answers = [await bench.create(spec), await bench.create(spec)]
      for (const { status, id } of answers) {
        bench.demand(status === 201, `The repeated call was answered with ${status}.`)
        bench.demand(id !== null && uuidOf(id) === stored?.id, `It was answered with ${id}, another task.`)
      }
      const [count] = await bench.sql<{ n: number }>('SELECT count(*)::int AS n FROM tasks')
      bench.demand(count?.n === 1, `There are ${count?.n} tasks.`)
      return { latenessMs: 60_000 }
    },
  },
]

async function killDuringCreate(
  bench: Bench,
  failpoints: string,
  spec: TaskSpec = { path: '/one', inMs: 3_000 },
): Promise<void> {
  const api = await bench.start('api')
  await bench.signUp()
  await api.stop('SIGKILL')
  const doomed = await bench.start('api', { failpoints })
  await Promise.all([bench.start('scheduler'), bench.start('dispatcher')])
  const answer = await bench.create(spec)
  bench.demand(answer.status === 'broken', `The dying API answered ${answer.status}.`)
  bench.demand((await doomed.ended) === 'SIGKILL', 'The API was not killed.')
}

async function repeatCreate(bench: Bench): Promise<void> {
  await bench.start('api')
  const answer = await bench.create({ path: '/one', inMs: 1_500 })
  bench.demand(answer.status === 201, `The repeated call was answered with ${answer.status}.`)
}
