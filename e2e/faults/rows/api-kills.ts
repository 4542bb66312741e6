import type { RunningService } from '../../processes.ts'
import type { TaskSpec } from '../fixture/api-operations.ts'
import { demandKilled, demandTasks } from '../fixture/demands.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import type { Row } from '../row.ts'

/** An API process dies in the middle of a POST. */
export const apiKills: Row[] = [
  {
    id: 'F01',
    fault: 'kill -9 API',
    moment: 'A1',
    expected: 'the connection breaks; no task; the repeated call makes one',
    async run(fixture) {
      await killDuringCreate(fixture, 'api.before_insert=kill')
      await demandTasks(fixture, 0) // the API died before the insert
      await repeatCreate(fixture)
      return { latenessMs: 2_000 }
    },
  },
  {
    id: 'F02',
    fault: 'kill -9 API',
    moment: 'A2',
    expected: 'the connection breaks; committed or not, nothing half; the repeated call makes a task',
    async run(fixture) {
      await killDuringCreate(fixture, 'api.in_insert=kill')
      const [stored] = await fixture.sql<{ whole: number; half: number }>(
        `SELECT count(*) FILTER (WHERE t.id IS NOT NULL AND r.task_id IS NOT NULL)::int AS whole,
                count(*) FILTER (WHERE t.id IS NULL OR r.task_id IS NULL)::int AS half
         FROM tasks t FULL JOIN task_requests r ON r.task_id = t.id`,
      )
      fixture.demand(stored?.half === 0, `${stored?.half} tasks were stored by half.`)
      fixture.notes.push(stored?.whole === 1 ? 'the insert was committed' : 'the insert was rolled back')
      await repeatCreate(fixture)
      return { latenessMs: 60_000 }
    },
  },
  ...[
    [
      'F03',
      'A3',
      'after_commit',
      'the task exists without a job and is delivered within 60 s of its time, once',
    ] as const,
    ['F04', 'A4', 'after_enqueue', 'the task exists and is delivered once'] as const,
  ].map(
    ([id, moment, failpoint, expected]): Row => ({
      id,
      fault: 'kill -9 API',
      moment,
      expected,
      async run(fixture) {
        await killDuringCreate(fixture, `api.${failpoint}=kill`)
        await fixture.target.reached('/one', 1, 70_000)
        return { latenessMs: 60_000 }
      },
    }),
  ),
  {
    id: 'F79',
    fault: 'kill -9 API',
    moment: 'A3',
    expected: 'with an Idempotency-Key: the repeated call gets the answer that the first one did not live to give',
    async run(fixture) {
      const doomed = await startDoomedApi(fixture, 'api.after_commit=kill')
      // Not before the processes have started, which takes many seconds on a slow machine.
      const spec = { path: '/one', executeAt: Date.now() + 15_000, key: 'one' }
      await demandDeath(fixture, doomed, spec)
      const [stored] = await fixture.sql<{ id: string }>('SELECT id FROM tasks')
      await fixture.start('api')
      const answers = [await fixture.create(spec), await fixture.create(spec)]
      for (const { status, id } of answers) {
        fixture.demand(status === 201, `The repeated call was answered with ${status}.`)
        fixture.demand(id !== null && uuidOf(id) === stored?.id, `It was answered with ${id}, another task.`)
      }
      await demandTasks(fixture, 1)
      return { latenessMs: 60_000 }
    },
  },
]

async function killDuringCreate(fixture: Fixture, failpoints: string): Promise<void> {
  const doomed = await startDoomedApi(fixture, failpoints)
  await demandDeath(fixture, doomed, { path: '/one', inMs: 3_000 })
}

// Signs up with another API: the failpoint must not be reached before the task is created.
async function startDoomedApi(fixture: Fixture, failpoints: string): Promise<RunningService> {
  const api = await fixture.start('api')
  await fixture.signUp()
  await api.stop('SIGKILL')
  const doomed = await fixture.start('api', { failpoints })
  await Promise.all([fixture.start('scheduler'), fixture.start('dispatcher')])
  return doomed
}

async function demandDeath(fixture: Fixture, doomed: RunningService, spec: TaskSpec): Promise<void> {
  const answer = await fixture.create(spec)
  fixture.demand(answer.status === 'broken', `The dying API answered ${answer.status}.`)
  await demandKilled(fixture, doomed)
}

async function repeatCreate(fixture: Fixture): Promise<void> {
  await fixture.start('api')
  const answer = await fixture.create({ path: '/one', inMs: 1_500 })
  fixture.demand(answer.status === 201, `The repeated call was answered with ${answer.status}.`)
}
