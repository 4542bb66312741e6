import { newUuid } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { settleDeadLetters } from '../src/dead-letters/settle-dead-letters.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { aTask, aWorkspace, useDatabase } from './setup.ts'

const db = useDatabase()

it.each([undefined, { perSecond: 10, from: null }])(
  'replays in the order of the originals, at the pace %j',
  async pace => {
    const workspaceId = await aWorkspace(db.pool)
    const ids = Array.from({ length: 60 }, () => newUuid())
    await insertTasks(
      db.pool,
      ids.map(id => aTask({ id, workspaceId })),
    )
    // Every other one is due a second later.
    await db.pool.query(
      `UPDATE tasks SET state = 'dead', finished_at = now(), execute_at = now() + array_position($1::uuid[], id) % 2 * interval '1 s'
     WHERE workspace_id = $2`,
      [ids, workspaceId],
    )
    await settleDeadLetters(db.pool, workspaceId, ids, 'replay', pace)
    const text = `
    SELECT o.id, row_number() OVER (ORDER BY o.execute_at, o.id) AS place FROM tasks c JOIN tasks o ON o.id = c.replay_of
    WHERE c.workspace_id = $1 ORDER BY c.execute_at, c.id`
    const { rows } = await db.pool.query<{ place: string }>(text, [workspaceId])
    expect(rows.map(({ place }) => Number(place))).toEqual(ids.map((_, i) => i + 1))
  },
)
