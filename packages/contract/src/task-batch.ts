import { z } from 'zod'
import { problem } from './problem.ts'
import { task } from './task.ts'
import { exampleTime } from './text-rules.ts'

const mostTasks = 1_000

const exampleRow = {
  name: 'Trial reminder',
  url: 'https://example.com/hooks/reminder',
  method: 'POST',
  execute_at: exampleTime(3_600_000),
}

const wrongCount = `tasks must have 1 to ${mostTasks} elements.`

/** The body that creates many tasks. Each element is read by itself, so that a bad one fails alone. */
export const createTasksBody = z.strictObject({
  tasks: z
    .array(z.unknown())
    .min(1, wrongCount)
    .max(mostTasks, wrongCount)
    .meta({ description: 'Each like the body that creates one task.', examples: [[exampleRow]] }),
})

export type CreateTasksBody = z.infer<typeof createTasksBody>

const { code, title, status, detail, errors } = problem.shape

/** Why one row of a batch was refused: what it would have been told alone. */
const rowError = z.object({ code, title, status, detail, errors }).meta({ id: 'RowError' })

/** What became of one row of a batch. */
export const batchRow = z.union([z.object({ index: z.int(), task }), z.object({ index: z.int(), error: rowError })])

export type BatchRow = z.infer<typeof batchRow>

/** What became of a batch, row by row, in the order of the body. */
export const batchAnswer = z.object({ data: z.array(batchRow) }).meta({ id: 'TaskBatch' })
